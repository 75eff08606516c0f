#include "engine/plan/collective/algorithms.hpp"

#include <algorithm>

#include "engine/plan/collective/list.hpp"

namespace rankscope {

using namespace collective;

std::vector<Transfer> ring_reduce_scatter(int n, std::int64_t elements) {
  std::vector<Transfer> list;
  for (int phase = 0; phase < n - 1; ++phase)
    for (int member = 0; member < n; ++member) {
      const int chunk = modulo(member - 1 - phase, n);
      move_chunks(list, n, elements, phase, chunk, chunk + 1, member, (member + 1) % n, true);
    }
  return list;
}

std::vector<Transfer> ring_all_gather(int n, std::int64_t elements) {
  std::vector<Transfer> list;
  for (int phase = 0; phase < n - 1; ++phase)
    for (int member = 0; member < n; ++member) {
      const int chunk = modulo(member - phase, n);
      move_chunks(list, n, elements, phase, chunk, chunk + 1, member, (member + 1) % n, false);
    }
  return list;
}

std::vector<Transfer> ring_all_reduce(int n, std::int64_t elements) {
  return then(ring_reduce_scatter(n, elements), n - 1, ring_all_gather(n, elements));
}

// In the chains, `step` counts hops from the root. In each phase chunks move one hop.

std::vector<Transfer> ring_broadcast(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int phase = 0; phase < 2 * (n - 1); ++phase)
    for (int chunk = std::max(0, phase - (n - 2)); chunk <= std::min(n - 1, phase); ++chunk) {
      const int step = phase - chunk;
      move_chunks(list, n, elements, phase, chunk, chunk + 1, (root + step) % n, (root + step + 1) % n, false);
    }
  return list;
}

std::vector<Transfer> ring_reduce(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int phase = 0; phase < 2 * (n - 1); ++phase)
    for (int chunk = std::max(0, phase - (n - 2)); chunk <= std::min(n - 1, phase); ++chunk) {
      const int step = n - 1 - (phase - chunk);
      move_chunks(list, n, elements, phase, chunk, chunk + 1, (root + step) % n, (root + step - 1) % n, true);
    }
  return list;
}

std::vector<Transfer> ring_scatter(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int phase = 0; phase < n - 1; ++phase)
    for (int distance = n - 1; distance >= n - 1 - phase; --distance) {
      const int step = phase - (n - 1 - distance), part = (root + distance) % n;
      move_chunks(list, n, elements, phase, part, part + 1, (root + step) % n, (root + step + 1) % n, false);
    }
  return list;
}

std::vector<Transfer> ring_gather(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int phase = 0; phase < n - 1; ++phase)
    for (int distance = phase + 1; distance < n; ++distance) {
      const int step = distance - phase, part = (root + distance) % n;
      move_chunks(list, n, elements, phase, part, part + 1, (root + step) % n, (root + step - 1) % n, false);
    }
  return list;
}

std::vector<Transfer> rotation_all_to_all(int n, std::int64_t elements) {
  const std::int64_t part = elements / n;
  std::vector<Transfer> list;
  if (part == 0) return list;
  for (int phase = 0; phase < n - 1; ++phase)
    for (int from = 0; from < n; ++from) {
      const int to = (from + phase + 1) % n;
      list.push_back({phase, to, from, to, to * part, from * part, part, false});
    }
  return list;
}

}  // namespace rankscope
