#include "engine/plan/collective/cost.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "engine/plan/collective/list.hpp"

namespace rankscope {

WireCount count_wire(const std::vector<Transfer>& transfers, int n) {
  WireCount count;
  count.sent.assign(n, 0);
  count.received.assign(n, 0);
  for (const Transfer& t : transfers) count.phases = std::max(count.phases, t.phase + 1);
  count.busiest.assign(count.phases, 0);
  std::vector<std::int64_t> out(n * count.phases, 0), in(n * count.phases, 0);
  for (const Transfer& t : transfers) {
    count.total += t.elements;
    count.sent[t.from] += t.elements;
    count.received[t.to] += t.elements;
    auto& sends = out[t.phase * n + t.from] += t.elements;
    auto& receives = in[t.phase * n + t.to] += t.elements;
    count.busiest[t.phase] = std::max({count.busiest[t.phase], sends, receives});
  }
  return count;
}

namespace {

std::invalid_argument without_cost(OpKind kind) {
  return std::invalid_argument("there is no cost of " + std::string(name_of(kind)));
}

// Hops of a tree scatter or gather: the chunk of the member `step` steps from the root takes popcount(step) of them.
std::int64_t tree_hops(int n, std::int64_t elements, int root) {
  std::int64_t total = 0;
  for (int step = 1; step < n; ++step)
    total += std::popcount(static_cast<unsigned>(step)) * chunk_range(elements, n, (root + step) % n).size();
  return total;
}

// The chunks of the members that halving and doubling fold into others: 1, 3, 5, … up to 2(n-p)-1.
std::int64_t folded_chunks(int n, std::int64_t elements) {
  const int folded = n - static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  std::int64_t total = 0;
  for (int i = 0; i < folded; ++i) total += chunk_range(elements, n, 2 * i + 1).size();
  return total;
}

WireCost ring_cost(OpKind kind, int n, std::int64_t elements) {
  const std::int64_t once = (n - 1) * elements;
  switch (kind) {
    case OpKind::broadcast:
    case OpKind::reduce: return {2 * (n - 1), once};
    case OpKind::all_reduce: return {2 * (n - 1), 2 * once};
    case OpKind::scatter:
    case OpKind::gather: return {n - 1, once / 2};  // n divides E, so E(n-1) is even
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
    case OpKind::all_to_all: return {n - 1, once};
    default: throw without_cost(kind);
  }
}

WireCost naive_cost(OpKind kind, int n, std::int64_t elements) {
  const std::int64_t once = (n - 1) * elements, parts = (n - 1) * (elements / n);
  switch (kind) {
    case OpKind::broadcast:
    case OpKind::reduce: return {n - 1, once};
    case OpKind::all_reduce: return {2 * (n - 1), 2 * once};
    case OpKind::scatter:
    case OpKind::gather: return {n - 1, parts};
    case OpKind::all_to_all: return {n * (n - 1), once};
    case OpKind::all_gather:
    case OpKind::reduce_scatter: return {2 * (n - 1), once + parts};
    default: throw without_cost(kind);
  }
}

WireCost tree_cost(OpKind kind, int n, std::int64_t elements, int root) {
  const int depth = collective::tree_depth(n);
  const std::int64_t once = (n - 1) * elements;
  switch (kind) {
    case OpKind::broadcast:
    case OpKind::reduce: return {depth, once};
    case OpKind::all_reduce: return {2 * depth, 2 * once};
    case OpKind::scatter:
    case OpKind::gather: return {depth, tree_hops(n, elements, root)};
    case OpKind::all_to_all: return ring_cost(kind, n, elements);
    case OpKind::all_gather:
    case OpKind::reduce_scatter: return {2 * depth, once + tree_hops(n, elements, 0)};
    default: throw without_cost(kind);
  }
}

WireCost halving_doubling_cost(OpKind kind, int n, std::int64_t elements, int root) {
  const bool power_of_two = std::has_single_bit(static_cast<unsigned>(n));
  const int log = static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1, folds = power_of_two ? 0 : 2;
  const std::int64_t once = (n - 1) * elements, back = folded_chunks(n, elements);
  switch (kind) {
    case OpKind::all_gather: return {log + folds, once};
    case OpKind::reduce_scatter: return {log + folds, once + back};
    case OpKind::all_reduce: return {2 * log + folds, 2 * once};
    case OpKind::broadcast: return {collective::tree_depth(n) + log + folds, tree_hops(n, elements, root) + once};
    case OpKind::reduce: return {collective::tree_depth(n) + log + folds, tree_hops(n, elements, root) + once + back};
    case OpKind::scatter:
    case OpKind::gather:
    case OpKind::all_to_all: return tree_cost(kind, n, elements, root);
    default: throw without_cost(kind);
  }
}

}  // namespace

WireCost wire_cost(OpKind kind, Algorithm algorithm, int n, std::int64_t elements, int root) {
  if (!is_collective(kind)) throw std::invalid_argument(std::string(name_of(kind)) + " is no collective");
  switch (algorithm) {
    case Algorithm::ring: return ring_cost(kind, n, elements);
    case Algorithm::naive: return naive_cost(kind, n, elements);
    case Algorithm::tree: return tree_cost(kind, n, elements, root);
    case Algorithm::halving_doubling: return halving_doubling_cost(kind, n, elements, root);
  }
  throw std::invalid_argument("no such collective algorithm");
}

double bus_factor(OpKind kind, int n) {
  if (kind != OpKind::all_reduce && !has_parts(kind)) return 1;
  const double share = n > 0 ? static_cast<double>(n - 1) / n : 0;
  return kind == OpKind::all_reduce ? 2 * share : share;
}

std::int64_t direct_elements(OpKind kind, int n, std::int64_t elements, int root) {
  if (!is_collective(kind)) throw std::invalid_argument(std::string(name_of(kind)) + " is no collective");
  if (kind == OpKind::scatter || kind == OpKind::gather) return elements - elements / n;
  if (kind == OpKind::all_reduce) return 2 * (n - 1) * elements;
  if (kind == OpKind::reduce && n > 1) return n * elements - chunk_range(elements, n, root).size();
  return (n - 1) * elements;
}

namespace {

std::int64_t direct_between(OpKind kind, int n, std::int64_t elements, int root, int from, int to) {
  const auto chunk = [&](int member) { return chunk_range(elements, n, member).size(); };
  switch (kind) {
    case OpKind::broadcast: return from == root ? elements : 0;
    case OpKind::scatter: return from == root ? elements / n : 0;
    case OpKind::gather: return to == root ? elements / n : 0;
    // Each member receives its chunk and sums it there; the sums of its own chunk go to all that need them.
    case OpKind::all_reduce: return chunk(to) + chunk(from);
    case OpKind::reduce: return chunk(to) + (to == root ? chunk(from) : 0);
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
    case OpKind::all_to_all: return elements / n;
    default: throw without_cost(kind);
  }
}

}  // namespace

std::vector<PairElements> pair_elements(OpKind kind, std::optional<Algorithm> algorithm, int n, std::int64_t elements,
                                        int root) {
  std::vector<std::int64_t> sent(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0);
  const auto at = [&](int from, int to) -> std::int64_t& {
    return sent[static_cast<std::size_t>(from) * static_cast<std::size_t>(n) + static_cast<std::size_t>(to)];
  };
  if (algorithm) {
    for (const Transfer& t : transfers_of(kind, *algorithm, n, elements, root)) at(t.from, t.to) += t.elements;
  } else {
    if (!is_collective(kind)) throw std::invalid_argument(std::string(name_of(kind)) + " is no collective");
    for (int from = 0; from < n; ++from)
      for (int to = 0; to < n; ++to)
        if (from != to) at(from, to) = direct_between(kind, n, elements, root, from, to);
  }
  std::vector<PairElements> pairs;
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to)
      if (at(from, to) > 0) pairs.push_back({from, to, at(from, to)});
  return pairs;
}

}  // namespace rankscope
