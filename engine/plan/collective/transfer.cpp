#include "engine/plan/collective/transfer.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "engine/op/words.hpp"
#include "engine/plan/collective/algorithms.hpp"

namespace rankscope {

// CollectiveChoice: first "auto", then the algorithms in their order.
static_assert(word_table<CollectiveChoice>.size() == 1 + algorithm_count);

std::string_view name_of(Algorithm algorithm) {
  return word_of(static_cast<CollectiveChoice>(1 + static_cast<int>(algorithm)));
}

std::optional<Algorithm> algorithm_of(Choice<CollectiveChoice> chosen) {
  if (chosen == CollectiveChoice::automatic) return std::nullopt;
  return static_cast<Algorithm>(static_cast<int>(CollectiveChoice(chosen)) - 1);
}

namespace {

using Elements = std::int64_t;

// One builder of each collective: a row of the table in the header. Those without a root ignore it.
struct Builders {
  using Rooted = std::vector<Transfer> (*)(int, Elements, int);
  using Rootless = std::vector<Transfer> (*)(int, Elements);
  Rooted broadcast, reduce, scatter, gather;
  Rootless all_reduce, all_gather, reduce_scatter, all_to_all;
};

Builders builders_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      return {ring_broadcast,  ring_reduce,     ring_scatter,        ring_gather,
              ring_all_reduce, ring_all_gather, ring_reduce_scatter, rotation_all_to_all};
    case Algorithm::naive:
      return {naive_broadcast,  naive_reduce,     naive_scatter,        naive_gather,
              naive_all_reduce, naive_all_gather, naive_reduce_scatter, naive_all_to_all};
    case Algorithm::tree:
      return {tree_broadcast,  tree_reduce,     tree_scatter,        tree_gather,
              tree_all_reduce, tree_all_gather, tree_reduce_scatter, rotation_all_to_all};
    case Algorithm::halving_doubling:
      return {halving_doubling_broadcast,  halving_doubling_reduce, tree_scatter,           tree_gather,
              halving_doubling_all_reduce, doubling_all_gather,     halving_reduce_scatter, rotation_all_to_all};
  }
  throw std::invalid_argument("no such collective algorithm");
}

}  // namespace

std::vector<Transfer> transfers_of(OpKind kind, Algorithm algorithm, int n, std::int64_t elements, int root) {
  const std::string name(name_of(kind));
  if (!is_collective(kind)) throw std::invalid_argument(name + " is no collective");
  if (n < 1) throw std::invalid_argument(fmt::format("{} over {}", name, counted(n, "member")));
  if (root < 0 || root >= n) throw std::invalid_argument(fmt::format("{} from member {} of {}", name, root, n));
  if (elements < 0 || (has_parts(kind) && elements % n != 0))
    throw std::invalid_argument(
        fmt::format("{} of {} in {}", name, counted(elements, "element"), counted(n, "equal part")));
  const Builders build = builders_of(algorithm);
  if (kind == OpKind::broadcast) return build.broadcast(n, elements, root);
  if (kind == OpKind::reduce) return build.reduce(n, elements, root);
  if (kind == OpKind::scatter) return build.scatter(n, elements, root);
  if (kind == OpKind::gather) return build.gather(n, elements, root);
  if (kind == OpKind::all_reduce) return build.all_reduce(n, elements);
  if (kind == OpKind::all_gather) return build.all_gather(n, elements);
  if (kind == OpKind::reduce_scatter) return build.reduce_scatter(n, elements);
  if (kind == OpKind::all_to_all) return build.all_to_all(n, elements);
  throw std::invalid_argument(name + " has no transfer lists");
}

}  // namespace rankscope
