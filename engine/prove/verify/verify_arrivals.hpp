// Verifying asynchronous parameter servers. The result of such a run depends on the order of arrivals, so there is no
// single rank to compare it with. But the order in which each server served its workers determines everything
// else: the run is recorded, and that order is replayed serially, without servers. For this folder's
// own files.
#pragma once
#include <memory>

#include "engine/execute/run/job.hpp"
#include "engine/prove/verify/verify.hpp"

namespace rankscope {

/// A run of the program (StepProgram::arrivals_ahead) for parity::steps steps, and its replay.
class ComparedArrivals {
 public:
  /// Runs both. Throws RunFailure if the run fails, or if a server has let a worker be further ahead than the
  /// bound. The arguments passed by reference must outlive it.
  ComparedArrivals(const StepProgram& step, const RunSettings& settings, std::uint32_t gradient_steps);
  ~ComparedArrivals();

  /// Each contribution's gradients, as the server received them (those of the first `gradient_steps` steps), the
  /// losses, and the parameters of servers and workers at the end.
  ParityErrors errors() const;
  /// The same for another replay, the twin of that number (parity::change_roundings).
  ParityErrors twin_errors(int twin) const;
  /// ParityRun::summaries.
  const std::vector<StepSummary>& summaries() const;

 private:
  struct Both;
  std::unique_ptr<Both> both_;
};

}  // namespace rankscope
