#include "engine/predict/layout/emulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/op/words.hpp"
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

Rows lane_rows(const simulation::Graph& graph, const ExecutedStep& step) {
  const auto refuse = [&](std::size_t rank, const std::string& why) {
    throw std::invalid_argument(fmt::format("executed order of step {}, rank {}: {}", step.step, rank, why));
  };
  if (step.order.size() != graph.ranks())
    refuse(0, fmt::format("there are orders of {}", counted(step.order.size(), "rank")));
  Rows rows;
  std::vector<bool> seen(graph.nodes());
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank)
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      for (const OpIndex op : step.order[rank][lane]) {
        const Node node = graph.first[rank] + op;
        if (node >= graph.first[rank + 1] || graph.lane[node] != rank * lane_count + lane || seen[node])
          refuse(rank, fmt::format("op {} is not of this lane, or ran twice", op));
        seen[node] = true;
        rows.items.push_back(node);
      }
      rows.close_row();
    }
  for (std::size_t node = 0; node < seen.size(); ++node)
    if (!seen[node]) {
      const auto missing = static_cast<Node>(node);
      refuse(graph.rank_of(missing), to_token(graph.op(missing).id) + " did not run");
    }
  return rows;
}

/// [rank]; the steps' own order if no server serves in order of arrival.
std::vector<std::vector<std::uint64_t>> arrivals_of(const simulation::Graph& graph, const ExecutedStep& step) {
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
    const RankProgram& program = (*graph.programs)[rank];
    if (!program.arrivals_ahead) continue;
    const auto contributions = static_cast<std::size_t>(std::count_if(
        program.ops.begin(), program.ops.end(), [](const Op& op) { return op.id.kind() == OpKind::receive; }));
    if (step.arrivals.size() != graph.ranks() || step.arrivals[rank].size() != contributions)
      throw std::invalid_argument(
          fmt::format("executed order of step {}, rank {}: it does not tell when each of {} was served", step.step,
                      rank, counted(contributions, "contribution")));
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
  Rows rows = lane_rows(graph, step);
  simulation::StepCosts costs{{}, state_->transfer_ns};
  for (const auto& of_rank : step.cost_ns) costs.op.insert(costs.op.end(), of_rank.begin(), of_rank.end());
  if (costs.op.size() != graph.nodes())
    throw std::invalid_argument(
        fmt::format("there are costs for {} of {}", costs.op.size(), counted(graph.nodes(), "op")));
  for (Node node = 0; node < costs.op.size(); ++node)
    if (costs.op[node] < 0 && graph.exchange[node] == nobody)
      throw std::invalid_argument(
          fmt::format("rank {}, {} has no cost", graph.rank_of(node), to_token(graph.op(node).id)));
  state_->layout.add(step.step, std::move(rows), std::move(costs), arrivals_of(graph, step));
  Simulation result;
  result.spans.reserve(graph.nodes());
  result.end_ns = state_->layout.run(result.spans);
  return result;
}

}  // namespace rankscope
