// How the ops of a rank's lanes are run, and reported once they are done. On a host an op is done when its launch
// returns. On a GPU a launch only enqueues: lanes wait for each other by marks in their queues, and a separate thread
// later reads when each op ended. An op's begin needs no mark: it is the latest of the end of the previous op on its
// lane, the ends of the ops on other lanes that it waits for, and the time when the host began to launch it.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/run/lane_queues.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// The result of launching an op.
struct OpOutcome {
  std::int64_t active_ns = -1;  ///< when its peers had arrived (see CommResult); -1: at the op's begin
  Mark active{};                ///< the same on a queue
  std::int64_t wire_bytes = 0;  ///< sent; -1 unknown
  std::vector<PhaseRecord> phases{};
  std::vector<PeerBytes> sent{};  ///< by receiving rank, if known
};

/// An op of a step that is done; its phases have their times.
struct FinishedOp {
  OpIndex op = 0;
  Span span;
  OpOutcome outcome;
  /// The cost on the device alone: on a host the CPU time of its thread; on a GPU the time between its marks, measured
  /// while it had the device alone, if that was possible.
  std::int64_t cost_ns = 0;
};

/// The functions that a dispatch calls. For each op, `launch` is called from its lane's thread; the others from the
/// same thread on a host, and from one thread for all lanes on a GPU, in order of time.
struct DispatchCalls {
  std::function<OpOutcome(OpIndex op, std::uint32_t step)> launch;
  /// Updates the ledger: the op's new buffers are allocated, and buffers at their last use are freed.
  std::function<void(const Span&span, OpIndex op)> began, ended;
  std::function<void(FinishedOp done)> done;
  /// May be empty: the op has been launched. On its lane's thread and queue, before any later op: its results may be
  /// read, and the buffers at their last use may be changed.
  std::function<void(OpIndex op, std::uint32_t step)> launched{};
};

/// Steps that may be in flight on queues: lanes are at most this far ahead of the reports. Limits what is enqueued, and
/// the step data that must stay in place until it is reported.
inline constexpr std::uint32_t steps_in_flight = 4;
/// The same for a rank: an asynchronous server has steps open that others have finished.
inline std::uint32_t steps_in_flight_of(const RankProgram& program) {
  return steps_in_flight + static_cast<std::uint32_t>(program.arrivals_ahead.value_or(0));
}

class Dispatch {
 public:
  virtual ~Dispatch() = default;
  /// Before the lanes run steps from `first` on. Not `observed`: queues measure nothing, and call only `launch` and
  /// `launched`.
  virtual void begin(std::uint32_t first, bool observed) = 0;
  /// On the op's lane's thread, after all ops that it depends on have run.
  virtual void run(OpIndex op, std::uint32_t step) = 0;
  /// A lane has failed, and others may wait for it: their waits throw. Any thread.
  virtual void abort() = 0;
  /// After the lanes have ended: waits until all launched ops are done and reported. `failed`: pending reports are
  /// dropped. Throws the device's error, if any.
  virtual void end(bool failed) = 0;
};

/// All times are monotonic_ns() minus `start_ns`. References must outlive it.
std::unique_ptr<Dispatch> dispatch_on_host(const RankProgram& program, std::int64_t start_ns, DispatchCalls calls);

/// `measures_alone`: in the first two steps every compute op has the device to itself, one after the other over all
/// ranks that share it, so that costs are those of a device that is not shared.
std::unique_ptr<Dispatch> dispatch_on_queues(const RankProgram& program, std::int64_t start_ns, Device& device,
                                             LaneQueues& queues, bool measures_alone, DispatchCalls calls);

}  // namespace rankscope
