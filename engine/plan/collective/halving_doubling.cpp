#include "engine/plan/collective/algorithms.hpp"

#include "engine/plan/collective/list.hpp"

namespace rankscope {

using namespace collective;

namespace {

// The members that halve and double: a power of two. The first `folded` represent two members each, so that
// every range of actors is a range of chunks.
struct Actors {
  int n, power = 1, folded;

  explicit Actors(int members) : n(members) {
    while (power * 2 <= n) power *= 2;
    folded = n - power;
  }
  int member(int actor) const { return actor < folded ? 2 * actor : actor + folded; }
  int partner(int actor) const { return 2 * actor + 1; }  // the member folded into it; actor < folded
  int first_chunk(int actor) const { return actor < folded ? 2 * actor : actor + folded; }
};

// Every actor sends its peer's half of its range, and adds the received data to its own half; ranges start
// complete and end at the actor's own chunks. Returns the phases used.
int halve(std::vector<Transfer>& list, const Actors& actors, std::int64_t elements, int phase) {
  int phases = 0;
  for (int half = actors.power / 2; half > 0; half /= 2, ++phases)
    for (int actor = 0; actor < actors.power; ++actor) {
      const int peer = actor ^ half, first = peer & ~(half - 1);
      move_chunks(list, actors.n, elements, phase + phases, actors.first_chunk(first), actors.first_chunk(first + half),
                  actors.member(actor), actors.member(peer), true);
    }
  return phases;
}

// The reverse: every actor sends its peer all that it has.
int double_up(std::vector<Transfer>& list, const Actors& actors, std::int64_t elements, int phase) {
  int phases = 0;
  for (int half = 1; half < actors.power; half *= 2, ++phases)
    for (int actor = 0; actor < actors.power; ++actor) {
      const int first = actor & ~(half - 1);
      move_chunks(list, actors.n, elements, phase + phases, actors.first_chunk(first), actors.first_chunk(first + half),
                  actors.member(actor), actors.member(actor ^ half), false);
    }
  return phases;
}

int fold_all(std::vector<Transfer>& list, const Actors& actors, std::int64_t elements) {
  for (int actor = 0; actor < actors.folded; ++actor)
    move_chunks(list, actors.n, elements, 0, 0, actors.n, actors.partner(actor), actors.member(actor), true);
  return actors.folded > 0 ? 1 : 0;
}

}  // namespace

std::vector<Transfer> halving_reduce_scatter(int n, std::int64_t elements) {
  const Actors actors(n);
  std::vector<Transfer> list;
  int phase = fold_all(list, actors, elements);
  phase += halve(list, actors, elements, phase);
  for (int actor = 0; actor < actors.folded; ++actor) {
    const int partner = actors.partner(actor);
    move_chunks(list, n, elements, phase, partner, partner + 1, actors.member(actor), partner, false);
  }
  return list;
}

std::vector<Transfer> doubling_all_gather(int n, std::int64_t elements) {
  const Actors actors(n);
  std::vector<Transfer> list;
  for (int actor = 0; actor < actors.folded; ++actor) {
    const int partner = actors.partner(actor);
    move_chunks(list, n, elements, 0, partner, partner + 1, partner, actors.member(actor), false);
  }
  int phase = actors.folded > 0 ? 1 : 0;
  phase += double_up(list, actors, elements, phase);
  for (int actor = 0; actor < actors.folded; ++actor) {
    const int partner = actors.partner(actor);  // has its own chunk already
    move_chunks(list, n, elements, phase, 0, partner, actors.member(actor), partner, false);
    move_chunks(list, n, elements, phase, partner + 1, n, actors.member(actor), partner, false);
  }
  return list;
}

std::vector<Transfer> halving_doubling_all_reduce(int n, std::int64_t elements) {
  const Actors actors(n);
  std::vector<Transfer> list;
  int phase = fold_all(list, actors, elements);
  phase += halve(list, actors, elements, phase);
  phase += double_up(list, actors, elements, phase);
  for (int actor = 0; actor < actors.folded; ++actor)
    move_chunks(list, n, elements, phase, 0, n, actors.member(actor), actors.partner(actor), false);
  return list;
}

std::vector<Transfer> halving_doubling_broadcast(int n, std::int64_t elements, int root) {
  return then(tree_scatter(n, elements, root), tree_depth(n), doubling_all_gather(n, elements));
}

std::vector<Transfer> halving_doubling_reduce(int n, std::int64_t elements, int root) {
  const Actors actors(n);
  const int phases = tree_depth(actors.power) + (actors.folded > 0 ? 2 : 0);
  return then(halving_reduce_scatter(n, elements), phases, tree_gather(n, elements, root));
}

}  // namespace rankscope
