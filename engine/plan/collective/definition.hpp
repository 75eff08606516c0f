// The definition of the eight collectives, element by element, for any algorithm: the check for a run's results.
#pragma once
#include <cstdint>

#include "engine/op/kind.hpp"

namespace rankscope {

/// One collective of `n` members. `elements` counts the complete tensor: n equal parts if the kind has parts.
struct CollectiveTask {
  OpKind kind = OpKind::all_reduce;
  int n = 1;
  std::int64_t elements = 0;
  int root = 0;  ///< a member, if the kind has a root
  std::int64_t part() const { return elements / n; }
};

/// A tensor of at least this number of bytes, of elements of that size, in equal parts if the kind has parts.
std::int64_t whole_elements(OpKind kind, int n, double bytes, std::int64_t element_bytes);

/// Number of elements in a member's input, and in its result as far as the definition specifies it: none
/// if only the root has some.
std::int64_t brought_elements(const CollectiveTask& task, int member);
std::int64_t left_elements(const CollectiveTask& task, int member);

/// The member whose part the fault "lost_part" removes: the root if only the root has input, else the last one.
int losing_rank(const CollectiveTask& task);

/// Element `i` of a member's result, where `brought(m, j)` is element j of member m's input.
///
///   broadcast        the root's                      gather, all_gather   part k is member k's input
///   reduce           the sum, at the root            reduce_scatter       this member's part of the sum
///   all_reduce       the sum                         all_to_all           part k is member k's part for this one
///   scatter          this member's part of the root's
template <class Brought>
double left_by_definition(const CollectiveTask& task, int member, std::int64_t i, const Brought& brought) {
  const std::int64_t part = task.part();
  const auto sum = [&](std::int64_t at) {
    double total = 0;
    for (int m = 0; m < task.n; ++m) total += brought(m, at);
    return total;
  };
  if (task.kind == OpKind::broadcast) return brought(task.root, i);
  if (task.kind == OpKind::scatter) return brought(task.root, member * part + i);
  if (task.kind == OpKind::reduce || task.kind == OpKind::all_reduce) return sum(i);
  if (task.kind == OpKind::reduce_scatter) return sum(member * part + i);
  const int from = static_cast<int>(i / part);
  return brought(from, (task.kind == OpKind::all_to_all ? member * part : 0) + i % part);
}

/// The input of members in a step: small integers that depend on member, element and step, so that missing,
/// doubled or misplaced elements are detected.
struct DrawnNumbers {
  std::uint32_t step = 0;
  std::uint32_t levels = 2;  ///< 0 … levels - 1; a power of two
  double operator()(int member, std::int64_t i) const {
    const auto wide = static_cast<std::uint64_t>(i);
    auto x = static_cast<std::uint32_t>(wide ^ wide >> 32) * 0x9E3779B1u;
    x ^= static_cast<std::uint32_t>(member + 1) * 0x85EBCA77u ^ (step + 1) * 0xC2B2AE3Du;
    x = (x ^ x >> 15) * 0x2C1B3C6Du;
    x = (x ^ x >> 12) * 0x297A2D39u;
    return static_cast<double>((x ^ x >> 15) & (levels - 1));
  }
};

/// The most levels for which a sum over n members is exact in any order, in a type that counts to 2^digits; 0 if not
/// even two levels are possible.
std::uint32_t exact_levels(int digits, int n);

}  // namespace rankscope
