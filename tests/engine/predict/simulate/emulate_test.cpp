#include "engine/predict/layout/emulate.hpp"

#include <algorithm>

#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/predict/simulate/emulated.hpp"
#include "tests/engine/predict/simulate/pipelines.hpp"

using namespace rankscope;

namespace {

std::vector<std::vector<std::int64_t>> constant_costs(const std::vector<RankProgram>& programs, std::int64_t forward,
                                                      std::int64_t backward) {
  std::vector<std::vector<std::int64_t>> costs;
  for (const RankProgram& program : programs) {
    auto& row = costs.emplace_back();
    for (const Op& op : program.ops) {
      const OpKind kind = op.id.kind();
      row.push_back(kind == OpKind::forward ? forward : kind == OpKind::backward ? backward : -1);
    }
  }
  return costs;
}

Costs links(Link link) {
  return {{}, [link](int, int) { return link; }, {}};
}

}  // namespace

TEST_CASE("emulating the program's own order with a simulation's costs is that simulation") {
  const auto programs = pipeline_programs(make_schedule("1f1b", {4, 1, 8}));
  const RankGrid grid{1, 1, 4};
  Costs costs = links({400, 0.8});
  costs.compute_ns = [](const RankProgram&, const Op& op) -> std::int64_t {
    return op.id.kind() == OpKind::forward ? 5000 : 9000;
  };
  const Simulation simulated = simulate(programs, grid, costs, 3);
  std::vector<ExecutedStep> steps;
  for (std::uint32_t s = 0; s < 3; ++s)
    steps.push_back({s, program_order(programs), constant_costs(programs, 5000, 9000)});
  const Simulation emulated = emulate(programs, grid, steps, costs);
  CHECK(emulated.spans == simulated.spans);
  CHECK(emulated.end_ns == simulated.end_ns);
}

TEST_CASE("steps laid out one by one continue the device clock of the previous step") {
  const auto programs = pipeline_programs(make_schedule("gpipe", {3, 1, 4}));
  const RankGrid grid{1, 1, 3};
  Emulator emulator(programs, grid, links({100, 1.0}));
  const Simulation first = emulator.lay_out({5, program_order(programs), constant_costs(programs, 10, 20)});
  const Simulation second = emulator.lay_out({6, program_order(programs), constant_costs(programs, 30, 60)});
  for (const Span& span : first.spans) CHECK(span.step == 5);
  // Rank 0 ends the first step last. It begins the second one immediately, with its first forward.
  const auto compute = [](const Span& span) { return span.op.lane() == Lane::compute; };
  CHECK(std::find_if(second.spans.begin(), second.spans.end(), compute)->begin_ns == first.end_ns);
  const Simulation together = emulate(programs, grid,
                                      {{5, program_order(programs), constant_costs(programs, 10, 20)},
                                       {6, program_order(programs), constant_costs(programs, 30, 60)}},
                                      links({100, 1.0}));
  CHECK(together.end_ns == second.end_ns);
  CHECK(together.spans.size() == first.spans.size() + second.spans.size());
}

TEST_CASE("the executed order is laid out, not the program's: a shuffled executor shows its own bubble") {
  // 1F1B executed as if all forwards came first: that is GPipe's order on the last two stages' compute lanes.
  const auto programs = pipeline_programs(make_schedule("1f1b", {2, 1, 6}));
  auto order = program_order(programs);
  auto& compute = order[0][static_cast<std::size_t>(Lane::compute)];
  std::stable_sort(compute.begin(), compute.end(),
                   [&](OpIndex a, OpIndex b) { return programs[0].ops[a].id.kind() < programs[0].ops[b].id.kind(); });
  const auto costs = constant_costs(programs, 100, 200);
  const Simulation as_programmed = emulate(programs, {1, 1, 2}, {{0, program_order(programs), costs}}, links({50, 0}));
  const Simulation as_executed = emulate(programs, {1, 1, 2}, {{0, order, costs}}, links({50, 0}));
  CHECK(as_executed.spans != as_programmed.spans);
  std::vector<OpId> ran;
  for (const Span& span : as_executed.spans)
    if (span.rank == 0 && span.op.lane() == Lane::compute) ran.push_back(span.op);
  REQUIRE(ran.size() == compute.size());
  for (std::size_t i = 0; i < ran.size(); ++i) CHECK(ran[i] == programs[0].ops[compute[i]].id);
}

TEST_CASE("an executed order that lacks an op, doubles one, or deadlocks is refused") {
  const auto programs = pipeline_programs(make_schedule("naive", {2, 1, 2}));
  const auto costs = constant_costs(programs, 1, 2);
  auto order = program_order(programs);
  auto& compute = order[1][static_cast<std::size_t>(Lane::compute)];
  const auto refusal = [&] {
    return message_of([&] { emulate(programs, {1, 1, 2}, {{4, order, costs}}, links({})); });
  };
  const OpIndex last = compute.back();
  compute.pop_back();
  CHECK(refusal() == "executed order of step 4, rank 1: B:c1:m1 did not run");
  compute.push_back(compute.front());
  CHECK(refusal().find("ran twice") != std::string::npos);
  compute.back() = last;
  CHECK(refusal() == "");
  std::reverse(compute.begin(), compute.end());
  CHECK(refusal().find("deadlock in step 4") == 0);
}
