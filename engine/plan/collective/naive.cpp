#include "engine/plan/collective/algorithms.hpp"

#include "engine/plan/collective/list.hpp"

namespace rankscope {

using namespace collective;

std::vector<Transfer> naive_broadcast(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int step = 1; step < n; ++step) move_chunks(list, n, elements, step - 1, 0, n, root, (root + step) % n, false);
  return list;
}

std::vector<Transfer> naive_reduce(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int step = 1; step < n; ++step) move_chunks(list, n, elements, step - 1, 0, n, (root + step) % n, root, true);
  return list;
}

std::vector<Transfer> naive_all_reduce(int n, std::int64_t elements) {
  return then(naive_reduce(n, elements, 0), n - 1, naive_broadcast(n, elements, 0));
}

std::vector<Transfer> naive_scatter(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int step = 1; step < n; ++step) {
    const int member = (root + step) % n;
    move_chunks(list, n, elements, step - 1, member, member + 1, root, member, false);
  }
  return list;
}

std::vector<Transfer> naive_gather(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (int step = 1; step < n; ++step) {
    const int member = (root + step) % n;
    move_chunks(list, n, elements, step - 1, member, member + 1, member, root, false);
  }
  return list;
}

std::vector<Transfer> naive_all_gather(int n, std::int64_t elements) {
  return then(naive_gather(n, elements, 0), n - 1, naive_broadcast(n, elements, 0));
}

std::vector<Transfer> naive_reduce_scatter(int n, std::int64_t elements) {
  return then(naive_reduce(n, elements, 0), n - 1, naive_scatter(n, elements, 0));
}

std::vector<Transfer> naive_all_to_all(int n, std::int64_t elements) {
  const std::int64_t part = elements / n;
  std::vector<Transfer> list;
  if (part == 0) return list;
  int phase = 0;
  for (int from = 0; from < n; ++from)
    for (int step = 1; step < n; ++step) {
      const int to = (from + step) % n;
      list.push_back({phase++, to, from, to, to * part, from * part, part, false});
    }
  return list;
}

}  // namespace rankscope
