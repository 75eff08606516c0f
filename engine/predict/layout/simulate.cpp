#include "engine/predict/layout/simulate.hpp"

#include <algorithm>
#include <cassert>

#include "engine/predict/layout/layout.hpp"

namespace rankscope {

int predicted_steps(const std::vector<RankProgram>& programs) {
  const bool takes_turns = std::any_of(programs.begin(), programs.end(),
                                       [](const RankProgram& program) { return program.arrivals_ahead.has_value(); });
  return takes_turns ? 2 * (steps_apart(programs) + 2) : 3;
}

Simulation simulate(const std::vector<RankProgram>& programs, const RankGrid& grid, const Costs& costs, int steps) {
  assert(costs.compute_ns && steps >= 0);
  const simulation::Graph graph = simulation::make_graph(programs, grid);
  simulation::StepCosts step_costs{{}, simulation::transfer_costs(graph, costs)};
  step_costs.op.reserve(graph.nodes());
  for (const RankProgram& program : programs)
    for (const Op& op : program.ops)
      step_costs.op.push_back(is_communication(op.id.kind()) ? 0 : costs.compute_ns(program, op));

  Simulation result;
  result.spans.reserve(graph.nodes() * static_cast<std::size_t>(steps));
  simulation::Layout layout(graph);
  for (int step = 0; step < steps; ++step) {
    layout.add(static_cast<std::uint32_t>(step), graph.lanes, step_costs);
    if (!layout.has_arrivals() || step == steps - 1) result.end_ns = layout.run(result.spans);
  }
  return result;
}

}  // namespace rankscope
