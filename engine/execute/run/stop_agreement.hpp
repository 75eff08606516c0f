// All ranks of a run end after the same step when any of them is asked to stop. Nothing is sent until then; the lanes
// of all ranks are then held while the ranks exchange how far they have come, and go on to the end of the latest step
// that one of them has begun.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/run/step_limit.hpp"

namespace rankscope {

/// What a rank that is a process needs to agree with the others.
struct StopPeers {
  World* world = nullptr;  ///< carries the request
  /// Of all ranks, in the host's memory, for this alone.
  std::unique_ptr<Communicator> group;
};
/// Collective, before the world becomes one of GPUs.
std::unique_ptr<Communicator> group_to_stop(World& world);

class StopAgreement {
 public:
  /// `is_asked` tells whether this process was asked to stop; it is called some times a second, on a thread of its own.
  /// Without peers all ranks are threads of this process.
  StopAgreement(std::function<bool()> is_asked, std::optional<StopPeers> peers);
  /// Call it when this process's ranks have ended; waits for the other processes', unless the world has failed: one
  /// that is asked meanwhile waits for the answer of all.
  ~StopAgreement();

  StepLimit& limit() { return limit_; }

 private:
  void work();
  bool is_asked();
  std::uint32_t greatest(std::uint32_t mine);

  const std::function<bool()> is_asked_;
  std::optional<StopPeers> peers_;
  StepLimit limit_;
  std::mutex mutex_;
  std::condition_variable leaves_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace rankscope
