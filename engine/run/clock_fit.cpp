#include "engine/run/clock_fit.hpp"

#include <limits>

#include "engine/run/clock.hpp"

namespace rankscope {
namespace {

constexpr int round_trips = 16;

struct Fit {
  std::int64_t offset_ns = 0, uncertainty_ns = 0;
};

View bytes_of_value(void* value, std::int64_t bytes) { return {value, DType::u8, Shape{bytes}}; }

/// Rank 0's side: asks the other member, then tells it the fit.
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
  pair.send(bytes_of_value(&fit, sizeof fit), 1);
  return fit;
}

Fit answer(Communicator& pair) {
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t mine = 0;
    pair.receive(bytes_of_value(&mine, sizeof mine), 0);
    mine = monotonic_ns();
    pair.send(bytes_of_value(&mine, sizeof mine), 0);
  }
  Fit fit;
  pair.receive(bytes_of_value(&fit, sizeof fit), 0);
  return fit;
}

}  // namespace

ClockRecord fit_clock(World& world, std::int64_t start_ns) {
  Fit fit;
  if (world.rank() == 0) {
    for (int other = 1; other < world.size(); ++other) ask(*world.group({0, other}, Lane::copy, "auto"));
  } else {
    fit = answer(*world.group({0, world.rank()}, Lane::copy, "auto"));
  }
  return {world.rank(), monotonic_ns() - start_ns, fit.offset_ns, fit.uncertainty_ns};
}

}  // namespace rankscope
