// The supervisor's parts, for commands that run plans: `run` runs one, and continues after a loss; `sweep` runs many.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/base/progress/progress.hpp"
#include "engine/explain/facts/facts.hpp"
#include "engine/worker/worker.hpp"

namespace rankscope {

/// Rejects invalid requests before anything is created. Throws ScenarioError and JoinError.
void check_request(const RunRequest& request);
/// Rejects `--comm nccl` if this host lacks a GPU or the library; other hosts' ranks check theirs. Throws
/// ScenarioError.
void check_nccl(const RunRequest& request);
/// Makes paths of data files absolute: they are relative to the scenario's folder, which the worker does not have.
Scenario with_absolute_data(Scenario scenario);

/// The outcome of a session.
struct SessionOutcome {
  int status = 0;                        ///< engine/worker/exit_status.hpp
  bool lost_a_rank = false;              ///< it ended before its last step
  std::optional<RunFacts> facts;         ///< of its finished steps, if any
  std::string message;                   ///< the error, one line; empty: none
  std::vector<std::string> last_output;  ///< the workers' last output, if no rank can be named
};

/// One session: starts the workers and waits for their end. Their errors are part of the outcome; throws
/// TraceError, JoinError and std::runtime_error if something cannot be started.
SessionOutcome run_session(const Scenario& scenario, const RunRequest& request, const Progress& progress = {});

}  // namespace rankscope
