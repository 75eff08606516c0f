#include "engine/execute/comm/nccl_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/execute/comm/clock.hpp"
#include "engine/op/words.hpp"

namespace rankscope::comm {

NcclCommunicator::NcclCommunicator(std::shared_ptr<NcclSession> session, std::unique_ptr<GroupCommunicator> host,
                                   GroupSetting its_setting)
    : GroupCommunicator(std::move(its_setting)), session_(std::move(session)), host_(std::move(host)) {
  if (size() == 1) return;
  for (const int rank : members())
    if (rank != setting().rank()) others_.push_back(rank);
  NcclUniqueId id{};
  if (index() == 0)
    if (const NcclResult result = session_->nccl().get_unique_id(&id); result != NcclResult::success)
      throw CommError(fmt::format("rank {}: NCCL gives no id for a group on lane {}: {}", setting().rank(),
                                  name_of(setting().lane), session_->nccl().error_string(result)));
  host_->collective({OpKind::broadcast, {id.bytes, DType::u8, {sizeof id.bytes}}, {}, 0});
  clique_ = std::make_unique<NcclClique>(*session_, id, setting());
}

bool NcclCommunicator::uses_rendezvous() const {
  return setting().options.stamp_arrivals || setting().lane == Lane::server;
}

// On the host only: the queues reach it later, and NCCL's kernels wait for each other there.
CommResult NcclCommunicator::rendezvous(const CollectiveCall& call) {
  if (!uses_rendezvous()) return {};
  CollectiveCall announced = call;
  announced.arrived = nullptr;
  const CommResult arrival = session_->or_fail([&] { return host_->rendezvous(announced); });
  return device().is_host() ? arrival : CommResult{};
}

int NcclCommunicator::wait_for_sender(std::span<const int> from, const char* call) {
  if (!uses_rendezvous())
    throw std::logic_error("NCCL does not know who sends first: members must meet (stamp_arrivals, or lane server)");
  return session_->or_fail([&] { return host_->wait_for_sender(from, call); });
}

// Both ends exchange the size on the host first.
CommResult NcclCommunicator::move(Message& message, const char* call) {
  CommResult arrival;
  if (uses_rendezvous()) {
    std::int64_t bytes = message.bytes();
    Message announced{message.is_send, false, message.peer, DType::u8, reinterpret_cast<std::byte*>(&bytes),
                      sizeof bytes};
    arrival = session_->or_fail([&] { return host_->move(announced, call); });
    if (bytes != message.bytes())  // the receiver's are the sender's now
      throw CommError(session_->fail(fmt::format("rank {} sends {} to rank {}, which expects {}, on lane {}",
                                                 setting().members[message.peer], counted(bytes, "byte"),
                                                 setting().rank(), message.bytes(), name_of(setting().lane))));
  }
  issue_messages({&message, 1}, call_, call, message.arrived, setting().options.time_limit);
  return device().is_host() ? arrival : CommResult{};
}

std::vector<LatePhase> NcclCommunicator::late_phases() {
  return clique_ && clique_->recorder() ? clique_->recorder()->take() : std::vector<LatePhase>{};
}

bool NcclCommunicator::awaits_late_phases() const {
  return clique_ && clique_->recorder() && clique_->recorder()->awaits_more();
}

void NcclCommunicator::issue(const char* call, const NcclWorks& works, const Mark& arrived, std::span<const int> peers,
                             std::chrono::milliseconds limit, const NcclClique::Enqueue& enqueue) {
  clique_->issue(call, works, peers, limit, enqueue);
  clique_->watch(call, arrived, queue().mark(), peers, limit);
}

void NcclCommunicator::issue_messages(std::span<const Message> messages, std::optional<std::uint64_t> inside_of,
                                      const char* call, const Mark& arrived, std::chrono::milliseconds limit) {
  std::vector<int> peers;
  for (const Message& m : messages)
    if (m.elements > 0) peers.push_back(setting().members[m.peer]);
  if (peers.empty()) return;
  const NcclStream stream = queue().handle();
  const NcclWorks works{static_cast<int>(peers.size()), inside_of};
  issue(call, works, arrived, peers, limit, [&](const NcclLibrary& nccl, NcclComm comm) {
    NcclResult result = nccl.group_start();
    for (const Message& m : messages) {
      if (m.elements == 0 || result != NcclResult::success) continue;
      const auto elements = static_cast<std::size_t>(m.elements);
      result = m.is_send ? nccl.send(m.data, elements, nccl_type_of(m.type), m.peer, comm, stream)
                         : nccl.receive(m.data, elements, nccl_type_of(m.type), m.peer, comm, stream);
    }
    const NcclResult ended = nccl.group_end();
    return result == NcclResult::success ? ended : result;
  });
}

void NcclCommunicator::move_all(std::span<Message> messages, const char* call, std::chrono::milliseconds limit) {
  std::int64_t needed = 0;
  for (const Message& m : messages) needed += m.add ? m.bytes() : 0;
  std::vector<Message> moved(messages.begin(), messages.end());
  std::byte* staged = staging_.at_least(needed, device(), &Device::reserve);
  for (Message& m : moved) {
    if (!m.add) continue;
    m.data = staged;
    staged += m.bytes();
  }
  const std::int64_t begin_ns = monotonic_ns();
  const Mark arrived = messages.empty() ? nullptr : messages.front().arrived;
  issue_messages(moved, {}, call, arrived, limit);  // its phases are known here
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (!messages[i].add) continue;
    void* const into[] = {messages[i].data};
    const void* const parts[] = {messages[i].data, moved[i].data};
    queue().sum(messages[i].type, into, parts, messages[i].elements);
  }
  const std::int64_t end_ns = monotonic_ns();
  const Mark done = queue().mark();
  for (Message& m : messages) {
    m.begin_ns = begin_ns, m.end_ns = end_ns;
    m.begin = arrived, m.moved = done;
  }
}

std::vector<Message> NcclCommunicator::messages_of(const CollectiveCall& call) {
  std::vector<Message> messages;
  const View& each = call.part;
  const std::int64_t elements = call.kind == OpKind::all_to_all ? each.elements() / size() : each.elements();
  const std::int64_t bytes = elements * bytes_of(each.type);
  const auto message = [&](bool is_send, int peer, std::byte* data) {
    messages.push_back({is_send, false, peer, each.type, data, elements});
  };
  const bool is_root = index() == call.root;
  if (call.kind != OpKind::all_to_all && !is_root) {
    message(call.kind == OpKind::gather, call.root, each.as<std::byte>());
    return messages;
  }
  for (int peer = 0; peer < size(); ++peer) {
    std::byte* place = call.whole.as<std::byte>() + peer * bytes;
    std::byte* own = call.kind == OpKind::all_to_all ? each.as<std::byte>() + peer * bytes : each.as<std::byte>();
    if (peer == index()) {
      if (call.kind == OpKind::gather)
        queue().copy(place, own, bytes);
      else
        queue().copy(own, place, bytes);
      continue;
    }
    if (call.kind != OpKind::gather) message(true, peer, place);
    if (call.kind == OpKind::gather) message(false, peer, place);
    if (call.kind == OpKind::all_to_all) message(false, peer, own);
  }
  return messages;
}

CommResult NcclCommunicator::run_library(const CollectiveCall& call) {
  const CommResult result = rendezvous(call);
  count_unknown();
  const char* name = call_name(call.kind);
  const auto limit = setting().options.time_limit;
  if (call.kind == OpKind::scatter || call.kind == OpKind::gather || call.kind == OpKind::all_to_all) {
    issue_messages(messages_of(call), call_, name, call.arrived, limit);
    return result;
  }
  const View& own = call.kind == OpKind::all_gather || call.kind == OpKind::reduce_scatter ? call.part : call.whole;
  const auto elements = static_cast<std::size_t>(own.elements());
  if (elements == 0) return result;
  const int type = nccl_type_of(own.type);
  const NcclStream stream = queue().handle();
  issue(name, {1, call_}, call.arrived, others_, limit, [&](const NcclLibrary& nccl, NcclComm comm) {
    void* data = call.whole.data;
    if (call.kind == OpKind::broadcast) return nccl.broadcast(data, data, elements, type, call.root, comm, stream);
    if (call.kind == OpKind::reduce) return nccl.reduce(data, data, elements, type, nccl_sum, call.root, comm, stream);
    if (call.kind == OpKind::all_reduce) return nccl.all_reduce(data, data, elements, type, nccl_sum, comm, stream);
    if (call.kind == OpKind::all_gather) return nccl.all_gather(call.part.data, data, elements, type, comm, stream);
    if (call.kind == OpKind::reduce_scatter)
      return nccl.reduce_scatter(data, call.part.data, elements, type, nccl_sum, comm, stream);
    throw std::logic_error(fmt::format("nccl has no {}", name));
  });
  return result;
}

}  // namespace rankscope::comm
