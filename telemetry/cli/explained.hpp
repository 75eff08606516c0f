// Checks what a recording needs for valid figures, and writes the error messages.
#pragma once
#include <stdexcept>
#include <string>

#include "engine/explain/facts/imported.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "telemetry/cli/commands.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// Throws InputError if the run's description is missing.
inline void check_explained(const StoreView& run, const std::string& trace) {
  if (!run.hello())
    throw InputError(trace + ": the first message of the run is missing, so there are no valid figures");
  if (run.hello()->scenario_toml.empty() && !is_imported(run))
    throw InputError(trace + ": it contains no scenario, so there is no prediction to compare with");
}

/// The result of `explain`; its exceptions become an InputError that names the part of the recording.
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
