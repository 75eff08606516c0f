#include "tests/engine/execute/comm/nccl/emulated_communicator.hpp"

#include <chrono>
#include <map>
#include <thread>

#include "tests/engine/execute/comm/nccl/emulated_state.hpp"

namespace emulated_nccl {
namespace {

std::string function_of(const std::string& name) {
  static const std::map<std::string, std::string> functions{{"broadcast", "Broadcast"},
                                                            {"reduce", "Reduce"},
                                                            {"all_reduce", "AllReduce"},
                                                            {"all_gather", "AllGather"},
                                                            {"reduce_scatter", "ReduceScatter"}};
  return functions.at(name);
}

/// Counts during its lifetime.
class Running {
 public:
  explicit Running(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Running() { --count_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::atomic<int>& count_;
};

}  // namespace

Communicator::Communicator(const std::string& rendezvous, int ranks, int rank, const char* name)
    : rendezvous_(rendezvous, ranks, rank),
      profiler_(Profiler::open(name, std::hash<std::string>{}(rendezvous), ranks, rank)) {}

bool Communicator::is_cut_off() const {
  const int lost = emulated_nccl::state().lost_rank;
  return aborted_ || (lost >= 0 && lost != rendezvous_.member() && lost < rendezvous_.ranks());
}

NcclResult Communicator::state() const {
  if (error_ != NcclResult::success) return error_;
  return off_streams_ > 0 || !rendezvous_.is_complete() ? NcclResult::in_progress : NcclResult::success;
}

NcclResult Communicator::enqueue(const Collective& call, void* stream) {
  ProfiledWork work;
  work.function = function_of(call.name);
  work.bytes = bytes(call.type, call.count);
  return enqueue(
      {work}, [this, call, number = next_++](const auto& stop) { return rendezvous_.run(call, number, stop); }, stream);
}

NcclResult Communicator::enqueue(const std::vector<Post>& posts, void* stream) {
  std::vector<ProfiledWork> works;
  for (const Post& post : posts) {
    ProfiledWork& work = works.emplace_back();
    work.function = post.is_send ? "Send" : "Recv";
    work.peer = post.peer;
    work.bytes = bytes(post.type, post.count);
  }
  return enqueue(
      std::move(works), [this, posts](const auto& stop) { return rendezvous_.run(posts, stop); }, stream);
}

NcclResult Communicator::enqueue(std::vector<ProfiledWork> works, Run run, void* stream) {
  for (ProfiledWork& work : works)
    if (profiler_) profiler_->enqueued(work);
  if (stream == nullptr) {
    ++off_streams_;
    std::thread([this, works = std::move(works), run = std::move(run)] {
      launch(works, run);
      --off_streams_;
    }).detach();
    return NcclResult::in_progress;
  }
  ++on_streams_;
  emulated_nccl::state().enqueue(stream, [this, works = std::move(works), run = std::move(run)] {
    launch(works, run);
    --on_streams_;
  });
  return NcclResult::success;
}

void Communicator::abort() {
  aborted_ = true;
  while (running_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  rendezvous_.remove_name();
}

void Communicator::launch(std::vector<ProfiledWork> works, const Run& run) {
  const Running running(running_);
  if (aborted_ || error_ != NcclResult::success) return;
  for (ProfiledWork& work : works)
    if (profiler_) profiler_->began(work);
  const Outcome outcome = run([this] { return is_cut_off(); });
  for (const ProfiledWork& work : works)
    if (profiler_ && outcome == Outcome::done) profiler_->ended(work);
  if (outcome == Outcome::disagreed) error_ = NcclResult::invalid_usage;
  if (outcome == Outcome::stopped && !aborted_) error_ = NcclResult::remote_error;
}

}  // namespace emulated_nccl
