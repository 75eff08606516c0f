#include "engine/plan/collective/algorithms.hpp"

#include "engine/plan/collective/list.hpp"

namespace rankscope {

using namespace collective;

namespace {

// One edge of the tree in positions (steps from the root): `parent` sends to `child`, whose subtree is the positions
// [child, end).
struct Edge {
  int phase, parent, child, end;
};

// Edges in the order in which a scatter uses them: the root first sends the upper half.
std::vector<Edge> edges_downwards(int n) {
  std::vector<Edge> edges;
  const int depth = tree_depth(n);
  for (int phase = 0; phase < depth; ++phase) {
    const int half = 1 << (depth - 1 - phase);
    for (int parent = 0; parent + half < n; parent += 2 * half)
      edges.push_back({phase, parent, parent + half, std::min(parent + 2 * half, n)});
  }
  return edges;
}

// The same edges from the leaves up.
std::vector<Edge> edges_upwards(int n) {
  std::vector<Edge> edges = edges_downwards(n);
  std::reverse(edges.begin(), edges.end());
  for (Edge& edge : edges) edge.phase = tree_depth(n) - 1 - edge.phase;
  return edges;
}

// The chunks of positions [first, last): as member numbers they may wrap around.
void move_positions(std::vector<Transfer>& list, int n, std::int64_t elements, int root, const Edge& edge, int from,
                    int to) {
  const int first = root + edge.child, last = root + edge.end;
  move_chunks(list, n, elements, edge.phase, std::min(first, n), std::min(last, n), from, to, false);
  move_chunks(list, n, elements, edge.phase, std::max(first - n, 0), std::max(last - n, 0), from, to, false);
}

}  // namespace

std::vector<Transfer> tree_broadcast(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (const Edge& edge : edges_downwards(n))
    move_chunks(list, n, elements, edge.phase, 0, n, (root + edge.parent) % n, (root + edge.child) % n, false);
  return list;
}

std::vector<Transfer> tree_reduce(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (const Edge& edge : edges_upwards(n))
    move_chunks(list, n, elements, edge.phase, 0, n, (root + edge.child) % n, (root + edge.parent) % n, true);
  return list;
}

std::vector<Transfer> tree_all_reduce(int n, std::int64_t elements) {
  return then(tree_reduce(n, elements, 0), tree_depth(n), tree_broadcast(n, elements, 0));
}

std::vector<Transfer> tree_scatter(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (const Edge& edge : edges_downwards(n))
    move_positions(list, n, elements, root, edge, (root + edge.parent) % n, (root + edge.child) % n);
  return list;
}

std::vector<Transfer> tree_gather(int n, std::int64_t elements, int root) {
  std::vector<Transfer> list;
  for (const Edge& edge : edges_upwards(n))
    move_positions(list, n, elements, root, edge, (root + edge.child) % n, (root + edge.parent) % n);
  return list;
}

std::vector<Transfer> tree_all_gather(int n, std::int64_t elements) {
  return then(tree_gather(n, elements, 0), tree_depth(n), tree_broadcast(n, elements, 0));
}

std::vector<Transfer> tree_reduce_scatter(int n, std::int64_t elements) {
  return then(tree_reduce(n, elements, 0), tree_depth(n), tree_scatter(n, elements, 0));
}

}  // namespace rankscope
