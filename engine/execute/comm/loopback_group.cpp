#include "engine/execute/comm/loopback_group.hpp"

#include <fmt/format.h>

#include "engine/op/words.hpp"

namespace rankscope::comm {

// A message that waits in a queue, or is being moved. The group's mutex guards all but `message`'s data.
struct LoopbackGroup::Post {
  enum class State { waiting, moving, done };
  Message* message = nullptr;
  int member = 0;
  State state = State::waiting;
  std::uint64_t number = 0;  // the group's posts in order of arrival
  Post* next = nullptr;
  Post* to_move = nullptr;  // the other end, if this end arrived second and therefore copies
};

LoopbackGroup::LoopbackGroup(std::vector<int> members, Lane lane, std::chrono::milliseconds time_limit)
    : members_(std::move(members)),
      lane_(lane),
      time_limit_(time_limit),
      wake_(members_.size()),
      waiting_(members_.size() * members_.size()),
      awaits_any_(members_.size()),
      calls_(members_.size()),
      has_arrived_(members_.size()),
      arrived_(members_.size()),
      done_(members_.size()) {}

void LoopbackGroup::wake_all() {
  for (auto& wake : wake_) wake.notify_all();
}

void LoopbackGroup::fail(const std::string& why) {
  std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = why;
  wake_all();
}

LoopbackGroup::Waiting& LoopbackGroup::waiting_of(int member, const Message& message) {
  return message.is_send ? waiting(member, message.peer) : waiting(message.peer, member);
}

// A queue holds either sends or receives: an arriving post removes its counterpart.
void LoopbackGroup::post_all(int member, std::span<Post> posts) {
  for (Post& post : posts) {
    Waiting& open = waiting_of(member, *post.message);
    if (open.head && open.head->message->is_send != post.message->is_send) {
      Post* other = open.head;
      const Message& sent = post.message->is_send ? *post.message : *other->message;
      const Message& received = post.message->is_send ? *other->message : *post.message;
      if (sent.bytes() != received.bytes()) {
        failure_ = fmt::format("rank {} sends {} to rank {}, which expects {}, on lane {}", members_[received.peer],
                               counted(sent.bytes(), "byte"), members_[sent.peer], received.bytes(), name_of(lane_));
        wake_all();
        return;
      }
      open.head = other->next;
      if (!open.head) open.tail = nullptr;
      post.to_move = other;
      post.state = other->state = Post::State::moving;
      post.message->begin_ns = other->message->begin_ns = monotonic_ns();
    } else {
      (open.tail ? open.tail->next : open.head) = &post;
      open.tail = &post;
      post.number = posts_++;
      if (post.message->is_send && awaits_any_[post.message->peer]) wake_[post.message->peer].notify_all();
    }
  }
}

void LoopbackGroup::withdraw(int member, std::span<Post> posts) {
  for (Post& post : posts) {
    if (post.state != Post::State::waiting) continue;
    Waiting& open = waiting_of(member, *post.message);
    Post* before = nullptr;
    for (Post* at = open.head; at; before = at, at = at->next) {
      if (at != &post) continue;
      (before ? before->next : open.head) = at->next;
      if (open.tail == at) open.tail = before;
      break;
    }
  }
}

void LoopbackGroup::exchange(int member, Queue& queue, std::span<Message> messages, const char* call,
                             std::chrono::milliseconds limit) {
  constexpr std::size_t few = 4;  // enough for a ring; only wide phases allocate
  Post on_stack[few];
  std::vector<Post> on_heap(messages.size() > few ? messages.size() : 0);
  const std::span<Post> posts = on_heap.empty() ? std::span(on_stack).first(messages.size()) : std::span(on_heap);
  for (std::size_t i = 0; i < posts.size(); ++i) {
    posts[i].message = &messages[i];
    posts[i].member = member;
  }
  const auto deadline = deadline_after(limit);

  std::unique_lock lock(mutex_);
  if (!failure_.empty()) throw CommError(failure_);
  post_all(member, posts);
  for (Post& post : posts) {
    if (!post.to_move) continue;
    lock.unlock();
    Message& sent = post.message->is_send ? *post.message : *post.to_move->message;
    Message& received = post.message->is_send ? *post.to_move->message : *post.message;
    // Only the second to arrive can do this: by then the other's mark exists.
    queue.wait_for(post.to_move->message->arrived);
    sent.begin = received.begin = queue.mark();
    if (received.add) {
      void* const into[] = {received.data};
      const void* const parts[] = {received.data, sent.data};
      queue.sum(received.type, into, parts, received.elements);
    } else {
      queue.copy(received.data, sent.data, sent.bytes());
    }
    sent.moved = received.moved = queue.mark();
    lock.lock();
    sent.end_ns = received.end_ns = monotonic_ns();
    post.state = post.to_move->state = Post::State::done;
    wake_[post.to_move->member].notify_all();
  }

  auto none_is = [&](Post::State state) {
    for (const Post& post : posts)
      if (post.state == state) return false;
    return true;
  };
  const bool in_time =
      wake_[member].wait_until(lock, deadline, [&] { return !failure_.empty() || none_is(Post::State::waiting); });
  if (none_is(Post::State::waiting)) {  // an active transfer is only a copy and ends soon
    wake_[member].wait(lock, [&] { return none_is(Post::State::moving); });
    lock.unlock();
    for (const Message& message : messages) queue.wait_for(message.moved);
    return;
  }
  std::vector<int> missing;
  for (const Post& post : posts)
    if (post.state == Post::State::waiting) missing.push_back(members_[post.message->peer]);
  withdraw(member, posts);
  wake_[member].wait(lock, [&] { return none_is(Post::State::moving); });
  if (!in_time && failure_.empty()) {
    failure_ = timeout_message(members_[member], limit, call, lane_, missing);
    wake_all();
  }
  throw CommError(failure_);
}

int LoopbackGroup::first_sender(int member, std::span<const int> from, const char* call) {
  const auto deadline = deadline_after(time_limit_);
  std::unique_lock lock(mutex_);
  int first = -1;
  const auto find = [&] {
    std::uint64_t earliest = 0;
    for (const int peer : from)
      if (const Post* post = waiting(peer, member).head; post && post->message->is_send)
        if (first < 0 || post->number < earliest) first = peer, earliest = post->number;
    return first >= 0 || !failure_.empty();
  };
  awaits_any_[member] = true;
  const bool in_time = wake_[member].wait_until(lock, deadline, find);
  awaits_any_[member] = false;
  if (failure_.empty() && in_time) return first;
  if (failure_.empty()) {
    std::vector<int> missing;
    for (const int peer : from) missing.push_back(members_[peer]);
    failure_ = timeout_message(members_[member], time_limit_, call, lane_, missing);
    wake_all();
  }
  throw CommError(failure_);
}

std::int64_t LoopbackGroup::rendezvous(int member, Queue& queue, const CollectiveCall& call) {
  const auto deadline = deadline_after(time_limit_);
  std::unique_lock lock(mutex_);
  if (!failure_.empty()) throw CommError(failure_);
  calls_[member] = call;
  has_arrived_[member] = true;
  const std::uint64_t rendezvous = rendezvous_count_;
  if (++arrivals_ == size()) {
    for (int other = 0; other < size() && failure_.empty(); ++other)
      if (word_of(calls_[other]) != word_of(call))
        failure_ =
            fmt::format("rank {} calls {}, rank {} {}, on lane {}", members_[other], describe(word_of(calls_[other])),
                        members_[member], describe(word_of(call)), name_of(lane_));
    if (failure_.empty()) {
      ++rendezvous_count_;
      arrivals_ = 0;
      has_arrived_.assign(has_arrived_.size(), false);
      rendezvous_ns_ = monotonic_ns();
      for (int other = 0; other < size(); ++other) arrived_[other] = calls_[other].arrived;
    }
    wake_all();
  } else {
    wake_[member].wait_until(lock, deadline, [&] { return rendezvous_count_ != rendezvous || !failure_.empty(); });
  }
  if (rendezvous_count_ != rendezvous) {  // also if the group has failed since: the others now depend on this member
    for (int other = 0; other < size(); ++other)
      if (other != member) queue.wait_for(arrived_[other]);
    return rendezvous_ns_;
  }
  if (failure_.empty()) {
    std::vector<int> missing;
    for (int other = 0; other < size(); ++other)
      if (!has_arrived_[other]) missing.push_back(members_[other]);
    failure_ = timeout_message(members_[member], time_limit_, call_name(call.kind), lane_, missing);
    wake_all();
  }
  throw CommError(failure_);
}

void LoopbackGroup::depart(int member, Queue& queue) {
  Mark done = queue.mark();
  std::unique_lock lock(mutex_);
  done_[member] = std::move(done);
  const std::uint64_t departs = depart_count_;
  if (++departures_ == size()) {
    ++depart_count_;
    departures_ = 0;
    wake_all();
  } else {
    wake_[member].wait(lock, [&] { return depart_count_ != departs; });
  }
  // No member can finish its next call before this member has joined that call.
  for (int other = 0; other < size(); ++other)
    if (other != member) queue.wait_for(done_[other]);
}

}  // namespace rankscope::comm
