#include "engine/execute/comm/loopback_collectives.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace rankscope::comm {

namespace {

using Calls = std::span<const CollectiveCall>;

std::byte* at(const View& view, std::int64_t element) { return view.as<std::byte>() + element * bytes_of(view.type); }

/// Sends the same number of bytes to all other members.
std::vector<std::int64_t> to_others(std::size_t members, int index, std::int64_t bytes) {
  std::vector<std::int64_t> sent(members, bytes);
  sent[index] = 0;
  return sent;
}

std::vector<std::int64_t> to_one(std::size_t members, int index, int other, std::int64_t bytes) {
  std::vector<std::int64_t> sent(members, 0);
  if (other != index) sent[other] = bytes;
  return sent;
}

/// Each other member's chunk of the tensor, to be summed there.
std::vector<std::int64_t> chunks_to_others(Calls calls, int index) {
  const View& tensor = calls[index].whole;
  std::vector<std::int64_t> sent(calls.size(), 0);
  for (int m = 0; m < static_cast<int>(calls.size()); ++m)
    if (m != index)
      sent[m] = chunk_range(tensor.elements(), static_cast<int>(calls.size()), m).size() * bytes_of(tensor.type);
  return sent;
}

// Sums chunk `index` of all members' tensors into those of `into`. No other member accesses that chunk in any member's
// tensor.
void sum_own_chunk(Calls calls, int index, Calls into, Queue& queue) {
  const ElementRange chunk = chunk_range(calls[0].whole.elements(), static_cast<int>(calls.size()), index);
  std::vector<const void*> parts;
  for (const CollectiveCall& call : calls) parts.push_back(at(call.whole, chunk.begin));
  std::vector<void*> sums;
  for (const CollectiveCall& call : into) sums.push_back(at(call.whole, chunk.begin));
  queue.sum(calls[0].whole.type, sums, parts, chunk.size());
}

MovedBytes all_reduce(Calls calls, int index, Queue& queue) {
  sum_own_chunk(calls, index, calls, queue);
  const int n = static_cast<int>(calls.size());
  const View& tensor = calls[index].whole;
  const std::int64_t own = chunk_range(tensor.elements(), n, index).size() * bytes_of(tensor.type);
  std::vector<std::int64_t> sent = chunks_to_others(calls, index);
  for (int m = 0; m < n; ++m)
    if (m != index) sent[m] += own;
  return {std::move(sent), tensor.bytes() - own + (n - 1) * own};
}

MovedBytes reduce(Calls calls, int index, Queue& queue) {
  const int root = calls[index].root, n = static_cast<int>(calls.size());
  sum_own_chunk(calls, index, calls.subspan(root, 1), queue);
  const View& tensor = calls[index].whole;
  const std::int64_t own = chunk_range(tensor.elements(), n, index).size() * bytes_of(tensor.type);
  const bool is_root = index == root;
  std::vector<std::int64_t> sent = chunks_to_others(calls, index);
  if (!is_root) sent[root] += own;
  return {std::move(sent), (n - 1) * own + (is_root ? tensor.bytes() - own : 0)};
}

MovedBytes broadcast(Calls calls, int index, Queue& queue) {
  const CollectiveCall& call = calls[index];
  queue.copy(call.whole.data, calls[call.root].whole.data, call.whole.bytes());
  const bool is_root = index == call.root;
  return {to_others(calls.size(), index, is_root ? call.whole.bytes() : 0), is_root ? 0 : call.whole.bytes()};
}

MovedBytes scatter(Calls calls, int index, Queue& queue) {
  const CollectiveCall& call = calls[index];
  queue.copy(call.part.data, part_in(calls[call.root].whole, call.part, index), call.part.bytes());
  const bool is_root = index == call.root;
  return {to_others(calls.size(), index, is_root ? call.part.bytes() : 0), is_root ? 0 : call.part.bytes()};
}

MovedBytes gather(Calls calls, int index, Queue& queue) {
  const CollectiveCall& call = calls[index];
  queue.copy(part_in(calls[call.root].whole, call.part, index), call.part.data, call.part.bytes());
  const auto others = static_cast<std::int64_t>(calls.size()) - 1;
  return {to_one(calls.size(), index, call.root, call.part.bytes()),
          index == call.root ? others * call.part.bytes() : 0};
}

MovedBytes all_gather(Calls calls, int index, Queue& queue) {
  const CollectiveCall& call = calls[index];
  for (int from = 0; from < static_cast<int>(calls.size()); ++from)
    queue.copy(part_in(call.whole, call.part, from), calls[from].part.data, call.part.bytes());
  const auto others = static_cast<std::int64_t>(calls.size()) - 1;
  return {to_others(calls.size(), index, call.part.bytes()), others * call.part.bytes()};
}

// `part` may be member i's own part of its whole: no other member reads that part.
MovedBytes reduce_scatter(Calls calls, int index, Queue& queue) {
  const CollectiveCall& call = calls[index];
  std::vector<const void*> parts;
  for (const CollectiveCall& other : calls) parts.push_back(part_in(other.whole, call.part, index));
  void* const into[] = {call.part.data};
  queue.sum(call.part.type, into, parts, call.part.elements());
  const auto others = static_cast<std::int64_t>(calls.size()) - 1;
  return {to_others(calls.size(), index, call.part.bytes()), others * call.part.bytes()};
}

MovedBytes all_to_all(Calls calls, int index, Queue& queue) {
  const CollectiveCall& call = calls[index];
  const auto n = static_cast<std::int64_t>(calls.size()), bytes = call.part.bytes() / n;
  for (int from = 0; from < n; ++from)
    queue.copy(call.part.as<std::byte>() + from * bytes, calls[from].whole.as<std::byte>() + index * bytes, bytes);
  return {to_others(calls.size(), index, bytes), (n - 1) * bytes};
}

}  // namespace

MovedBytes do_share(Calls calls, int index, Queue& queue) {
  const OpKind kind = calls[index].kind;
  if (kind == OpKind::all_reduce) return all_reduce(calls, index, queue);
  if (kind == OpKind::reduce) return reduce(calls, index, queue);
  if (kind == OpKind::broadcast) return broadcast(calls, index, queue);
  if (kind == OpKind::scatter) return scatter(calls, index, queue);
  if (kind == OpKind::gather) return gather(calls, index, queue);
  if (kind == OpKind::all_gather) return all_gather(calls, index, queue);
  if (kind == OpKind::reduce_scatter) return reduce_scatter(calls, index, queue);
  if (kind == OpKind::all_to_all) return all_to_all(calls, index, queue);
  throw std::logic_error("loopback has no " + std::string(name_of(kind)));
}

}  // namespace rankscope::comm
