#include "engine/execute/run/clock_fit.hpp"

#include <limits>
#include <memory>
#include <vector>

#include "engine/base/host/clock.hpp"

namespace rankscope {
namespace {

constexpr int round_trips = 16;

struct Fit {
  std::int64_t offset_ns = 0, uncertainty_ns = 0;
};

View bytes_of_value(void* value, std::int64_t bytes) { return {value, DType::u8, Shape{bytes}}; }

/// Rank 0's side: asks the other member.
Fit ask(Communicator& pair) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  Fit fit;
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t theirs = 0;
    const std::int64_t begin = monotonic_ns();
    pair.send(bytes_of_value(&theirs, sizeof theirs), 1);
    pair.receive(bytes_of_value(&theirs, sizeof theirs), 1);
    const std::int64_t took = monotonic_ns() - begin;
    if (took < least) {
      least = took;
      fit = {begin + took / 2 - theirs, took / 2};
    }
  }
  return fit;
}

void answer(Communicator& pair) {
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t mine = 0;
    pair.receive(bytes_of_value(&mine, sizeof mine), 0);
    mine = monotonic_ns();
    pair.send(bytes_of_value(&mine, sizeof mine), 0);
  }
}

}  // namespace

CommonStart fit_clock(World& world) {
  CommonStart start;
  if (world.rank() > 0) {
    const auto pair = world.group({0, world.rank()}, Lane::copy, CollectiveChoice::automatic);
    answer(*pair);
    pair->receive(bytes_of_value(&start, sizeof start), 0);
    return start;
  }
  std::vector<std::unique_ptr<Communicator>> pairs;
  std::vector<Fit> fits;
  for (int other = 1; other < world.size(); ++other) {
    pairs.push_back(world.group({0, other}, Lane::copy, CollectiveChoice::automatic));
    fits.push_back(ask(*pairs.back()));
  }
  start.start_ns = monotonic_ns();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    CommonStart theirs{start.start_ns - fits[i].offset_ns, fits[i].uncertainty_ns};
    pairs[i]->send(bytes_of_value(&theirs, sizeof theirs), 1);
  }
  return start;
}

}  // namespace rankscope
