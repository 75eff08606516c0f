// A run's checkpoints: its own folder, the checkpoint that it continues from, and the messages about skipped
// checkpoints.
#pragma once
#include <string>

#include "engine/base/host/file_lock.hpp"
#include "engine/execute/checkpoint/checkpoint.hpp"
#include "engine/worker/worker.hpp"

namespace rankscope {

/// Reports on standard error which newer checkpoints were skipped, the damage in each, and which parts of the used one
/// could not be checked. One line each.
void report_choice(const WholeCheckpoint& found);

/// The run's paths to read and write checkpoints, made absolute: request.resume becomes the newest complete one of
/// the folder that it names. The output folder is created, and locked until the lock's end. Throws
/// ScenarioError.
RunRequest with_checkpoints(const Scenario& scenario, RunRequest request, FileLock& lock);

}  // namespace rankscope
