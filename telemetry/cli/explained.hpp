// What a recording must have before its numbers mean anything, and how refusals name what is wrong with it.
#pragma once
#include <stdexcept>
#include <string>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "telemetry/cli/commands.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// Throws InputError where the run does not say what it is.
inline void check_explained(const StoreView& run, const std::string& trace) {
  if (!run.hello()) throw InputError(trace + ": the run's first message is missing, so its numbers mean nothing");
  if (run.hello()->scenario_toml.empty())
    throw InputError(trace + ": it carries no scenario, so what its numbers should be compared with is unknown");
}

/// What `explain` returns; what it refuses becomes an InputError that names the part of the recording.
template <class Explain>
auto explained(const std::string& trace, Explain explain) {
  try {
    return explain();
  } catch (const ScenarioError& error) {
    throw InputError(trace + ": its scenario: " + error.what());
  } catch (const PlanError& error) {
    throw InputError(trace + ": its plan: " + error.what());
  } catch (const std::invalid_argument& error) {
    throw InputError(trace + ": its program: " + error.what());
  }
}

}  // namespace rankscope
