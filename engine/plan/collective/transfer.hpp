// Collectives as data: the transfers between the members of a group, phase by phase.
//
// The same list is executed (engine/execute/comm), costed and drawn. All numbers count elements, not bytes, and members
// are indices into the group. A list works on one buffer per member, in place:
//
//   broadcast, reduce, all_reduce   the tensor, `elements` long, cut into n chunks (chunk_range)
//   scatter, gather, all_gather,    the tensor, `elements` long, of n equal parts; chunk i is member i's part.
//   reduce_scatter                  Before a gather or all_gather member i's chunk i is valid, after a scatter or
//                                   reduce_scatter the same; chunks in between are scratch.
//   all_to_all                      two buffers of n equal parts: `from_offset` points into the sender's input and
//                                   `to_offset` into the receiver's output. A member's own part is not transferred.
//
// A member starts a phase once all its own transfers of the previous phase are done; there is no other barrier. Within
// a phase no member writes what it sends, and no two transfers write the same element. Transfers of no elements are
// left out, so a phase may be empty for some or all members (fewer elements than members, or none).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/op/kind.hpp"
#include "engine/plan/scenario/choices.hpp"

namespace rankscope {

struct Transfer {
  int phase = 0;         ///< from 0
  int chunk = 0;         ///< the first chunk that it carries
  int from = 0, to = 0;  ///< members
  std::int64_t from_offset = 0, to_offset = 0, elements = 0;
  bool add = false;  ///< the receiver adds to what it has; else it is overwritten
  bool operator==(const Transfer&) const = default;
};

enum class Algorithm : std::uint8_t {
  ring,              ///< every member communicates with its neighbours only: best bandwidth
  naive,             ///< one transfer at a time, from or to the root: a baseline for the ring
  tree,              ///< binomial tree: best latency for small data
  halving_doubling,  ///< recursive halving and doubling: a ring's bytes in log n phases, for powers of two
};
inline constexpr int algorithm_count = 4;

/// "ring", "naive", "tree", "halving-doubling".
std::string_view name_of(Algorithm algorithm);
/// nullopt for "auto", the communicator's own algorithm.
std::optional<Algorithm> algorithm_of(Choice<CollectiveChoice> chosen);

/// Elements [begin, end) of a buffer.
struct ElementRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
};

/// Chunk `chunk` of a buffer cut into `n`: [c·E/n, (c+1)·E/n), so equal if n divides E; else they differ by one.
constexpr ElementRange chunk_range(std::int64_t elements, int n, int chunk) {
  return {elements * chunk / n, elements * (chunk + 1) / n};
}

/// The transfers of one of the eight collectives over n members, ordered by phase. How each algorithm does it:
///
///                   ring                     naive                tree               halving_doubling
///   broadcast       pipelined chain          root sends           binomial           tree scatter, doubling gather
///   reduce          pipelined chain          root collects        binomial           halving scatter, tree gather
///   all_reduce      reduce_scatter,          reduce, broadcast    reduce, broadcast  halving, doubling
///                   all_gather               (root 0)             (root 0)
///   scatter         chain, farthest first    root sends           binomial           = tree
///   gather          chain, nearest first     root collects        binomial           = tree
///   all_gather      ring                     gather, broadcast    gather, broadcast  doubling
///   reduce_scatter  ring                     reduce, scatter      reduce, scatter    halving
///   all_to_all      rotation: in phase k     each scatters,       = ring             = ring
///                   i sends to i+k+1         one by one
///
/// Every algorithm supports any number of members; halving_doubling folds those above a power of two. A sum's order is
/// independent of arrival order, since a phase adds at most one transfer to any element. With members counted from
/// the root (0 if there is none):
///
///   ring               reduce: 0 + (1 + (2 + …)); reduce_scatter and all_reduce: chunk c is (c+1 + c+2) + … + c
///   naive              ((0 + 1) + 2) + …
///   tree               neighbours first: ((0 + 1) + (2 + 3)) + …
///   halving_doubling   folded members first, then those half the group apart: ((0 + n/2) + (n/4 + 3n/4)) + …
///
/// A ring all_reduce is the ring reduce_scatter followed by the ring all_gather, so its chunk i has the bits of
/// reduce_scatter's part i. `root` is used by broadcast, reduce, scatter and gather. Throws std::invalid_argument when
/// `kind` is no collective, n < 1, the root is no member, or parts would not be equal.
std::vector<Transfer> transfers_of(OpKind kind, Algorithm algorithm, int n, std::int64_t elements, int root = 0);

}  // namespace rankscope
