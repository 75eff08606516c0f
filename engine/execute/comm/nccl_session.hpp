// Shared by one rank's NCCL communicators: calls that return at once and are polled for their result, and a watch that
// aborts all of them when a peer is lost. Only for the nccl files of this folder.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/execute/comm/group.hpp"
#include "engine/execute/comm/nccl_library.hpp"
#include "engine/execute/comm/nccl_recorder.hpp"

namespace rankscope::comm {

class NcclSession;

/// One communicator of the library. The library allows one call at a time on each.
class NcclClique {
 public:
  /// Collective over the group's members, with the same id. Throws CommError if they do not arrive in time.
  NcclClique(NcclSession& session, const NcclUniqueId& id, const GroupSetting& setting);
  ~NcclClique();
  NcclClique(const NcclClique&) = delete;
  NcclClique& operator=(const NcclClique&) = delete;

  using Enqueue = std::function<NcclResult(const NcclLibrary& nccl, NcclComm comm)>;
  /// Enqueues these works, and returns when the library has done so. Throws CommError if the library returns an error,
  /// the session has failed, or time is up; the last names `peers` (world ranks) as the ranks waited for.
  void issue(const char* call, const NcclWorks& works, std::span<const int> peers, std::chrono::milliseconds limit,
             const Enqueue& enqueue);

  /// Watches a call that was issued to a device's queue, from the mark before it to the mark after it. If that takes
  /// longer than `limit`, the session fails.
  void watch(const char* call, Mark arrived, Mark done, std::span<const int> peers, std::chrono::milliseconds limit);

  /// Null if phases are not recorded.
  NcclRecorder* recorder() const { return recorder_.get(); }

  // For the session.
  // Stops its work in the library and on the device; nothing more is issued.
  void abort();
  /// Empty, or the reason why an enqueued call failed: NCCL reports an error, or it takes too long.
  std::string trouble();

 private:
  void wait(NcclResult result, const char* call, std::span<const int> peers, std::chrono::milliseconds limit);
  std::string words(NcclResult result, const char* call);
  std::string overdue();

  struct CallInFlight {
    const char* call = "";
    Mark arrived, done;
    std::vector<int> peers;
    std::chrono::milliseconds limit{};
    std::int64_t since_ns = -1;  ///< when the watch first found that the queue had reached it
  };

  NcclSession& session_;
  const NcclLibrary& nccl_;
  const int rank_;
  const Lane lane_;
  const std::vector<int> others_;  ///< world ranks
  const std::unique_ptr<NcclRecorder> recorder_;
  std::mutex mutex_;         ///< guards the members below, and calls of the library
  NcclComm comm_ = nullptr;  ///< null: aborted
  const char* last_call_ = "making a group";
  std::mutex in_flight_mutex_;
  std::deque<CallInFlight> in_flight_;  ///< in the queue's order
};

class NcclSession {
 public:
  /// `start_up` carries messages before NCCL can be used, and failure messages.
  NcclSession(std::shared_ptr<const NcclLibrary> library, std::unique_ptr<World> start_up, CommOptions options);
  ~NcclSession();
  NcclSession(const NcclSession&) = delete;
  NcclSession& operator=(const NcclSession&) = delete;

  const NcclLibrary& nccl() const { return *library_; }
  World& start_up() const { return *start_up_; }
  const CommOptions& options() const { return options_; }

  /// Fails this rank and notifies the others; ends all cliques. The first reason is kept and returned.
  std::string fail(const std::string& why);
  void throw_if_failed();
  /// Calls `work`, which uses the world that started NCCL; a failure there fails this session as well.
  template <class Work>
  auto or_fail(Work work) {
    throw_if_failed();
    try {
      return work();
    } catch (const CommError& error) {
      throw CommError(fail(error.what()));
    }
  }

  void add(NcclClique& clique);
  void remove(NcclClique& clique);

 private:
  void watch();

  std::shared_ptr<const NcclLibrary> library_;
  std::unique_ptr<World> start_up_;
  const CommOptions options_;

  std::mutex mutex_;  ///< guards the failure
  std::string failure_;
  bool failed_ = false;

  std::mutex cliques_mutex_;
  std::vector<NcclClique*> cliques_;

  std::mutex ending_mutex_;
  std::condition_variable ending_;
  bool ends_ = false;
  std::thread watch_;
};

}  // namespace rankscope::comm
