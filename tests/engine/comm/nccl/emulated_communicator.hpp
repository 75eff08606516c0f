// The members of the emulated libnccl's communicators, and what they meet in. For its own files.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/comm/nccl_library.hpp"
#include "tests/engine/comm/nccl/emulated_collective.hpp"
#include "tests/engine/comm/nccl/emulated_state.hpp"

namespace emulated_nccl {

using rankscope::comm::NcclResult;

struct Communicator;

/// What one call still waits for.
struct Flight {
  std::atomic<int> left{1};
};

struct Post {
  bool is_send = false;
  int peer = 0, type = 0;
  std::size_t count = 0;
  void* data = nullptr;
  const Communicator* owner = nullptr;
  std::shared_ptr<Flight> flight;
};

/// What the members of one communicator meet in.
struct Clique {
  explicit Clique(int n) : ranks(n), posts(static_cast<std::size_t>(n) * n * 2) {}
  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int> joined;
  struct Slot {
    std::vector<Collective> calls;
    std::vector<std::shared_ptr<Flight>> flights;  ///< of the members that have come
    std::vector<Communicator*> owners;
  };
  std::map<std::uint64_t, Slot> slots;
  std::vector<std::deque<Post>> posts;  ///< by from, to, and which of the two waits
  std::deque<Post>& waiting(int from, int to, bool sender) {
    return posts[(static_cast<std::size_t>(from) * ranks + to) * 2 + (sender ? 1 : 0)];
  }
};

struct Communicator {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  std::uint64_t next = 0;
  std::atomic<NcclResult> error{NcclResult::success};
  std::atomic<bool> aborted{false}, finalised{false};
  std::atomic<int> inside{0}, on_streams{0};
  std::shared_ptr<Flight> flight;  ///< of the call that is not on a stream

  bool is_cut_off() const {
    const int lost = state().lost_rank;
    return aborted || (lost >= 0 && lost != rank && lost < clique->ranks);
  }

  // These three under the clique's lock.
  void begin(const Collective& call, std::uint64_t number, const std::shared_ptr<Flight>& its_flight);
  void begin(const std::vector<Post>& posts, const std::shared_ptr<Flight>& its_flight);
  /// Nobody may touch this member's memory any more.
  void withdraw();

  /// On a stream the work waits there; else the caller asks whether it is done.
  template <class Work>
  NcclResult enqueue(void* stream, int parts, Work work) {
    auto its_flight = std::make_shared<Flight>();
    its_flight->left = parts;
    if (stream == nullptr) {
      const std::lock_guard lock(clique->mutex);
      work(its_flight);
      flight = its_flight;
      return its_flight->left > 0 ? NcclResult::in_progress : error.load();
    }
    ++on_streams;
    state().enqueue(stream, [this, its_flight, work] {
      std::unique_lock lock(clique->mutex);
      if (!aborted && error == NcclResult::success) {
        work(its_flight);
        clique->changed.wait(lock, [&] { return its_flight->left == 0 || is_cut_off(); });
        if (its_flight->left > 0) {
          withdraw();
          if (!aborted) error = NcclResult::remote_error;
        }
      }
      --on_streams;
    });
    return NcclResult::success;
  }
};

}  // namespace emulated_nccl
