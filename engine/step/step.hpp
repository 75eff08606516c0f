// A step as its readers need it, whoever made it: linked from the programs of a plan (engine/plan/program/link.hpp) or
// from the spans of an imported run (engine/explain/analyse/observed_step.hpp). Ops of all ranks are numbered through,
// and the members of a message or of a collective are joined once, so that no reader looks for partners itself.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/op/op_id.hpp"

namespace rankscope {

using Node = std::uint32_t;           ///< an op of a rank: Step::first[rank] + its place in the rank's order
using ExchangeIndex = std::uint32_t;  ///< a message or a collective
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

/// What the members of an exchange do together.
struct ExchangeFacts {
  std::int64_t bytes = -1;  ///< of the message, of the tensor, or of the whole of all members' parts; -1: unknown
  int width = 1;            ///< bytes of an element
  int root = -1;            ///< a rank; -1: it has none
  GroupKind group = GroupKind::self;  ///< of a plan's collective
};

struct Step {
  std::vector<Node> first{0};  ///< [rank], and the end
  std::vector<OpId> ids;       ///< [node]: of a rank in an order in which it can run them
  Rows after, after_previous;  ///< [node] → nodes of the same rank that must have ended, in this or the last step
  std::vector<ExchangeIndex> exchange;   ///< [node]; `nobody` for an op that communicates with no other op
  Rows members;                          ///< [exchange] → nodes, by rank; of a message the sender, then the receiver
  std::vector<ExchangeFacts> exchanges;  ///< [exchange]
  std::vector<bool> serves;              ///< [rank]: a parameter server, which has no model to compute
  /// [rank] Of an asynchronous parameter server, which serves contributions as they arrive: by how many steps they may
  /// be beyond the oldest step that lacks one.
  std::vector<std::optional<int>> arrivals_ahead;
  std::vector<bool> absent;  ///< [rank]: of an imported run, without a trace; empty: none is
  bool has_pipeline = true;  ///< so that idle time has a phase: filling, draining
  int steps_apart = 1;       ///< the greatest distance between steps whose ops run at the same time

  std::size_t ranks() const { return first.size() - 1; }
  std::size_t nodes() const { return ids.size(); }
  /// That op of the rank; `nobody` if the rank has none.
  Node find(int rank, OpId op) const;
  /// The rank of a node.
  std::size_t rank_of(Node node) const;
  /// Those of the rank, in its order.
  std::span<const OpId> ids_of(std::size_t rank) const {
    return {ids.data() + first[rank], ids.data() + first[rank + 1]};
  }
  bool is_absent(std::size_t rank) const { return rank < absent.size() && absent[rank]; }
  /// Ranks that have a model to compute, and are not absent.
  std::size_t workers() const;
};

}  // namespace rankscope
