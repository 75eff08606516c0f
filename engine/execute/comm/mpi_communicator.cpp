#include "engine/execute/comm/mpi_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/op/words.hpp"
#include "kernels/tensor/sum.hpp"

namespace rankscope::comm {

namespace {

// Tags of a group's communicator. A send and a receive may be in progress at once, so each has its own arrival tag;
// pairs are distinguished by their source.
constexpr int data_tag = 1, sender_ready_tag = 2, receiver_ready_tag = 3, arrive_tag = 4, release_tag = 5;

constexpr std::int64_t piece_bytes = std::int64_t{1} << 30;  // MPI counts with int

}  // namespace

MpiCommunicator::MpiCommunicator(std::shared_ptr<MpiProcess> process, MPI_Comm comm, GroupSetting setting)
    : GroupCommunicator(std::move(setting)), process_(std::move(process)), comm_(comm) {}

MpiCommunicator::~MpiCommunicator() {
  try {
    process_->throw_if_failed();
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  } catch (const CommError&) {  // requests may still be open: the communicator is kept until the process ends
    process_->keep(std::move(staging_));
  }
}

void MpiCommunicator::wait(std::span<MPI_Request> requests, const char* call, std::span<const int> peers,
                           MpiProcess::Waiting what, std::chrono::milliseconds limit) {
  auto too_late = [&] {
    std::vector<int> missing;
    for (std::size_t i = 0; i < peers.size(); ++i)
      if (requests.size() != peers.size() || requests[i] != MPI_REQUEST_NULL) missing.push_back(peers[i]);
    return timeout_message(setting().rank(), limit, call, setting().lane, missing);
  };
  process_->wait(requests, deadline_after(limit), too_late, what);
}

void MpiCommunicator::start(const Message& message, std::byte* data, std::vector<MPI_Request>& requests) {
  std::int64_t at = 0;
  do {  // also once for an empty message: it still synchronises both ends
    const int bytes = static_cast<int>(std::min(piece_bytes, message.bytes() - at));
    MPI_Request request = MPI_REQUEST_NULL;
    if (message.is_send)
      check("MPI_Issend", MPI_Issend(data + at, bytes, MPI_BYTE, message.peer, data_tag, comm_, &request));
    else
      check("MPI_Irecv", MPI_Irecv(data + at, bytes, MPI_BYTE, message.peer, data_tag, comm_, &request));
    requests.push_back(request);
    at += bytes;
  } while (at < message.bytes());
}

void MpiCommunicator::refuse_sizes(const Message& message, std::int64_t theirs) {
  const int me = setting().rank(), peer = setting().members[message.peer];
  const std::int64_t sent = message.is_send ? message.bytes() : theirs;
  const std::int64_t expected = message.is_send ? theirs : message.bytes();
  throw CommError(process_->fail(fmt::format("rank {} sends {} to rank {}, which expects {}, on lane {}",
                                             message.is_send ? me : peer, counted(sent, "byte"),
                                             message.is_send ? peer : me, expected, name_of(setting().lane))));
}

// Each end reports its arrival and its number of bytes to the other, the receiver after posting its receive. The sender
// then sends. So both record when bytes could move, and no message needs to be buffered for a receiver that has not
// arrived.
CommResult MpiCommunicator::move(Message& message, const char* call) {
  process_->throw_if_failed();
  const int peer_rank = setting().members[message.peer];
  const int both[] = {peer_rank, peer_rank};
  std::vector<int> peers;
  std::vector<MPI_Request> requests;
  std::int64_t active_ns = -1;
  if (!message.is_send) start(message, message.data, requests);
  if (setting().options.stamp_arrivals) {
    const int mine = message.is_send ? sender_ready_tag : receiver_ready_tag;
    const int theirs = message.is_send ? receiver_ready_tag : sender_ready_tag;
    // After a failed wait MPI may use them until the process ends.
    auto memory = std::make_unique_for_overwrite<std::byte[]>(2 * sizeof(std::int64_t));
    auto* bytes = reinterpret_cast<std::int64_t*>(memory.get());
    bytes[0] = message.bytes();
    try {
      MPI_Request arrived[2];
      check("MPI_Irecv", MPI_Irecv(&bytes[1], sizeof bytes[1], MPI_BYTE, message.peer, theirs, comm_, &arrived[0]));
      check("MPI_Isend", MPI_Isend(&bytes[0], sizeof bytes[0], MPI_BYTE, message.peer, mine, comm_, &arrived[1]));
      wait(arrived, call, both, MpiProcess::Waiting::for_peers, setting().options.time_limit);
    } catch (...) {
      process_->keep(std::move(memory));
      throw;
    }
    active_ns = monotonic_ns();
    if (bytes[1] != message.bytes()) {
      for (MPI_Request& request : requests) MPI_Cancel(&request), MPI_Request_free(&request);
      refuse_sizes(message, bytes[1]);
    }
  }
  if (message.is_send) start(message, message.data, requests);
  peers.assign(requests.size(), peer_rank);
  wait(requests, call, peers, active_ns < 0 ? MpiProcess::Waiting::for_peers : MpiProcess::Waiting::for_bytes,
       setting().options.time_limit);
  return {active_ns};
}

int MpiCommunicator::wait_for_sender(std::span<const int> from, const char* call) {
  process_->throw_if_failed();
  const int tag = setting().options.stamp_arrivals ? sender_ready_tag : data_tag;
  int found = -1;
  const auto look = [&] {
    for (std::size_t i = 0; i < from.size() && found < 0; ++i) {
      const int peer = from[++looked_last_ % from.size()];
      int has_arrived = 0;
      check("MPI_Iprobe", MPI_Iprobe(peer, tag, comm_, &has_arrived, MPI_STATUS_IGNORE));
      if (has_arrived) found = peer;
    }
    return found >= 0;
  };
  const auto too_late = [&] {
    std::vector<int> missing;
    for (const int peer : from) missing.push_back(setting().members[peer]);
    return timeout_message(setting().rank(), setting().options.time_limit, call, setting().lane, missing);
  };
  process_->wait_until(look, deadline_after(setting().options.time_limit), too_late, MpiProcess::Waiting::for_peers);
  return found;
}

void MpiCommunicator::move_all(std::span<Message> messages, const char* call, std::chrono::milliseconds limit) {
  process_->throw_if_failed();
  std::int64_t needed = 0;
  for (const Message& m : messages) needed += m.add ? m.bytes() : 0;
  if (needed > staging_bytes_) {
    staging_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(needed));
    staging_bytes_ = needed;
  }
  std::vector<MPI_Request> requests;
  std::vector<int> peers;
  std::byte* staged = staging_.get();
  const std::int64_t begin_ns = monotonic_ns();
  for (const Message& m : messages) {  // receives first, so that sent data have a posted buffer
    if (m.is_send) continue;
    start(m, m.add ? staged : m.data, requests);
    peers.resize(requests.size(), setting().members[m.peer]);
    if (m.add) staged += m.bytes();
  }
  for (const Message& m : messages) {
    if (m.is_send) start(m, m.data, requests);
    peers.resize(requests.size(), setting().members[m.peer]);
  }
  wait(requests, call, peers, MpiProcess::Waiting::for_bytes, limit);
  staged = staging_.get();
  for (const Message& m : messages) {
    if (!m.add) continue;
    add_to(m.type, m.data, staged, m.elements);
    staged += m.bytes();
  }
  const std::int64_t end_ns = monotonic_ns();
  for (Message& m : messages) m.begin_ns = begin_ns, m.end_ns = end_ns;
}

CommResult MpiCommunicator::rendezvous(const CollectiveCall& call) {
  process_->throw_if_failed();
  if (!setting().options.stamp_arrivals) return {};
  return {
      arrive(*process_,
             {comm_, setting().members, index(), arrive_tag, release_tag, call_name(call.kind), setting().lane, true},
             word_of(call))};
}

CommResult MpiCommunicator::run_library(const CollectiveCall& call) {
  const CommResult result = rendezvous(call);
  count_unknown();
  std::vector<MPI_Request> requests;
  start_library(call, requests);
  std::vector<int> others;
  for (int rank : setting().members)
    if (rank != setting().rank()) others.push_back(rank);
  wait(requests, call_name(call.kind), others, MpiProcess::Waiting::for_collective, setting().options.time_limit);
  if (call.kind == OpKind::reduce_scatter && call.part.data == part_in(call.whole, call.part, index()))
    queue().copy(call.part.data, call.whole.data, call.part.bytes());  // see start_library
  return result;
}

}  // namespace rankscope::comm
