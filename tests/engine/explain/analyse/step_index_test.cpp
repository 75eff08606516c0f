#include "engine/explain/analyse/step_index.hpp"

#include <algorithm>
#include <random>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/program/link.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::analysis;

namespace {

/// Two simulated steps of a plan that has every kind of group.
struct Simulated {
  StepProgram step =
      compile(parse_scenario("[model]\nlayers = 4\n[plan]\ntensor = 2\ndata = 3\npipeline = 2\nzero = 1\nmicro_batches "
                             "= 3\n[train]\nclip = 1.0\n"
                             "global_batch = 18\n",
                             "s.toml"));
  std::vector<RankProgram> programs = step.all_programs();
  Step linked = link(programs, step.grid);
  std::vector<Span> spans = simulate(programs, step.grid, modelled_costs(step.scenario, step.model), 2).spans;
};

}  // namespace

TEST_CASE(
    "of the members of a communication the last to arrive is found, of several the first rank, and never the rank "
    "itself") {
  Simulated s;
  std::mt19937 random(7);
  for (Span& span : s.spans) {  // random times of arrival; some are equal
    const std::int64_t length = span.end_ns - span.begin_ns;
    span.begin_ns = span.active_ns = 1000 * static_cast<std::int64_t>(random() % 50);
    span.end_ns = span.begin_ns + length;
  }
  const StepIndex index(s.linked, s.spans, 0);
  int meetings = 0;
  for (SpanAt at = 0; at < static_cast<SpanAt>(index.spans().size()); ++at) {
    const Span& span = index[at];
    if (!is_collective(span.op.kind())) continue;
    const Op& op = s.programs[static_cast<std::size_t>(span.rank)].ops[static_cast<std::size_t>(index.op_index(at))];
    const std::vector<int> group = s.step.grid.group_of(span.rank, op.group);
    CHECK(std::ranges::all_of(group, [&](int member) { return index.takes_part(member, at); }));
    SpanAt last = none;
    for (const int member : group) {
      const auto& ops = s.programs[static_cast<std::size_t>(member)].ops;
      const auto place = std::ranges::find(ops, op.id, &Op::id) - ops.begin();
      const SpanAt theirs =
          member == span.rank ? none : index.find(member, static_cast<std::int32_t>(place), span.step);
      if (theirs != none && (last == none || index[theirs].begin_ns > index[last].begin_ns)) last = theirs;
    }
    REQUIRE(index.last_to_arrive(at) == last);
    meetings += last != none;
  }
  CHECK(meetings > 500);
}

TEST_CASE("the index does not depend on the order of spans") {
  Simulated s;
  const StepIndex ordered(s.linked, s.spans, 1);
  std::shuffle(s.spans.begin(), s.spans.end(), std::mt19937(3));
  const StepIndex index(s.linked, s.spans, 1);
  CHECK(index.missing() == 0);
  for (int rank = 0; rank < index.ranks(); ++rank) {
    const auto& compute = index.compute(rank);
    REQUIRE(compute.size() == ordered.compute(rank).size());
    for (std::size_t i = 0; i < compute.size(); ++i) {
      REQUIRE(index[compute[i]] == ordered[ordered.compute(rank)[i]]);
      REQUIRE((i == 0 || index[compute[i - 1]].begin_ns <= index[compute[i]].begin_ns));
    }
  }
}

TEST_CASE("every op of a step is found by its place in its rank's order") {
  Simulated s;
  const StepIndex index(s.linked, s.spans, 1);
  for (int rank = 0; rank < index.ranks(); ++rank)
    for (std::size_t i = 0; i < s.programs[static_cast<std::size_t>(rank)].ops.size(); ++i) {
      const SpanAt at = index.find(rank, static_cast<std::int32_t>(i), 1);
      REQUIRE(at != none);
      REQUIRE(index[at].op == s.programs[static_cast<std::size_t>(rank)].ops[i].id);
      REQUIRE(index[at].rank == rank);
    }
  CHECK(index.find(0, 1 << 20, 1) == none);
  CHECK(index.find(index.ranks(), 0, 1) == none);
}
