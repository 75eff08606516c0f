// The interface that receives a rank's events while it runs. Telemetry, tests and the emulated clock implement it.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "engine/plan/program/ledger.hpp"
#include "engine/plan/program/program.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// The costs of a rank's step and its executed order: the input of the device clock.
struct StepTrace {
  ResidentBytes resident;
  std::vector<std::int64_t> cpu_ns;                       ///< by op: CPU time of its thread
  std::array<std::vector<OpIndex>, lane_count> executed;  ///< per lane, in the order of execution
  /// Of an asynchronous server's contributions, in the order of `executed`: the number of earlier ones, any step.
  std::vector<std::uint64_t> arrivals;
};

/// Calls are made from the lanes' threads, at most one at a time per lane, and must not block. Times are monotonic_ns()
/// stamps minus the run's start. An observer overrides the functions that it uses.
class RankObserver {
 public:
  virtual ~RankObserver() = default;
  /// False: it does not use the events. Called before each RankRun::run(): on a GPU nothing is then measured, and no
  /// event is sent to it.
  virtual bool observes() const { return true; }
  virtual void span(Lane, const Span&) {}
  virtual void memory(Lane, const MemorySample&) {}
  virtual void phase(Lane, const PhaseSpan&) {}
  /// All lanes have finished the step.
  virtual void step_done(const StepSummary& summary, const StepTrace& trace) = 0;
};

}  // namespace rankscope
