#include "engine/execute/comm/loopback.hpp"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <stdexcept>
#include <tuple>

#include "engine/execute/comm/loopback_collectives.hpp"
#include "engine/execute/comm/loopback_group.hpp"
#include "engine/op/words.hpp"

namespace rankscope {

using namespace comm;

class LoopbackHub {
 public:
  LoopbackHub(int ranks, CommOptions options) : ranks_(ranks), options_(std::move(options)) {}

  int ranks() const { return ranks_; }
  const CommOptions& options() const { return options_; }

  /// The `nth` group that these members create on this lane: one shared object.
  std::shared_ptr<LoopbackGroup> group(const std::vector<int>& members, Lane lane, Choice<CollectiveChoice> algorithm,
                                       int nth) {
    std::lock_guard lock(mutex_);
    Entry& entry = groups_[{members, lane, nth}];
    if (!entry.group) {
      entry = {std::make_shared<LoopbackGroup>(members, lane, options_.time_limit), algorithm};
      if (!failure_.empty()) entry.group->fail(failure_);
    }
    if (entry.algorithm != algorithm)
      throw std::invalid_argument(
          fmt::format("the group of {} on lane {} is asked for with the algorithms '{}' and '{}'", list_ranks(members),
                      name_of(lane), entry.algorithm.name(), algorithm.name()));
    return entry.group;
  }

  void throw_if_failed() {
    std::lock_guard lock(mutex_);
    if (!failure_.empty()) throw CommError(failure_);
  }

  std::atomic<bool> is_asked_to_stop = false;

  /// Fails every present and future group. The first reason is kept.
  void abort(const std::string& why) {
    std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = why;
    for (auto& [key, entry] : groups_) entry.group->fail(failure_);
  }

 private:
  struct Entry {
    std::shared_ptr<LoopbackGroup> group;
    Choice<CollectiveChoice> algorithm = CollectiveChoice::automatic;
  };
  const int ranks_;
  const CommOptions options_;
  std::mutex mutex_;
  std::map<std::tuple<std::vector<int>, Lane, int>, Entry> groups_;
  std::string failure_;
};

namespace {

class LoopbackCommunicator final : public GroupCommunicator {
 public:
  LoopbackCommunicator(std::shared_ptr<LoopbackHub> hub, std::shared_ptr<LoopbackGroup> group, GroupSetting setting)
      : GroupCommunicator(std::move(setting)), hub_(std::move(hub)), group_(std::move(group)) {}

 protected:
  CommResult move(Message& message, const char* call) override {
    move_all({&message, 1}, call, setting().options.time_limit);
    return {message.begin_ns, message.begin};
  }

  void move_all(std::span<Message> messages, const char* call, std::chrono::milliseconds limit) override {
    or_fail_all([&] { group_->exchange(index(), queue(), messages, call, limit); });
  }

  int wait_for_sender(std::span<const int> from, const char* call) override {
    int first = -1;
    or_fail_all([&] { first = group_->first_sender(index(), from, call); });
    return first;
  }

  CommResult rendezvous(const CollectiveCall& call) override {
    CommResult arrival;
    or_fail_all([&] { arrival.active_ns = group_->rendezvous(index(), queue(), call); });
    arrival.active = queue().mark();
    return arrival;
  }

  CommResult run_library(const CollectiveCall& call) override {
    const CommResult result = rendezvous(call);
    const MovedBytes moved = do_share(group_->calls(), index(), queue());
    group_->depart(index(), queue());
    for (int member = 0; member < setting().size(); ++member) count_sent(member, moved.sent[member]);
    count_received(moved.received);
    return result;
  }

 private:
  // The failure of one group fails the world: the other lanes' waits end with the same reason.
  template <class Work>
  void or_fail_all(Work work) {
    try {
      work();
    } catch (const CommError& error) {
      hub_->abort(error.what());
      throw;
    }
  }

  std::shared_ptr<LoopbackHub> hub_;
  std::shared_ptr<LoopbackGroup> group_;
};

class LoopbackWorld final : public World {
 public:
  LoopbackWorld(std::shared_ptr<LoopbackHub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {
    std::vector<int> everyone(hub_->ranks());
    for (int r = 0; r < hub_->ranks(); ++r) everyone[r] = r;
    all_ = group(everyone, Lane::copy, CollectiveChoice::automatic);  // the engine has no communicator on the copy lane
  }

  int rank() const override { return rank_; }
  int size() const override { return hub_->ranks(); }
  std::string_view name() const override { return "loopback"; }

  std::unique_ptr<Communicator> group(std::vector<int> members, Lane lane,
                                      Choice<CollectiveChoice> algorithm) override {
    GroupSetting setting = make_setting(std::move(members), rank_, size(), lane, algorithm, hub_->options());
    const int nth = made_[{setting.members, lane}]++;
    auto shared = hub_->group(setting.members, lane, algorithm, nth);
    return std::make_unique<LoopbackCommunicator>(hub_, std::move(shared), std::move(setting));
  }

  // Exchanges the lengths first, then all strings in parts of equal size, that of the longest string.
  std::vector<std::string> exchange(const std::string& mine) override {
    std::vector<std::int64_t> lengths(size());
    std::int64_t length = static_cast<std::int64_t>(mine.size());
    const auto eight = static_cast<std::int64_t>(sizeof length);
    all_->collective(
        {OpKind::all_gather, {lengths.data(), DType::u8, {eight * size()}}, {&length, DType::u8, {eight}}});
    std::int64_t longest = 0;
    for (std::int64_t one : lengths) longest = std::max(longest, one);
    std::string part = mine, whole(static_cast<std::size_t>(longest) * size(), '\0');
    part.resize(longest);
    all_->collective(
        {OpKind::all_gather, {whole.data(), DType::u8, {longest * size()}}, {part.data(), DType::u8, {longest}}});
    std::vector<std::string> all;
    for (int r = 0; r < size(); ++r) all.push_back(whole.substr(static_cast<std::size_t>(longest) * r, lengths[r]));
    return all;
  }

  void abort(const std::string& why) override { hub_->abort(why); }
  void throw_if_failed() override { hub_->throw_if_failed(); }
  void ask_to_stop() override { hub_->is_asked_to_stop = true; }
  bool is_asked_to_stop() override { return hub_->is_asked_to_stop; }

 private:
  std::shared_ptr<LoopbackHub> hub_;
  const int rank_;
  std::map<std::pair<std::vector<int>, Lane>, int> made_;
  std::unique_ptr<Communicator> all_;
};

}  // namespace

std::shared_ptr<LoopbackHub> make_loopback(int ranks, CommOptions options) {
  if (ranks < 1) throw std::invalid_argument(fmt::format("a world of {}", counted(ranks, "rank")));
  return std::make_shared<LoopbackHub>(ranks, std::move(options));
}

std::unique_ptr<World> world(std::shared_ptr<LoopbackHub> hub, int rank) {
  if (rank < 0 || rank >= hub->ranks())
    throw std::invalid_argument(fmt::format("rank {} of a world of {}", rank, hub->ranks()));
  return std::make_unique<LoopbackWorld>(std::move(hub), rank);
}

}  // namespace rankscope
