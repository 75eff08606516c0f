#include "engine/predict/layout/emulate.hpp"

#include <algorithm>
#include <stdexcept>

#include "engine/predict/layout/layout.hpp"

namespace rankscope {

struct Emulator::State {
  State(std::vector<RankProgram> of_ranks, const RankGrid& grid, const Costs& costs)
      : programs(std::move(of_ranks)), graph(simulation::make_graph(programs, grid)), layout(graph) {
    transfer_ns = simulation::transfer_costs(graph, costs);
  }
  std::vector<RankProgram> programs;
  simulation::Graph graph;
  simulation::Layout layout;
  std::vector<std::int64_t> transfer_ns;
};

namespace {

simulation::Rows lane_rows(const simulation::Graph& graph, const ExecutedStep& step) {
  const auto refuse = [&](std::size_t rank, const std::string& why) {
    throw std::invalid_argument("executed order of step " + std::to_string(step.step) + ", rank " +
                                std::to_string(rank) + ": " + why);
  };
  if (step.order.size() != graph.ranks())
    refuse(0, "there are orders of " + std::to_string(step.order.size()) + " ranks");
  simulation::Rows rows;
  std::vector<bool> seen(graph.nodes());
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank)
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      for (const OpIndex op : step.order[rank][lane]) {
        const simulation::Node node = graph.first[rank] + op;
        if (node >= graph.first[rank + 1] || graph.lane[node] != rank * lane_count + lane || seen[node])
          refuse(rank, "op " + std::to_string(op) + " is not of this lane, or ran twice");
        seen[node] = true;
        rows.items.push_back(node);
      }
      rows.close_row();
    }
  for (std::size_t node = 0; node < seen.size(); ++node)
    if (!seen[node]) {
      const auto missing = static_cast<simulation::Node>(node);
      refuse(graph.rank_of(missing), to_token(graph.op(missing).id) + " did not run");
    }
  return rows;
}

/// [rank]; the steps' own order where no server serves as they come.
std::vector<std::vector<std::uint64_t>> arrivals_of(const simulation::Graph& graph, const ExecutedStep& step) {
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
    const RankProgram& program = (*graph.programs)[rank];
    if (!program.arrivals_ahead) continue;
    const auto contributions = static_cast<std::size_t>(std::count_if(
        program.ops.begin(), program.ops.end(), [](const Op& op) { return op.id.kind() == OpKind::receive; }));
    if (step.arrivals.size() != graph.ranks() || step.arrivals[rank].size() != contributions)
      throw std::invalid_argument("executed order of step " + std::to_string(step.step) + ", rank " +
                                  std::to_string(rank) + ": it does not tell when each of " +
                                  std::to_string(contributions) + " contributions was served");
  }
  return step.arrivals;
}

}  // namespace

Emulator::Emulator(std::vector<RankProgram> programs, const RankGrid& grid, const Costs& costs)
    : state_(std::make_unique<State>(std::move(programs), grid, costs)) {}
Emulator::~Emulator() = default;
Emulator::Emulator(Emulator&&) noexcept = default;
Emulator& Emulator::operator=(Emulator&&) noexcept = default;

Simulation Emulator::lay_out(const ExecutedStep& step) {
  const simulation::Graph& graph = state_->graph;
  simulation::Rows rows = lane_rows(graph, step);
  simulation::StepCosts costs{{}, state_->transfer_ns};
  for (const auto& of_rank : step.cost_ns) costs.op.insert(costs.op.end(), of_rank.begin(), of_rank.end());
  if (costs.op.size() != graph.nodes())
    throw std::invalid_argument("there are costs for " + std::to_string(costs.op.size()) + " of " +
                                std::to_string(graph.nodes()) + " ops");
  for (simulation::Node node = 0; node < costs.op.size(); ++node)
    if (costs.op[node] < 0 && graph.meeting[node] == simulation::nobody)
      throw std::invalid_argument("rank " + std::to_string(graph.rank_of(node)) + ", " + to_token(graph.op(node).id) +
                                  " has no cost");
  state_->layout.add(step.step, std::move(rows), std::move(costs), arrivals_of(graph, step));
  Simulation result;
  result.spans.reserve(graph.nodes());
  result.end_ns = state_->layout.run(result.spans);
  return result;
}

Simulation emulate(const std::vector<RankProgram>& programs, const RankGrid& grid,
                   const std::vector<ExecutedStep>& steps, const Costs& costs) {
  Emulator emulator(programs, grid, costs);
  Simulation result;
  for (const ExecutedStep& step : steps) {
    Simulation one = emulator.lay_out(step);
    result.spans.insert(result.spans.end(), one.spans.begin(), one.spans.end());
    result.end_ns = one.end_ns;
  }
  return result;
}

}  // namespace rankscope
