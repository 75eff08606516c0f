// The definitions of the eight collectives, written out for three members.
#include "engine/plan/collective/definition.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/engine/plan/collective/cases.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

using Tensor = std::vector<double>;

// Member m contributes m·100 + 10, m·100 + 20, …: the hundreds identify the member, the tens the element.
double brought(int member, std::int64_t i) { return 100.0 * member + 10.0 * static_cast<double>(i + 1); }

std::vector<Tensor> left(const CollectiveTask& task) {
  std::vector<Tensor> all;
  for (int member = 0; member < task.n; ++member) {
    Tensor& mine = all.emplace_back();
    for (std::int64_t i = 0; i < left_elements(task, member); ++i)
      mine.push_back(left_by_definition(task, member, i, brought));
  }
  return all;
}

}  // namespace

TEST_CASE("what three members have after each collective, from root 1") {
  using All = std::vector<Tensor>;
  const auto after = [](OpKind kind) { return left({kind, 3, 3, 1}); };
  CHECK(after(OpKind::broadcast) == All{{110, 120, 130}, {110, 120, 130}, {110, 120, 130}});
  CHECK(after(OpKind::scatter) == All{{110}, {120}, {130}});
  CHECK(after(OpKind::reduce) == All{{}, {330, 360, 390}, {}});
  CHECK(after(OpKind::all_reduce) == All{{330, 360, 390}, {330, 360, 390}, {330, 360, 390}});
  CHECK(after(OpKind::gather) == All{{}, {10, 110, 210}, {}});
  CHECK(after(OpKind::all_gather) == All{{10, 110, 210}, {10, 110, 210}, {10, 110, 210}});
  CHECK(after(OpKind::reduce_scatter) == All{{330}, {360}, {390}});
  CHECK(after(OpKind::all_to_all) == All{{10, 110, 210}, {20, 120, 220}, {30, 130, 230}});
}

TEST_CASE("parts of several elements stay together") {
  CHECK(left({OpKind::all_to_all, 2, 4, 0}) == std::vector<Tensor>{{10, 20, 110, 120}, {30, 40, 130, 140}});
  CHECK(left({OpKind::gather, 2, 4, 0}) == std::vector<Tensor>{{10, 20, 110, 120}, {}});
  CHECK(left({OpKind::reduce_scatter, 2, 4, 0}) == std::vector<Tensor>{{120, 140}, {160, 180}});
}

TEST_CASE("the input size of each member") {
  for (const OpKind kind : collectives) {
    const CollectiveTask task{kind, 4, 8, 2};
    CAPTURE(name_of(kind));
    std::vector<std::int64_t> brought_by;
    for (int member = 0; member < 4; ++member) brought_by.push_back(brought_elements(task, member));
    const bool by_root = kind == OpKind::broadcast || kind == OpKind::scatter;
    const bool parts = kind == OpKind::gather || kind == OpKind::all_gather;
    CHECK(brought_by == (by_root ? std::vector<std::int64_t>{0, 0, 8, 0}
                         : parts ? std::vector<std::int64_t>(4, 2)
                                 : std::vector<std::int64_t>(4, 8)));
    CHECK(losing_rank(task) == (by_root ? 2 : 3));
  }
}

TEST_CASE("bytes become whole elements, and equal parts where there are parts") {
  CHECK(whole_elements(OpKind::all_reduce, 8, 1000, 4) == 250);
  CHECK(whole_elements(OpKind::all_reduce, 8, 1001, 4) == 251);
  CHECK(whole_elements(OpKind::broadcast, 3, 1, 8) == 1);
  CHECK(whole_elements(OpKind::all_gather, 8, 1000, 4) == 256);
  CHECK(whole_elements(OpKind::all_to_all, 3, 1, 4) == 3);
}

TEST_CASE("sums of drawn numbers are exact: the type represents the greatest possible sum") {
  for (const int digits : {8, 11, 24, 53})
    for (const int n : {1, 2, 3, 8, 9, 100, 256}) {
      const std::uint32_t levels = exact_levels(digits, n);
      CAPTURE(digits, n, levels);
      CHECK(levels >= 2);
      CHECK(static_cast<double>(n) * (levels - 1) <= static_cast<double>(std::int64_t{1} << digits));
      CHECK((levels & (levels - 1)) == 0);
    }
  CHECK(exact_levels(8, 8) == 32);  // 8 × 31 = 248
  CHECK(exact_levels(8, 257) == 0);
}

TEST_CASE("drawn numbers differ by member, by element and by step") {
  const auto row = [](std::uint32_t step, int member) {
    Tensor numbers;
    for (std::int64_t i = 0; i < 64; ++i) numbers.push_back(DrawnNumbers{step, 16}(member, i));
    return numbers;
  };
  const Tensor first = row(0, 0);
  CHECK(first == row(0, 0));
  CHECK(first != row(0, 1));
  CHECK(first != row(1, 0));
  CHECK(std::vector(first.begin(), first.begin() + 32) != std::vector(first.begin() + 32, first.end()));
  for (const double x : first) CHECK((x >= 0 && x < 16));
}
