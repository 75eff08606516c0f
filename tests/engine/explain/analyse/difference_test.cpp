#include "engine/explain/analyse/difference.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/timelines.hpp"

using namespace rankscope;

namespace {

/// Two stages, one micro-batch: rank 0 computes and sends, then rank 1 computes.
struct Pipeline {
  std::vector<RankProgram> programs{2};
  std::vector<Span> spans;
  StepAnalysis analysis;

  Pipeline(std::int64_t forward, std::int64_t message) {
    programs[1].rank = 1;
    const OpIndex f0 = add_op(programs[0], "F:c0:m0");
    add_message(programs[0], "SEND.pipeline_forward:c0:m0", 1, 8, {f0});
    const OpIndex received = add_message(programs[1], "RECV.pipeline_forward:c1:m0", 0, 8);
    add_op(programs[1], "F:c1:m0", {received});
    const std::int64_t sent = forward + message, end = sent + forward;
    spans = {span(0, "F:c0:m0", 0, forward), span(0, "SEND.pipeline_forward:c0:m0", forward, sent),
             span(1, "RECV.pipeline_forward:c1:m0", 0, sent, forward), span(1, "F:c1:m0", sent, end)};
    analysis = analyse_step(programs, RankGrid{1, 1, 2}, spans, {0, end}, 0);
  }
  ComparedStep compared() const { return {&analysis, spans}; }
};

std::vector<DifferenceRow> of_kind(const std::vector<DifferenceRow>& rows, DifferenceKind kind) {
  std::vector<DifferenceRow> result;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(result),
               [kind](const DifferenceRow& row) { return row.kind == kind; });
  return result;
}

const DifferenceRow& named(const std::vector<DifferenceRow>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  REQUIRE(found != rows.end());
  return *found;
}

}  // namespace

TEST_CASE("the classes of time differ by as much as the steps do") {
  const Pipeline a(400, 100), b(700, 300);  // steps of 900 and 1700 ns
  double sum = 0;
  for (const DifferenceRow& row : of_kind(difference_of(a.compared(), b.compared()), DifferenceKind::time))
    sum += row.seconds();
  CHECK(sum == Approx(800e-9).epsilon(1e-9));
}

TEST_CASE("a class is averaged over ranks, and the one that differs most is first") {
  const Pipeline a(400, 100), b(700, 300);
  const auto times = of_kind(difference_of(a.compared(), b.compared()), DifferenceKind::time);
  // Each rank computes for 400 of 900 ns, and for 700 of 1700 ns.
  CHECK(named(times, "compute").a.seconds == Approx(400e-9));
  CHECK(named(times, "compute").seconds() == Approx(300e-9));
  for (std::size_t i = 1; i < times.size(); ++i)
    CHECK(std::fabs(times[i - 1].seconds()) >= std::fabs(times[i].seconds()));
}

TEST_CASE("ops are listed by kind and purpose, as averages per rank and step") {
  const Pipeline a(400, 100), b(700, 300);
  const auto ops = of_kind(difference_of(a.compared(), b.compared()), DifferenceKind::op);
  // One of the two ranks sends.
  const DifferenceRow& send = named(ops, "send of pipeline_forward");
  CHECK(send.a.count == Approx(0.5));
  CHECK(send.a.seconds == Approx(50e-9));
  CHECK(send.b.seconds == Approx(150e-9));
}

TEST_CASE("a plan with more ranks has nothing to compare them with") {
  const Pipeline a(400, 100);
  Pipeline alone(400, 0);
  alone.programs.resize(1);
  alone.programs[0].ops.resize(1);
  alone.spans.resize(1);
  alone.analysis = analyse_step(alone.programs, RankGrid{1, 1, 1}, alone.spans, {0, 400}, 0);
  const auto ranks = of_kind(difference_of(a.compared(), alone.compared()), DifferenceKind::compute);
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0].seconds() == Approx(0).margin(1e-15));
  CHECK(std::isnan(ranks[1].b.seconds));
  CHECK(ranks[1].seconds() == Approx(-400e-9));
}

TEST_CASE("idle times are listed by their cause") {
  const Pipeline a(400, 100), b(700, 300);
  const auto causes = of_kind(difference_of(a.compared(), b.compared()), DifferenceKind::cause);
  REQUIRE_FALSE(causes.empty());
  double in_a = 0;
  for (const DifferenceRow& row : causes) in_a += std::isnan(row.a.seconds) ? 0 : row.a.seconds;
  CHECK(in_a == Approx(500e-9));  // each rank is idle for 500 of 900 ns
}
