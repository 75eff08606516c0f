// Finds the rank that died and its last step: the supervisor's conclusion from summaries, ends, the launcher's output
// and the child's exit status.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/event/event.hpp"

namespace rankscope {

/// How the child (a worker, or the launcher of all workers) ended.
struct ChildExit {
  int status = 0;  ///< of exit(); meaningless with a signal
  int signal = 0;  ///< that killed it; 0: none
  bool ok() const { return status == 0 && signal == 0; }
};
/// From the status returned by waitpid.
ChildExit child_exit(int wait_status);

struct Verdict {
  bool ok = true;
  std::int32_t rank = -1;       ///< the one that failed first; -1: none, or unknown
  std::int64_t last_step = -1;  ///< the last step that this rank finished (rank -1: that all ranks finished)
  bool stopped = false;         ///< the ranks ended well, and early because they were asked to
  bool died = false;            ///< that rank ended without a message
  bool explained = false;       ///< that rank has reported the error itself
  std::string message;          ///< one line, for the user
  End end() const { return {-1, ok, last_step, message, false, rank}; }  ///< the session's
};

class SessionWatch : public EventSink {
 public:
  void accept(const Message& message) override;
  void accept_encoded(const EncodedMessage& message) override;
  /// A line of the launcher's standard error. Open MPI names the rank: "… process rank 2 with PID 7 on node n exited on
  /// signal 9".
  void read_launcher_line(std::string_view line);

  /// This rank's process was lost, as reported by its parent.
  void lost(std::int32_t rank);

  /// That rank's process has sent its heartbeat, which is not an event.
  void alive(std::int32_t rank);
  /// That rank has finished that step, from any source: its own report may be in flight when it is killed.
  void finished(std::int32_t rank, std::int64_t step);

  /// Ranks that have not ended and have sent nothing for longer than `limit`: no event and no heartbeat, counted from
  /// the run's begin if they never sent any. `not_before`: the earliest begin of this time.
  std::vector<std::int32_t> silent(std::chrono::milliseconds limit,
                                   std::chrono::steady_clock::time_point not_before = {}) const;
  std::int64_t last_step(std::int32_t rank) const;  ///< -1: none
  std::int64_t greatest_step() const;               ///< of all ranks; -1: none
  /// The first step whose loss is not finite.
  std::optional<std::uint32_t> loss_not_finite_since() const;
  std::int64_t unended() const;                     ///< ranks that have not ended
  /// Call it when the child has ended and the relay has read the spools (Relay::finish).
  Verdict verdict(ChildExit exit) const;

 private:
  struct Rank {
    std::int64_t last_step = -1;
    std::optional<End> end;
    std::int64_t ended_as = 0;  // 1 for the first rank to end, and so on
    std::chrono::steady_clock::time_point last_received{};
  };
  void note_received(std::int32_t rank);
  std::optional<std::int32_t> culprit(ChildExit exit) const;
  std::int64_t common_last_step() const;

  mutable std::mutex mutex_;  // the relay's thread writes, the supervisor's reads
  std::map<std::int32_t, Rank> ranks_;
  std::int32_t expected_ = 0;
  std::int64_t ended_ = 0;
  std::optional<std::uint32_t> loss_not_finite_since_;
  std::optional<std::int32_t> named_by_launcher_;
};

}  // namespace rankscope
