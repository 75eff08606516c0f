// Building blocks of the transfer lists: for this folder's own files.
#pragma once
#include <algorithm>
#include <vector>

#include "engine/plan/collective/transfer.hpp"

namespace rankscope::collective {

/// Appends the transfer of chunks [first, last) of a buffer cut into n, unless they are empty.
inline void move_chunks(std::vector<Transfer>& list, int n, std::int64_t elements, int phase, int first, int last,
                        int from, int to, bool add) {
  if (first >= last) return;
  const std::int64_t begin = chunk_range(elements, n, first).begin;
  const std::int64_t size = chunk_range(elements, n, last - 1).end - begin;
  if (size > 0) list.push_back({phase, first, from, to, begin, begin, size, add});
}

/// Appends `second`, its phases after the existing `phases`.
inline std::vector<Transfer> then(std::vector<Transfer> first, int phases, std::vector<Transfer> second) {
  for (Transfer& transfer : second) {
    transfer.phase += phases;
    first.push_back(transfer);
  }
  return first;
}

/// Orders by phase; transfers of a phase keep the order in which they were made.
inline std::vector<Transfer> by_phase(std::vector<Transfer> list) {
  std::stable_sort(list.begin(), list.end(), [](const Transfer& a, const Transfer& b) { return a.phase < b.phase; });
  return list;
}

constexpr int modulo(int value, int n) { return ((value % n) + n) % n; }

/// ceil(log2 n): the depth of a binomial tree.
constexpr int tree_depth(int n) {
  int depth = 0;
  while ((1 << depth) < n) ++depth;
  return depth;
}

}  // namespace rankscope::collective
