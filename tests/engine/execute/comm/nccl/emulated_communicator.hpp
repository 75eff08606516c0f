// A member of one of the emulated libnccl's communicators. For its own files.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/execute/comm/nccl_library.hpp"
#include "tests/engine/execute/comm/nccl/emulated_profiler.hpp"
#include "tests/engine/execute/comm/nccl/emulated_rendezvous.hpp"

namespace emulated_nccl {

using rankscope::comm::NcclResult;

class Communicator {
 public:
  Communicator(const std::string& rendezvous, int ranks, int rank, const char* name);

  int ranks() const { return rendezvous_.ranks(); }
  NcclResult state() const;
  NcclResult enqueue(const Collective& call, void* stream);
  /// Of one group.
  NcclResult enqueue(const std::vector<Post>& posts, void* stream);
  bool has_work_on_streams() const { return on_streams_ > 0; }
  /// As under NCCL, nothing reads or writes the member's memory when it returns.
  void abort();

  std::atomic<bool> finalised{false};
  std::atomic<int> inside{0};  ///< calls under way

 private:
  using Run = std::function<Outcome(const Rendezvous::Stop& stop)>;
  /// On a stream it waits there; else the caller asks whether it is done.
  NcclResult enqueue(std::vector<ProfiledWork> works, Run run, void* stream);
  void launch(std::vector<ProfiledWork> works, const Run& run);
  bool is_cut_off() const;

  Rendezvous rendezvous_;
  std::shared_ptr<Profiler> profiler_;  ///< null: there is no plug-in
  std::uint64_t next_ = 0;
  std::atomic<NcclResult> error_{NcclResult::success};
  std::atomic<bool> aborted_{false};
  std::atomic<int> on_streams_{0}, off_streams_{0};
  std::atomic<int> running_{0};  ///< works that have begun
};

}  // namespace emulated_nccl
