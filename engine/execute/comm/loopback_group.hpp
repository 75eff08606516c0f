// The rendezvous of a group's threads: messages between two members, and calls of all of them. Waiting threads sleep;
// the last to arrive does the copying, so that a message costs one wake-up.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/execute/comm/clock.hpp"
#include "engine/execute/comm/group.hpp"

namespace rankscope::comm {

class LoopbackGroup {
 public:
  LoopbackGroup(std::vector<int> members, Lane lane, std::chrono::milliseconds time_limit);

  /// Moves all messages of `member`, in both directions at once; each is paired with the peer's next one in the other
  /// direction. Throws CommError, once no other thread accesses the messages any more, if the group has failed or
  /// `limit` has elapsed. The copies that `member` makes are on its queue, which waits for the copies of others.
  void exchange(int member, Queue& queue, std::span<Message> messages, const char* call,
                std::chrono::milliseconds limit);

  /// Waits until one of these members sends to `member` and returns it: the first to arrive. Throws CommError if the
  /// group has failed or the time limit has elapsed.
  int first_sender(int member, std::span<const int> from, const char* call);

  /// Waits until every member has arrived with its call, and makes the queue wait until theirs reach it; returns when
  /// the last one did. Throws CommError if they do not agree, the time limit has elapsed or the group has failed.
  std::int64_t rendezvous(int member, Queue& queue, const CollectiveCall& call);
  /// The members' calls, between rendezvous and depart.
  std::span<const CollectiveCall> calls() const { return calls_; }
  /// Waits until no member needs the others' memory any more, and makes the queue wait until theirs reach that point.
  /// No time limit: all have arrived, and only copying remains.
  void depart(int member, Queue& queue);

  /// Ends every wait, also later ones, with CommError(why). The first reason is kept.
  void fail(const std::string& why);

 private:
  struct Post;
  struct Waiting {
    Post* head = nullptr;
    Post* tail = nullptr;
  };

  int size() const { return static_cast<int>(members_.size()); }
  Waiting& waiting(int from, int to) { return waiting_[static_cast<std::size_t>(from) * members_.size() + to]; }
  Waiting& waiting_of(int member, const Message& message);
  void post_all(int member, std::span<Post> posts);
  void withdraw(int member, std::span<Post> posts);
  void wake_all();

  const std::vector<int> members_;
  const Lane lane_;
  const std::chrono::milliseconds time_limit_;

  std::mutex mutex_;
  std::vector<std::condition_variable> wake_;  // by member
  std::vector<Waiting> waiting_;               // by ordered pair: messages that wait for their other end
  std::vector<bool> awaits_any_;               // by member: waits in first_sender
  std::uint64_t posts_ = 0;                    // so far, over all members
  std::string failure_;

  std::vector<CollectiveCall> calls_;  // by member
  std::vector<bool> has_arrived_;
  std::vector<Mark> arrived_;  // by member, of the last call: the next call begins after all have read them
  std::vector<Mark> done_;     // the same, when the call was done
  int arrivals_ = 0, departures_ = 0;
  std::uint64_t rendezvous_count_ = 0, depart_count_ = 0;
  std::int64_t rendezvous_ns_ = 0;
};

}  // namespace rankscope::comm
