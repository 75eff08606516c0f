// SPDX-License-Identifier: GPL-3.0-or-later
// The ops that an op had to wait for, and the ops of all ranks in time order, for stepping
// op by op.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/step/step.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

enum class Needs : std::uint8_t {
  lane,    ///< the op before it on its lane
  data,    ///< an op of another lane whose result it uses
  before,  ///< an op of the previous step
  peer,    ///< the other end of its message, or a member of its collective: it has to arrive
};
struct Dependency {
  Needs needs = Needs::lane;
  std::int32_t rank = 0;
  std::uint32_t step = 0;
  OpId op;
  bool here = false;         ///< the store has its span
  std::int64_t time_ns = 0;  ///< when it ended; a peer: when it arrived
};

/// All that `span` had to wait for, the latest first, those without a span at the end. `linked` is its step.
std::vector<Dependency> dependencies_of(const StoreView& view, const Step& linked, Obtained obtained, const Span& span);

/// Lines such as "waited for: receive of activations, micro-batch 0 (ended 3 µs earlier)", "previous op on this lane:
/// forward, micro-batch 0 (ended 1.2 ms earlier)" and "also after: …".
std::vector<std::string> dependency_lines(const StoreView& view, const std::vector<Dependency>& dependencies,
                                          const Span& span);

/// The op of any rank and lane that begins next (`by` > 0) or before; if several begin at once, by rank and lane.
std::optional<std::pair<LaneKey, Span>> in_time(const StoreView& view, Obtained obtained, LaneKey lane,
                                                const Span& from, int by);

}  // namespace rankscope
