#include "engine/simulate/simulate.hpp"

#include <cassert>

#include "engine/simulate/layout.hpp"

namespace rankscope {

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
  for (int step = 0; step < steps; ++step)
    result.end_ns = layout.lay_out(static_cast<std::uint32_t>(step), graph.lanes, step_costs, result.spans);
  return result;
}

}  // namespace rankscope
