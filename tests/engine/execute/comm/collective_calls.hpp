// One call of any of the eight collectives on a member's buffers, for tests that run all of them.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "engine/execute/comm/communicator.hpp"

namespace rankscope::test {

inline constexpr OpKind collectives[] = {OpKind::broadcast,      OpKind::scatter,   OpKind::reduce,
                                         OpKind::all_reduce,     OpKind::gather,    OpKind::all_gather,
                                         OpKind::reduce_scatter, OpKind::all_to_all};
inline constexpr const char* algorithms[] = {"auto", "ring", "naive", "tree", "halving-doubling"};

/// One member's memory for a collective over n members. `whole` is the tensor if the collective has no parts, and the
/// data that all_to_all sends; `part` is the data that all_to_all receives.
struct Buffers {
  OpKind kind;
  DType type;
  std::int64_t elements;  ///< of the tensor or whole
  std::vector<std::byte> whole, part;

  /// The number of elements is `about`, rounded up to n equal parts if the collective has parts.
  Buffers(OpKind of, DType element, int n, std::int64_t about)
      : kind(of), type(element), elements(has_parts(of) ? (about + n - 1) / n * n : about) {
    whole.resize(static_cast<std::size_t>(elements * bytes_of(type)));
    if (has_parts(kind)) part.resize(kind == OpKind::all_to_all ? whole.size() : whole.size() / n);
  }
  View whole_view() { return {whole.data(), type, {elements}}; }
  View part_view() { return {part.data(), type, {static_cast<std::int64_t>(part.size()) / bytes_of(type)}}; }
};

/// Calls the collective out of place.
inline CommResult call(Communicator& group, Buffers& b, int root) {
  const bool has_whole = !(has_root(b.kind) && has_parts(b.kind)) || group.index() == root;
  return group.collective(
      {b.kind, has_whole ? b.whole_view() : View{nullptr, b.type, {0}}, b.part_view(), has_root(b.kind) ? root : 0});
}

/// The collective's result on this member, as bytes; empty if it is unspecified.
inline std::vector<std::byte> result_of(const Communicator& group, const Buffers& b, int root) {
  const bool is_root = group.index() == root;
  if (b.kind == OpKind::reduce || b.kind == OpKind::gather) return is_root ? b.whole : std::vector<std::byte>{};
  if (b.kind == OpKind::broadcast || b.kind == OpKind::all_reduce || b.kind == OpKind::all_gather) return b.whole;
  return b.part;
}

}  // namespace rankscope::test
