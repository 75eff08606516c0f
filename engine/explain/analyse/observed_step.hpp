// A step of an imported run as a linked step. No program says what its ops depend on, so it is inferred from times, and
// only for what a device does: an op that begins after its lane was idle waited for the op of the rank's other lanes
// that ended last before it. This is what the time line says an op waited for; idle time has causes of its own
// (add_observed in causes.cpp). The host's threads are no reason.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/step/facts.hpp"
#include "engine/step/step.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// What a rank gives to an exchange, in bytes; -1: unknown.
using GivenBytes = std::function<std::int64_t(int rank, OpId op)>;

/// The step `number` from its spans, in any order. `facts[r]` is rank r's. A collective is joined once all members that
/// its group is known to have are here; a message, once both ends are.
Step observed_step(std::span<const StepFacts> facts, const std::vector<Span>& spans, std::uint32_t number,
                   const GivenBytes& given = {});

/// Of each rank, for how long other members of its collectives waited until it arrived as the last one, in seconds: the
/// mean over those that ever waited for it, in step `number`. What it waited itself meanwhile, for others, is not its
/// own. Messages do not count: in a pipeline waiting is the rule.
std::vector<double> awaited_seconds(const Step& linked, const std::vector<Span>& spans, std::uint32_t number);

}  // namespace rankscope
