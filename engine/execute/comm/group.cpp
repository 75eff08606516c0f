#include "engine/execute/comm/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/execute/comm/clock.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"

namespace rankscope::comm {

GroupSetting make_setting(std::vector<int> members, int rank, int world_size, Lane lane,
                          Choice<CollectiveChoice> algorithm, const CommOptions& options) {
  GroupSetting setting{std::move(members), -1, lane, algorithm_of(algorithm), options};
  const auto& ranks = setting.members;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < 0 || ranks[i] >= world_size || (i > 0 && ranks[i] <= ranks[i - 1]))
      throw std::invalid_argument(fmt::format("a group's members are ranks below {}, ascending, each once; got {}",
                                              world_size, list_ranks(ranks)));
    if (ranks[i] == rank) setting.index = static_cast<int>(i);
  }
  if (setting.index < 0)
    throw std::invalid_argument(fmt::format("rank {} is not in the group of {}", rank, list_ranks(ranks)));
  return setting;
}

std::string list_ranks(std::span<const int> ranks) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), shown); ++i)
    text += fmt::format("{}{}", i ? ", rank " : "rank ", ranks[i]);
  if (ranks.size() > shown) text += fmt::format(" and {} more", ranks.size() - shown);
  return text.empty() ? "no rank" : text;
}

std::string timeout_message(int rank, std::chrono::milliseconds limit, const char* call, Lane lane,
                            std::span<const int> missing) {
  const auto ms = limit.count();
  std::vector<int> once;  // a peer that should have sent and received is listed once
  for (const int one : missing)
    if (!contains(once, one)) once.push_back(one);
  const std::string time = ms % 1000 == 0 ? fmt::format("{} s", ms / 1000) : fmt::format("{} ms", ms);
  return fmt::format("rank {} waited {} in {} on lane {} for {}", rank, time, call, name_of(lane), list_ranks(once));
}

std::string describe(const CallWord& word) {
  const auto [kind, root, type, elements] = word;
  return fmt::format("{} of {} {}{}", name_of(static_cast<OpKind>(kind)), elements, name_of(static_cast<DType>(type)),
                     root < 0 ? "" : fmt::format(" with root {}", root));
}

namespace {

// The view that every member has: in a scatter or gather `whole` may be empty except at the root.
const View& common_view(const CollectiveCall& call) { return has_parts(call.kind) ? call.part : call.whole; }

// Elements of the buffer that the transfer list works on.
std::int64_t list_elements(const CollectiveCall& call, int members) {
  return has_parts(call.kind) && call.kind != OpKind::all_to_all ? call.part.elements() * members
                                                                 : call.whole.elements();
}

void check(const CollectiveCall& call, const GroupSetting& setting) {
  const int n = setting.size();
  auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(
        fmt::format("rank {}: {} on lane {}: {}", setting.rank(), name_of(call.kind), name_of(setting.lane), why));
  };
  if (!is_collective(call.kind)) refuse("it is no collective");
  if (call.root < 0 || call.root >= n) refuse(fmt::format("root {} is none of {}", call.root, counted(n, "member")));
  if (!has_parts(call.kind)) return;
  const bool uses_whole = !has_root(call.kind) || setting.index == call.root;
  if (!uses_whole) return;
  const std::int64_t expected = call.kind == OpKind::all_to_all ? call.part.elements() : call.part.elements() * n;
  if (call.whole.type != call.part.type)
    refuse(fmt::format("the whole is {}, its parts {}", name_of(call.whole.type), name_of(call.part.type)));
  if (call.whole.elements() != expected)
    refuse(fmt::format("{} where {} belong", counted(call.whole.elements(), "element"), expected));
  if (call.kind == OpKind::all_to_all && call.whole.elements() % n != 0)
    refuse(fmt::format("{} are not {}", counted(call.whole.elements(), "element"), counted(n, "equal part")));
}

// A buffer that contains the elements from `first` on.
struct Placed {
  std::byte* data = nullptr;
  std::int64_t first = 0;
  std::byte* at(std::int64_t element, DType type) const { return data + (element - first) * bytes_of(type); }
};

}  // namespace

CallWord word_of(const CollectiveCall& call) {
  const View& view = common_view(call);
  return {static_cast<std::int64_t>(call.kind), has_root(call.kind) ? call.root : -1,
          static_cast<std::int64_t>(view.type), view.elements()};
}

void* part_in(const View& whole, const View& part, int index) { return whole.as<std::byte>() + index * part.bytes(); }

WireBytes GroupCommunicator::wire_bytes() const {
  if (opaque_) return {-1, -1};
  return {sent_, received_};
}

void GroupCommunicator::count_sent(int member, std::int64_t bytes) {
  if (bytes == 0) return;
  sent_ += bytes;
  const int peer = setting_.members[member];
  const auto known = std::ranges::find_if(last_sent_, [&](const PeerBytes& s) { return s.peer == peer; });
  if (known == last_sent_.end())
    last_sent_.push_back({peer, bytes});
  else
    known->bytes += bytes;
}

int GroupCommunicator::first_sender(std::span<const int> from) {
  constexpr const char* call = "receive";
  if (setting_.options.before) setting_.options.before(setting_.rank(), setting_.lane, call);
  for (const int peer : from)
    if (peer < 0 || peer >= size() || peer == index())
      throw std::invalid_argument(fmt::format("rank {}: waits for member {} of {}", setting_.rank(), peer, size()));
  if (from.empty()) throw std::invalid_argument(fmt::format("rank {}: waits for nobody", setting_.rank()));
  return wait_for_sender(from, call);
}

CommResult GroupCommunicator::point_to_point(View data, int peer, bool is_send) {
  const char* call = is_send ? "send" : "receive";
  if (setting_.options.before) setting_.options.before(setting_.rank(), setting_.lane, call);
  if (peer < 0 || peer >= size() || peer == index())
    throw std::invalid_argument(fmt::format("rank {}: {} with member {} of {}", setting_.rank(), call, peer, size()));
  Message message{is_send, false, peer, data.type, data.as<std::byte>(), data.elements()};
  message.arrived = queue_->mark();
  const CommResult result = move(message, call);
  if (is_send) {
    last_sent_.clear();
    count_sent(peer, message.bytes());
  } else {
    count_received(message.bytes());
  }
  return result;
}

void GroupCommunicator::stage_through_host(Device& device, Queue& queue) { stage_.emplace(Stage{device, queue}); }

View GroupCommunicator::Stage::take(int which, const View& tensor) {
  if (tensor.data == nullptr) return tensor;
  std::byte* const here = memory[which].at_least(tensor.bytes(), device, &Device::reserve_host);
  queue.copy(here, tensor.data, tensor.bytes());
  return {here, tensor.type, tensor.shape};
}

void GroupCommunicator::Stage::give_back(const View& here, const View& tensor) {
  queue.copy(tensor.data, here.data, tensor.bytes());
}

template <class Call>
CommResult GroupCommunicator::through_host(const View& whole, const View& part, Call call) {
  if (!stage_) return call(whole, part);
  const auto* begin = whole.as<const std::byte>();
  const bool inside = part.data != nullptr && part.data >= begin && part.data < begin + whole.bytes();
  const View whole_here = stage_->take(0, whole);
  const View part_here =
      inside ? View{whole_here.as<std::byte>() + (part.as<const std::byte>() - begin), part.type, part.shape}
             : stage_->take(1, part);
  if (const Mark here = stage_->queue.mark()) here->wait();
  const CommResult result = call(whole_here, part_here);
  // Results are copied back before the next call's tensors are used: the queue keeps the order.
  stage_->give_back(whole_here, whole);
  if (!inside) stage_->give_back(part_here, part);
  return result;
}

// A send and a receive may run at the same time: each has its own memory.
CommResult GroupCommunicator::send(View data, int to) {
  return through_host(data, {}, [&](const View& here, const View&) { return point_to_point(here, to, true); });
}
CommResult GroupCommunicator::receive(View data, int from) {
  return through_host({}, data, [&](const View&, const View& here) { return point_to_point(here, from, false); });
}

CommResult GroupCommunicator::collective(const CollectiveCall& call) {
  return through_host(call.whole, call.part, [&](const View& whole_here, const View& part_here) {
    return run({call.kind, whole_here, part_here, call.root});
  });
}

namespace {

// When a member hangs, its neighbours of that phase block, then their neighbours in later phases. Later phases get up
// to a quarter more time, so that the first error is from a rank that waits for the hanging one.
std::chrono::milliseconds limit_of(std::chrono::milliseconds limit, int phase, int phases) {
  return limit + limit * phase / (4 * phases);
}

}  // namespace

CommResult GroupCommunicator::run(CollectiveCall call) {
  if (setting_.options.before) setting_.options.before(setting_.rank(), setting_.lane, call_name(call.kind));
  phases_.clear();
  last_sent_.clear();
  check(call, setting_);
  if (size() == 1) {  // the only part is the complete tensor
    const std::int64_t active = monotonic_ns();
    if (gathers_parts(call.kind))
      queue_->copy(call.whole.data, call.part.data, call.part.bytes());
    else if (has_parts(call.kind))
      queue_->copy(call.part.data, call.whole.data, call.part.bytes());
    return {active};
  }
  call.arrived = queue_->mark();
  if (!setting_.algorithm) return run_library(call);
  const CommResult result = rendezvous(call);
  run_transfers(call);
  return result;
}

const GroupCommunicator::OwnTransfers& GroupCommunicator::own_transfers(OpKind kind, int root, std::int64_t elements) {
  const auto [at, is_new] = own_transfers_.try_emplace({static_cast<std::int64_t>(kind), elements, root});
  if (is_new)
    for (const Transfer& t : transfers_of(kind, *setting_.algorithm, size(), elements, root)) {
      at->second.phases = t.phase + 1;
      if (t.from == index() || t.to == index()) at->second.transfers.push_back(t);
    }
  return at->second;
}

bool GroupCommunicator::passes_on(OpKind kind, int root, const OwnTransfers& own, std::int64_t elements) const {
  if (!has_root(kind) || !has_parts(kind) || index() == root) return false;
  const std::int64_t part = elements / size();
  return std::any_of(own.transfers.begin(), own.transfers.end(),
                     [&](const Transfer& t) { return t.from_offset != part * index() || t.elements != part; });
}

void GroupCommunicator::expect(const CollectiveCall& call) {
  if (size() == 1 || !setting_.algorithm) return;
  const std::int64_t elements = list_elements(call, size());
  const DType type = common_view(call).type;
  const OwnTransfers& own = own_transfers(call.kind, call.root, elements);
  if (passes_on(call.kind, call.root, own, elements))
    expected_scratch_ = std::max(expected_scratch_, elements * bytes_of(type));
  std::map<int, std::int64_t> added;  // bytes by phase
  for (const Transfer& t : own.transfers)
    if (t.add && t.to == index()) added[t.phase] += t.elements * bytes_of(type);
  for (const auto& [phase, bytes] : added) expected_added_ = std::max(expected_added_, bytes);
}

void GroupCommunicator::reserve() {
  if (expected_scratch_ > 0) scratch(expected_scratch_);
  if (expected_added_ > 0) reserve_added(expected_added_);
}

std::byte* GroupCommunicator::scratch(std::int64_t bytes) {
  return scratch_.at_least(bytes, *device_, &Device::reserve);
}

void GroupCommunicator::run_transfers(const CollectiveCall& call) {
  const std::int64_t elements = list_elements(call, size());
  const DType type = common_view(call).type;
  const OwnTransfers& own = own_transfers(call.kind, call.root, elements);
  const std::vector<Transfer>& transfers = own.transfers;

  // The list's buffer: `whole`; or, at other members than the root, this member's part if the list uses only that, else
  // scratch memory.
  Placed source{call.whole.as<std::byte>(), 0}, target = source;
  const std::int64_t own_first = elements / size() * index();
  if (call.kind == OpKind::all_to_all) {
    target = {call.part.as<std::byte>(), 0};
    queue_->copy(target.at(own_first, type), source.at(own_first, type), call.part.bytes() / size());
  } else if (has_root(call.kind) && has_parts(call.kind) && index() != call.root) {
    if (passes_on(call.kind, call.root, own, elements))
      source = target = {scratch(elements * bytes_of(type)), 0};
    else
      source = target = {call.part.as<std::byte>(), own_first};
  }
  if (gathers_parts(call.kind)) queue_->copy(target.at(own_first, type), call.part.data, call.part.bytes());

  std::vector<Message> messages;
  for (std::size_t first = 0; first < transfers.size();) {
    std::size_t end = first;
    if (setting_.options.before_phase)
      setting_.options.before_phase(setting_.rank(), setting_.lane, call_name(call.kind), transfers[first].phase);
    messages.clear();
    for (; end < transfers.size() && transfers[end].phase == transfers[first].phase; ++end) {
      const Transfer& t = transfers[end];
      const bool is_send = t.from == index();
      messages.push_back({is_send, t.add && !is_send, is_send ? t.to : t.from, type,
                          is_send ? source.at(t.from_offset, type) : target.at(t.to_offset, type), t.elements});
    }
    const Mark arrived = queue_->mark();
    for (Message& m : messages) m.arrived = arrived;
    move_all(messages, call_name(call.kind), limit_of(setting_.options.time_limit, transfers[first].phase, own.phases));
    for (std::size_t i = first; i < end; ++i) {
      const Message& m = messages[i - first];
      const Transfer& t = transfers[i];
      if (m.is_send)
        count_sent(m.peer, m.bytes());
      else
        count_received(m.bytes());
      if (setting_.options.record_phases && !m.is_send)
        phases_.push_back({t.phase, t.chunk, setting_.members[t.from], setting_.members[t.to], m.bytes(), m.begin_ns,
                           m.end_ns, m.begin, m.moved});
    }
    first = end;
  }
  if (hands_out_parts(call.kind)) queue_->copy(call.part.data, source.at(own_first, type), call.part.bytes());
}

}  // namespace rankscope::comm
