#include "engine/execute/run/bind_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/plan/program/communication.hpp"

namespace rankscope {
namespace {

/// An operand's buffers, which are adjacent, as one view.
View view_of(const RankProgram& program, const Arena& arena, std::span<const BufferUse> uses) {
  const Buffer& first = program.buffers[uses.front().buffer];
  std::int64_t elements = 0;
  for (const BufferUse& use : uses) elements += program.buffers[use.buffer].shape.elements();
  return arena.view(first.offset, first.type, {elements});
}

/// Part `index` of `n` equal ones.
View part_of(const View& whole, int n, int index) {
  const std::int64_t elements = whole.elements() / n;
  return {whole.as<std::byte>() + index * elements * bytes_of(whole.type), whole.type, {elements}};
}

/// A collective on its operands; `own`, this member's part of the whole, is empty unless it works in place.
CollectiveCall call_of(OpKind kind, const View& in, const View& out, const View& own, int root) {
  if (!has_parts(kind)) return {kind, in.data != nullptr ? in : out, {}, root};
  const View& part = gathers_parts(kind) ? in : out;
  return {kind, gathers_parts(kind) ? out : in, own.data != nullptr ? own : part, root};
}

}  // namespace

int index_of(const Communicator& communicator, int rank) {
  const auto members = communicator.members();
  return static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
}

int group_size(const RankGrid& grid, int rank, const Op& op) {
  return is_collective(op.id.kind()) ? static_cast<int>(grid.group_of(rank, op.group).size()) : 2;
}

std::function<CommResult()> bind_call(const RankProgram& program, const Op& op, const RankGrid& grid,
                                      const Arena& arena, Communicator& c) {
  if (const auto misuse = find_misuse(program, op, grid)) throw std::invalid_argument(*misuse);
  const CommOperands operands = operands_of(op);
  const View nothing{nullptr, type_of(program, op), {0}};
  const View in = operands.input.empty() ? nothing : view_of(program, arena, operands.input);
  const View out = operands.output.empty() ? nothing : view_of(program, arena, operands.output);
  const View own = operands.in_place() ? part_of(in, c.size(), c.index()) : nothing;  // the part, if in place
  if (is_collective(op.id.kind())) {
    const int root = has_root(op.id.kind()) ? index_of(c, op.root) : 0;
    const CollectiveCall call = call_of(op.id.kind(), in, out, own, root);
    c.expect(call);
    return [&c, call] { return c.collective(call); };
  }
  if (op.id.kind() == OpKind::send) return [&c, in, to = index_of(c, op.peer)] { return c.send(in, to); };
  if (op.id.kind() == OpKind::receive) return [&c, out, from = index_of(c, op.peer)] { return c.receive(out, from); };
  throw std::invalid_argument(fmt::format("rank {}: {} is no communication", program.rank, to_token(op.id)));
}

}  // namespace rankscope
