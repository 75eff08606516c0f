#include "engine/worker/checkpoint_choice.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "engine/base/host/excerpt.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// A folder that exists and is empty but for its lock, or the one that this run itself will write: a job script that is
/// queued again and again has the same words the first time. A folder of another name may be a slip of the pen.
bool has_not_begun(const RunRequest& request) {
  std::error_code error;
  if (!checkpoints_in(request.resume).empty()) return false;
  if (!fs::exists(request.resume, error)) return fs::absolute(request.resume) == fs::path(request.checkpoint);
  return fs::is_directory(request.resume, error) &&
         std::ranges::all_of(fs::directory_iterator(request.resume, error),
                             [](const fs::directory_entry& entry) { return entry.path().filename() == "lock"; });
}

/// The checkpoint that `request.resume` names, or the newest complete one of the folder that it names, if the scenario
/// can continue from it; none if that folder has not had any yet. Throws ScenarioError.
RunRequest resumed(const Scenario& scenario, RunRequest request) {
  if (has_not_begun(request)) {
    std::cerr << "rankscope-engine: --resume " << request.resume
              << ": there is no checkpoint yet, so training begins at step 0" << std::endl;
    request.resume.clear();
    return request;
  }
  const WholeCheckpoint found = newest_whole_checkpoint(fs::absolute(request.resume).string());
  if (!found.checkpoint) throw ScenarioError("--resume " + no_whole_checkpoint(request.resume, found));
  const Checkpoint& checkpoint = *found.checkpoint;
  if (const auto mismatch = checkpoint.find_mismatch(scenario)) throw ScenarioError("--resume: " + *mismatch);
  if (checkpoint.steps_done() >= scenario.train.steps)
    throw ScenarioError(fmt::format("--resume {}: it has done {} and train.steps is {}; give --steps with more",
                                    checkpoint.directory(), counted(checkpoint.steps_done(), "step"),
                                    scenario.train.steps));
  report_choice(found);
  request.resume = checkpoint.directory();
  return request;
}

/// Two runs that write to one folder would mix their checkpoints. Throws ScenarioError with the holder's name.
FileLock lock_checkpoints(const std::string& folder) {
  std::string trouble;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw ScenarioError("--checkpoint " + folder + ": " + error.message());
  FileLock lock = FileLock::take((fs::path(folder) / "lock").string(), trouble);
  if (!trouble.empty())
    throw ScenarioError("--checkpoint " + folder + ": another run writes there: " + trouble +
                        "; wait until it ends, or choose another folder");
  return lock;
}

}  // namespace

void report_choice(const WholeCheckpoint& found) {
  for (const std::string& damage : found.passed_over)
    std::cerr << "rankscope-engine: passed over a damaged checkpoint: " << message_line(damage) << std::endl;
  if (found.checkpoint && !found.checkpoint->has_checked_headers())
    std::cerr << "rankscope-engine: " << found.checkpoint->directory()
              << ": written before manifests had the headers' crc32: the bytes of tensors are checked, their names and "
                 "places "
                 "are not verified"
              << std::endl;
}

RunRequest with_checkpoints(const Scenario& scenario, RunRequest request, FileLock& lock) {
  if (scenario.train.checkpoint_every == 0 && (!request.checkpoint.empty() || request.restarts > 0))
    throw ScenarioError(std::string(request.checkpoint.empty() ? "--restarts" : "--checkpoint") +
                        ": no checkpoints are requested; add --checkpoint-every STEPS, or train.checkpoint_every to "
                        "the scenario");
  if (scenario.train.checkpoint_every > 0) {
    if (request.checkpoint.empty())
      request.checkpoint =
          (scenario.file.empty() ? std::string("run") : fs::path(scenario.file).stem().string()) + ".checkpoints";
    request.checkpoint = fs::absolute(request.checkpoint).string();
    if (fs::is_directory(request.checkpoint)) lock = lock_checkpoints(request.checkpoint);
  }
  if (!request.resume.empty()) request = resumed(scenario, std::move(request));
  // New checkpoints among those of an older run could not be distinguished.
  if (!request.checkpoint.empty() && request.resume.empty())
    if (const auto older = checkpoints_in(request.checkpoint); !older.empty())
      throw ScenarioError("--checkpoint " + request.checkpoint + ": an earlier run has left checkpoints there, up to " +
                          fs::path(older.back()).filename().string() + "; go on from them with --resume " +
                          request.checkpoint + ", or choose another folder");
  if (!request.checkpoint.empty() && !lock.is_held()) lock = lock_checkpoints(request.checkpoint);
  return request;
}

}  // namespace rankscope
