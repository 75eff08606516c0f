// Runs of a collective alone: every rank gets what the definition states, and missing data are detected.
#include <thread>

#include "engine/base/host/clock.hpp"
#include "engine/execute/run/contents.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/prove/verify/verify.hpp"
#include "kernels/tensor/element.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/collective/cases.hpp"
#include "tests/engine/plan/program/one_collective.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("every collective by every algorithm over 1 to 9 ranks leaves what its definition says") {
  const std::string algorithm = GENERATE("auto", "ring", "naive", "tree", "halving-doubling");
  for (const OpKind kind : collectives)
    for (int n = 1; n <= 9; ++n)
      for (const double bytes : {1.0, 68.0, 3000.0}) {  // one element; fewer than twice the ranks; many
        const VerifyResult result = verify(one_collective(kind, n, bytes, (n - 1) / 2, algorithm), {});
        INFO(name_of(kind) << " " << algorithm << " over " << n << " ranks, " << bytes << " bytes\n"
                           << to_text(result));
        REQUIRE(result.contents);
        CHECK(result.passed);
        CHECK(result.contents->elements > 0);
      }
}

TEST_CASE("every collective is right in every precision, from the first and the last root") {
  const auto* precision = GENERATE("fp64", "fp32", "bf16", "fp16");
  const int root = GENERATE(0, 4);
  for (const OpKind kind : collectives) {
    Scenario s = one_collective(kind, 5, 700, root, "ring");
    s.plan.precision = precision;
    const VerifyResult result = verify(s, {});
    INFO(name_of(kind) << " " << precision << "\n" << to_text(result));
    CHECK(result.passed);
  }
}

TEST_CASE("a rank whose part is lost fails verify and the run") {
  for (const OpKind kind : collectives) {
    Scenario s = one_collective(kind, 4, 256, 1, "tree");
    s.fault.plant = Plant::lost_part;
    const VerifyResult result = verify(s, {});
    INFO(to_text(result));
    CHECK(result.outcome == Outcome::different);
    CHECK_FALSE(result.passed);
    CHECK(result.contents->wrong.find("by definition") != std::string::npos);
    RunSettings settings;
    settings.steps = 1;
    settings.start_ns = monotonic_ns();
    CHECK_THROWS_AS(run_loopback(compile(s), settings, {}), RunFailure);
  }
}

TEST_CASE("a single wrong element is found anywhere, and so are two exchanged elements") {
  for (const DType type : {DType::f64, DType::f32, DType::bf16, DType::f16})
    for (const OpKind kind : collectives) {
      const CollectiveTask task{kind, 4, 64, 1};
      std::vector<std::byte> memory(64 * 8);
      const View left{memory.data(), type, Shape{left_elements(task, 1)}};
      const DrawnNumbers numbers = numbers_of(task, type, 3);
      const auto right = [&](std::int64_t i) { return left_by_definition(task, 1, i, numbers); };
      for (std::int64_t i = 0; i < left.elements(); ++i) set_element(left, i, right(i));
      CAPTURE(name_of(type), name_of(kind));
      CHECK_FALSE(find_wrong(left, task, 1, 3));
      CHECK(find_wrong(left, task, 1, 4));  // compared with another step's numbers
      for (std::int64_t i = 0; i < left.elements(); ++i) {
        set_element(left, i, right(i) + 1);
        const auto wrong = find_wrong(left, task, 1, 3);
        REQUIRE(wrong);
        CHECK(wrong->at == i);
        CHECK(wrong->is == right(i) + 1);
        CHECK(wrong->should == right(i));
        set_element(left, i, right(i));
      }
      std::int64_t other = 1;
      while (right(other) == right(0)) ++other;
      set_element(left, 0, right(other));
      set_element(left, other, right(0));
      CHECK(find_wrong(left, task, 1, 3));
    }
}

TEST_CASE("a failed check reports the op, the step, the element, the rank, the value found and the value expected") {
  const CollectiveTask task{OpKind::all_gather, 4, 64, 0};
  CHECK(words_of({17, 5, 12}, task, 2, 1) ==
        "after the all_gather of step 1 element 17 on rank 2 is 5, and by definition it is 12");
  CHECK(words_of({0, std::nan(""), 12}, task, 0, 0) ==
        "after the all_gather of step 0 element 0 on rank 0 is no number, and by definition it is 12");
}
