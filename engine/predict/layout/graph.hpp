// A linked step with its lanes, the layout's input. For this folder's own files.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/program/link.hpp"
#include "engine/predict/layout/simulate.hpp"

namespace rankscope::simulation {

using LaneNumber = std::uint32_t;  ///< rank · lane_count + lane

/// The linked step with what a layout needs besides: the programs, for what their ops cost, and the lanes.
struct Graph : Step {
  const std::vector<RankProgram>* programs = nullptr;
  std::vector<LaneNumber> lane;  ///< [node]
  Rows lanes;                    ///< [lane number] → nodes, in program order

  std::size_t rank_of(Node node) const { return lane[node] / lane_count; }
  const Op& op(Node node) const {
    const std::size_t rank = rank_of(node);
    return (*programs)[rank].ops[node - first[rank]];
  }
  /// "rank 2 (forward_send)".
  std::string place(LaneNumber lane) const;
};

/// `programs` must outlive the graph. Throws std::invalid_argument for an op without its counterpart, for unequal ends
/// and for duplicate ids.
Graph make_graph(const std::vector<RankProgram>& programs, const RankGrid& grid);

/// Nanoseconds of every exchange, after all its nodes have arrived.
std::vector<std::int64_t> transfer_costs(const Graph& graph, const Costs& costs);

}  // namespace rankscope::simulation
