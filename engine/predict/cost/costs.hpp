// The three cost functions of a layout in time: of an op, of a link, of a collective.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "engine/plan/program/program.hpp"
#include "engine/predict/network/link.hpp"

namespace rankscope {

struct Costs {
  /// Nanoseconds of an op that is not a communication, on that rank.
  std::function<std::int64_t(const RankProgram&, const Op&)> compute_ns;
  std::function<Link(int from, int to)> link;
  /// Nanoseconds of a collective among `members` (world ranks, ascending) after all have arrived; `payload`: one rank's
  /// contribution. Empty: a ring over the links (ring_ns in link.hpp).
  std::function<std::int64_t(OpKind kind, std::span<const int> members, std::int64_t payload)> collective_ns;
};

}  // namespace rankscope
