#include "engine/execute/comm/nccl_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/host/threads.hpp"
#include "engine/execute/comm/clock.hpp"

namespace rankscope::comm {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds watch_interval = 20ms;
// Ranks leave a group at about the same time; a peer that does not has failed, and reports that itself.
constexpr std::chrono::milliseconds leave_limit = 2s;

std::vector<int> others_of(const GroupSetting& setting) {
  std::vector<int> others;
  for (const int rank : setting.members)
    if (rank != setting.rank()) others.push_back(rank);
  return others;
}

/// A kernel of NCCL's occupies multiprocessors while it waits for its peers. If other kernels occupy all of them, a
/// kernel cannot begin and its peers wait for ever: the kernels of all lanes together must fit on one GPU. Four lanes
/// of messages and at most five of collectives may run at once; the smallest supported GPU has 108 multiprocessors.
int most_blocks(Lane lane) {
  switch (lane) {
    case Lane::forward_send:
    case Lane::forward_receive:
    case Lane::backward_send:
    case Lane::backward_receive: return 8;
    case Lane::compute:
    case Lane::copy:
    case Lane::tensor:
    case Lane::data:
    case Lane::zero_gather:
    case Lane::zero_reduce:
    case Lane::checkpoint:
    case Lane::server:
    case Lane::host: return 14;
  }
  return 8;
}

/// Waits increasingly longer between two polls: NCCL creates connections in the background, and enqueues within some
/// microseconds.
class Backoff {
 public:
  void operator()() {
    if (monotonic_ns() - begin_ < 1'000'000)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(200us);
  }

 private:
  std::int64_t begin_ = monotonic_ns();
};

}  // namespace

NcclClique::NcclClique(NcclSession& session, const NcclUniqueId& id, const GroupSetting& setting)
    : session_(session),
      nccl_(session.nccl()),
      rank_(setting.rank()),
      lane_(setting.lane),
      others_(others_of(setting)),
      recorder_(setting.options.record_phases ? std::make_unique<NcclRecorder>(setting) : nullptr) {
  NcclConfig config(nccl_.version);
  config.max_ctas = most_blocks(lane_);
  config.comm_name = recorder_ ? recorder_->name() : nullptr;
  NcclResult result = NcclResult::success;
  {
    const std::lock_guard lock(mutex_);
    result = nccl_.init_rank(&comm_, setting.size(), id, setting.index, &config);
  }
  session_.add(*this);
  try {
    wait(result, last_call_, others_, session_.options().time_limit);
  } catch (...) {
    session_.remove(*this);
    abort();
    throw;
  }
}

NcclClique::~NcclClique() {
  session_.remove(*this);
  const std::lock_guard lock(mutex_);
  if (comm_ == nullptr) return;
  const auto deadline = deadline_after(leave_limit);
  NcclResult result = nccl_.finalize(comm_);
  for (Backoff backoff; result == NcclResult::in_progress && Clock::now() < deadline; backoff())
    if (nccl_.async_error(comm_, &result) != NcclResult::success) result = NcclResult::internal_error;
  if (result == NcclResult::success)
    nccl_.destroy(comm_);
  else
    nccl_.abort(comm_);
}

void NcclClique::issue(const char* call, const NcclWorks& works, std::span<const int> peers,
                       std::chrono::milliseconds limit, const Enqueue& enqueue) {
  session_.throw_if_failed();
  NcclResult result = NcclResult::success;
  {
    const std::lock_guard lock(mutex_);
    if (comm_ != nullptr) {
      last_call_ = call;
      if (recorder_) recorder_->begin_call(works);
      result = enqueue(nccl_, comm_);
    }
  }
  wait(result, call, peers, limit);
  if (recorder_) recorder_->end_call();
}

void NcclClique::wait(NcclResult result, const char* call, std::span<const int> peers,
                      std::chrono::milliseconds limit) {
  const auto deadline = deadline_after(limit);
  for (Backoff backoff; result == NcclResult::in_progress; backoff()) {
    session_.throw_if_failed();
    if (Clock::now() > deadline) throw CommError(session_.fail(timeout_message(rank_, limit, call, lane_, peers)));
    const std::lock_guard lock(mutex_);
    if (comm_ == nullptr) break;
    if (const NcclResult asked = nccl_.async_error(comm_, &result); asked != NcclResult::success) result = asked;
  }
  session_.throw_if_failed();  // an aborted call may return without an error
  if (result != NcclResult::success) throw CommError(session_.fail(words(result, call)));
}

std::string NcclClique::words(NcclResult result, const char* call) {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format("rank {}: {} on lane {} with {}: NCCL: {}", rank_, call, name_of(lane_),
                                 list_ranks(others_), nccl_.error_string(result));
  const char* last = comm_ != nullptr ? nccl_.last_error(comm_) : nullptr;
  if (last != nullptr && *last != '\0') text += ": " + std::string(last);
  return text;
}

void NcclClique::abort() {
  const std::lock_guard lock(mutex_);
  if (comm_ == nullptr) return;
  nccl_.abort(comm_);
  comm_ = nullptr;
}

void NcclClique::watch(const char* call, Mark arrived, Mark done, std::span<const int> peers,
                       std::chrono::milliseconds limit) {
  if (!done) return;  // the calling thread has done it
  const std::lock_guard lock(in_flight_mutex_);
  in_flight_.push_back({call, std::move(arrived), std::move(done), {peers.begin(), peers.end()}, limit});
}

std::string NcclClique::overdue() {
  const std::lock_guard lock(in_flight_mutex_);
  try {
    while (!in_flight_.empty() && in_flight_.front().done->reached()) in_flight_.pop_front();
    if (in_flight_.empty()) return {};
    CallInFlight& first = in_flight_.front();
    if (first.arrived && !first.arrived->reached()) return {};
    if (first.since_ns < 0) first.since_ns = monotonic_ns();
    if (monotonic_ns() - first.since_ns <= std::chrono::nanoseconds(first.limit).count()) return {};
    return timeout_message(rank_, first.limit, first.call, lane_, first.peers);
  } catch (const DeviceError& error) {
    return fmt::format("rank {}: {} on lane {}: {}", rank_, in_flight_.front().call, name_of(lane_), error.what());
  }
}

std::string NcclClique::trouble() {
  if (std::string late = overdue(); !late.empty()) return late;
  NcclResult result = NcclResult::success;
  const char* call = "";
  {
    // The caller detects it itself.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || comm_ == nullptr) return {};
    if (const NcclResult asked = nccl_.async_error(comm_, &result); asked != NcclResult::success) result = asked;
    call = last_call_;
  }
  if (result == NcclResult::success || result == NcclResult::in_progress) return {};
  return words(result, call);
}

NcclSession::NcclSession(std::shared_ptr<const NcclLibrary> library, std::unique_ptr<World> start_up,
                         CommOptions options)
    : library_(std::move(library)),
      start_up_(std::move(start_up)),
      options_(std::move(options)),
      watch_(start_thread("watching NCCL", [this] { watch(); })) {}

NcclSession::~NcclSession() {
  {
    const std::lock_guard lock(ending_mutex_);
    ends_ = true;
  }
  ending_.notify_all();
  watch_.join();
}

void NcclSession::add(NcclClique& clique) {
  const std::lock_guard lock(cliques_mutex_);
  cliques_.push_back(&clique);
}

void NcclSession::remove(NcclClique& clique) {
  const std::lock_guard lock(cliques_mutex_);
  std::erase(cliques_, &clique);
}

std::string NcclSession::fail(const std::string& why) {
  std::string first = why;
  start_up_->abort(why);
  try {
    start_up_->throw_if_failed();
  } catch (const CommError& error) {
    first = error.what();  // another rank's reason may have been reported first
  }
  // A thread that learns of the failure waits in remove(): it cannot finalise a communicator that is not aborted yet.
  const std::lock_guard cliques(cliques_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (failed_) return failure_;
    failed_ = true;
    failure_ = first;
  }
  for (NcclClique* clique : cliques_) clique->abort();
  return first;
}

void NcclSession::throw_if_failed() {
  const std::lock_guard lock(mutex_);
  if (failed_) throw CommError(failure_);
}

void NcclSession::watch() {
  std::unique_lock lock(ending_mutex_);
  while (!ending_.wait_for(lock, watch_interval, [this] { return ends_; })) {
    lock.unlock();
    std::string why;
    try {
      start_up_->throw_if_failed();
      const std::lock_guard cliques(cliques_mutex_);
      for (NcclClique* clique : cliques_)
        if (why.empty()) why = clique->trouble();
    } catch (const CommError& error) {
      why = error.what();
    }
    if (!why.empty()) fail(why);
    lock.lock();
  }
}

}  // namespace rankscope::comm
