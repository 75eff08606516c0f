#include "tests/engine/comm/nccl/emulated_communicator.hpp"

#include <algorithm>
#include <cstring>

namespace emulated_nccl {

void Communicator::begin(const Collective& call, std::uint64_t number, const std::shared_ptr<Flight>& its_flight) {
  Clique::Slot& slot = clique->slots[number];
  slot.calls.resize(static_cast<std::size_t>(clique->ranks));
  slot.calls[static_cast<std::size_t>(rank)] = call;
  slot.flights.push_back(its_flight);
  slot.owners.push_back(this);
  if (static_cast<int>(slot.flights.size()) < clique->ranks) return;
  bool agree = true;
  for (const Collective& other : slot.calls)
    if (agree && other.signature() != call.signature()) {
      agree = false;
      note("members of a communicator call " + other.signature() + " and " + call.signature());
    }
  if (agree) {
    std::vector<const void*> touched;
    for (const Collective& one : slot.calls) touched.insert(touched.end(), {one.from, one.to});
    state().transfer(touched, [&slot] { perform(slot.calls); });
  }
  for (Communicator* owner : slot.owners)
    if (!agree) owner->error = NcclResult::invalid_usage;
  for (const auto& one : slot.flights) one->left = 0;
  clique->slots.erase(number);
  clique->changed.notify_all();
}

void Communicator::begin(const std::vector<Post>& posts, const std::shared_ptr<Flight>& its_flight) {
  for (Post post : posts) {
    post.owner = this;
    post.flight = its_flight;
    const int from = post.is_send ? rank : post.peer, to = post.is_send ? post.peer : rank;
    auto& others = clique->waiting(from, to, !post.is_send);
    if (others.empty()) {
      clique->waiting(from, to, post.is_send).push_back(post);
      continue;
    }
    const Post other = others.front();
    others.pop_front();
    if (bytes(post.type, post.count) != bytes(other.type, other.count)) {
      note("rank " + std::to_string(from) + " and rank " + std::to_string(to) + " mean different sizes of a message");
      error = NcclResult::invalid_usage;
    } else {
      void* const into = post.is_send ? other.data : post.data;
      const void* const sent = post.is_send ? post.data : other.data;
      state().transfer({into, sent}, [&] { std::memcpy(into, sent, bytes(post.type, post.count)); });
    }
    --post.flight->left;
    --other.flight->left;
    clique->changed.notify_all();
  }
}

void Communicator::withdraw() {
  for (auto& queue : clique->posts) std::erase_if(queue, [this](const Post& post) { return post.owner == this; });
  std::erase_if(clique->slots, [this](const auto& slot) {
    const auto& owners = slot.second.owners;
    return std::find(owners.begin(), owners.end(), this) != owners.end();
  });
}

}  // namespace emulated_nccl
