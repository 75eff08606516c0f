// A run's checkpoints: the folder that is its own, the checkpoint that it continues from, and what is said of those
// that are passed over.
#pragma once
#include <string>

#include "engine/base/host/file_lock.hpp"
#include "engine/execute/checkpoint/checkpoint.hpp"
#include "engine/worker/worker.hpp"

namespace rankscope {

/// Says on standard error which newer checkpoints were passed over, what is damaged in each, and what of the one that
/// is used could not be checked. A line each, and none where there is nothing to say.
void report_choice(const WholeCheckpoint& found);

/// Where the run finds and leaves its checkpoints, as absolute paths: request.resume becomes the newest whole one of
/// the folder that it names. The folder that is written to is made, and locked until the lock's end. Throws
/// ScenarioError.
RunRequest with_checkpoints(const Scenario& scenario, RunRequest request, FileLock& lock);

}  // namespace rankscope
