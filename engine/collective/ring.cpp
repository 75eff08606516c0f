#include "engine/collective/ring.hpp"

#include "engine/collective/list.hpp"

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

// In the chains, `step` counts hops away from the root.

std::vector<Transfer> ring_broadcast(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int chunk = 0; chunk < n; ++chunk)
    for (int step = 0; step < n - 1; ++step)
      move_chunks(list, n, elements, chunk + step, chunk, chunk + 1, (root + step) % n, (root + step + 1) % n, false);
  return by_phase(std::move(list));
}

std::vector<Transfer> ring_reduce(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int chunk = 0; chunk < n; ++chunk)
    for (int step = n - 1; step > 0; --step)
      move_chunks(list, n, elements, chunk + n - 1 - step, chunk, chunk + 1, (root + step) % n, (root + step - 1) % n,
                  true);
  return by_phase(std::move(list));
}

std::vector<Transfer> ring_scatter(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int distance = n - 1; distance > 0; --distance)
    for (int step = 0; step < distance; ++step) {
      const int part = (root + distance) % n;
      move_chunks(list, n, elements, n - 1 - distance + step, part, part + 1, (root + step) % n, (root + step + 1) % n,
                  false);
    }
  return by_phase(std::move(list));
}

std::vector<Transfer> ring_gather(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int distance = 1; distance < n; ++distance)
    for (int step = distance; step > 0; --step) {
      const int part = (root + distance) % n;
      move_chunks(list, n, elements, distance - step, part, part + 1, (root + step) % n, (root + step - 1) % n, false);
    }
  return by_phase(std::move(list));
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
