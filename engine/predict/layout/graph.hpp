// Programs of all ranks as one flat graph of nodes, the layout's input. For this folder's own files.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/program/program.hpp"
#include "engine/predict/layout/simulate.hpp"

namespace rankscope::simulation {

using Node = std::uint32_t;        ///< an op of a rank: first[rank] + its index in the program
using Exchange = std::uint32_t;    ///< a message or a collective: its nodes wait for each other
using LaneNumber = std::uint32_t;  ///< rank · lane_count + lane
inline constexpr std::uint32_t nobody = ~std::uint32_t{0};

/// Rows of different lengths in one array: row i is items[begin[i], begin[i + 1]).
struct Rows {
  std::vector<std::uint32_t> begin{0};
  std::vector<std::uint32_t> items;
  void close_row() { begin.push_back(static_cast<std::uint32_t>(items.size())); }
  std::span<const std::uint32_t> operator[](std::size_t row) const {
    return {items.data() + begin[row], items.data() + begin[row + 1]};
  }
  std::size_t size() const { return begin.size() - 1; }
};

struct Graph {
  const std::vector<RankProgram>* programs = nullptr;
  std::vector<Node> first;       ///< [rank], and the end
  std::vector<LaneNumber> lane;  ///< [node]
  Rows after, after_previous;    ///< [node] → nodes
  std::vector<Exchange> exchange;  ///< [node]; `nobody` for compute
  Rows members;                    ///< [exchange] → nodes
  Rows lanes;                    ///< [lane number] → nodes, in program order

  std::size_t ranks() const { return first.size() - 1; }
  std::size_t nodes() const { return lane.size(); }
  std::size_t rank_of(Node node) const { return lane[node] / lane_count; }
  const Op& op(Node node) const {
    const std::size_t rank = rank_of(node);
    return (*programs)[rank].ops[node - first[rank]];
  }
  /// "rank 2 (forward_send)".
  std::string place(LaneNumber lane) const;
};

/// Matches messages by (rank, peer, counterpart id) and collectives by group and id. `programs` must outlive the graph.
/// Throws std::invalid_argument for an op without its counterpart, for unequal ends and for duplicate ids.
Graph make_graph(const std::vector<RankProgram>& programs, const RankGrid& grid);

/// Nanoseconds of every exchange, after all its nodes have arrived.
std::vector<std::int64_t> transfer_costs(const Graph& graph, const Costs& costs);

}  // namespace rankscope::simulation
