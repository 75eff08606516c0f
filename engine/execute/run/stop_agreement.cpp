#include "engine/execute/run/stop_agreement.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "engine/base/host/threads.hpp"

namespace rankscope {
namespace {

constexpr std::chrono::milliseconds look_every{20};

}  // namespace

std::unique_ptr<Communicator> group_to_stop(World& world) {
  std::vector<int> everyone(static_cast<std::size_t>(world.size()));
  std::iota(everyone.begin(), everyone.end(), 0);
  return world.group(everyone, Lane::checkpoint, CollectiveChoice::automatic);  // no program communicates on this lane
}

StopAgreement::StopAgreement(std::function<bool()> is_asked, std::optional<StopPeers> peers)
    : is_asked_(std::move(is_asked)),
      peers_(std::move(peers)),
      thread_(start_thread("waiting for a request to stop", [this] { work(); })) {}

StopAgreement::~StopAgreement() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  leaves_.notify_one();
  thread_.join();
}

bool StopAgreement::is_asked() {
  if (is_asked_()) {
    if (peers_) peers_->world->ask_to_stop();
    return true;
  }
  return peers_ && peers_->world->is_asked_to_stop();
}

std::uint32_t StopAgreement::greatest(std::uint32_t mine) {
  if (!peers_) return mine;
  auto sent = static_cast<std::int32_t>(mine);
  std::vector<std::int32_t> all(static_cast<std::size_t>(peers_->group->size()));
  peers_->group->collective({OpKind::all_gather,
                             {all.data(), DType::i32, {static_cast<std::int64_t>(all.size())}},
                             {&sent, DType::i32, {1}}});
  return static_cast<std::uint32_t>(*std::max_element(all.begin(), all.end()));
}

void StopAgreement::work() {
  try {
    for (std::unique_lock lock(mutex_); !leaving_; leaves_.wait_for(lock, look_every, [this] { return leaving_; }))
      if (is_asked()) break;
    limit_.go_on(greatest(limit_.hold()));
  } catch (const CommError&) {
    limit_.go_on(std::nullopt);  // the run has failed, and its ops report that
  }
}

}  // namespace rankscope
