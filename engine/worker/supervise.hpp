// The supervisor's parts, for commands that run plans: `run` runs one, and continues after a loss; `sweep` runs many.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/base/progress/progress.hpp"
#include "engine/explain/facts/facts.hpp"
#include "engine/worker/worker.hpp"

namespace rankscope {

/// Refuses what can be refused before anything is made. Throws ScenarioError and JoinError.
void check_request(const RunRequest& request);
/// Refuses `--comm nccl` where this host lacks a GPU or the library; other hosts' ranks look for theirs. Throws
/// ScenarioError.
void check_nccl(const RunRequest& request);
/// Data files are named from the scenario's folder, which the worker does not know.
Scenario with_absolute_data(Scenario scenario);

/// From now on SIGINT, SIGTERM and SIGHUP end the session that runs, and are remembered.
void stop_on_signals();
bool stop_was_asked();

/// The outcome of a session.
struct SessionOutcome {
  int status = 0;                        ///< exit status
  bool lost_a_rank = false;              ///< it ended before its last step
  std::optional<RunFacts> facts;         ///< of the steps that it finished, if it finished any
  std::string message;                   ///< the error, one line; empty: none
  std::vector<std::string> last_output;  ///< the workers' last output, if no rank can be named
};

/// One session: starts the workers and waits for their end. What went wrong with them is the outcome's; throws
/// TraceError, JoinError and std::runtime_error for what could not be started.
SessionOutcome run_session(const Scenario& scenario, const RunRequest& request, const Progress& progress = {});

}  // namespace rankscope
