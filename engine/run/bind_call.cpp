#include "engine/run/bind_call.hpp"

#include <algorithm>
#include <stdexcept>

#include "engine/program/communication.hpp"

namespace rankscope {
namespace {

/// An operand's buffers as the one stretch that they are.
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

/// The tensor or part that every member of a collective has; `own` is empty unless it works in place.
const View& every_members_part(OpKind kind, const View& in, const View& out, const View& own) {
  if (kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::all_reduce)
    return in.data != nullptr ? in : out;
  if (own.data != nullptr) return own;
  return kind == OpKind::scatter || kind == OpKind::reduce_scatter ? out : in;
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
  const int root = has_root(op.id.kind()) ? index_of(c, op.root) : 0;

  if (is_collective(op.id.kind())) {
    const View& part = every_members_part(op.id.kind(), in, out, own);
    c.expect(op.id.kind(), part.type, part.elements(), root);
  }

  switch (op.id.kind()) {
    case OpKind::send: return [&c, in, to = index_of(c, op.peer)] { return c.send(in, to); };
    case OpKind::receive: return [&c, out, from = index_of(c, op.peer)] { return c.receive(out, from); };
    case OpKind::broadcast:
      return [&c, root, data = operands.input.empty() ? out : in] { return c.broadcast(data, root); };
    case OpKind::reduce: return [&c, root, in] { return c.reduce(in, root); };
    case OpKind::all_reduce: return [&c, in] { return c.all_reduce(in); };
    case OpKind::scatter:
      return [&c, root, in, part = operands.in_place() ? own : out] { return c.scatter(in, part, root); };
    case OpKind::gather:
      return [&c, root, out, part = operands.in_place() ? own : in] { return c.gather(part, out, root); };
    case OpKind::all_gather:
      return [&c, out, part = operands.in_place() ? own : in] { return c.all_gather(part, out); };
    case OpKind::reduce_scatter:
      return [&c, in, part = operands.in_place() ? own : out] { return c.reduce_scatter(in, part); };
    case OpKind::all_to_all: return [&c, in, out] { return c.all_to_all(in, out); };
    case OpKind::forward:
    case OpKind::backward:
    case OpKind::input_gradient:
    case OpKind::weight_gradient:
    case OpKind::recompute:
    case OpKind::copy:
    case OpKind::optimizer:
    case OpKind::load_batch:
    case OpKind::checkpoint: break;
  }
  throw std::invalid_argument("rank " + std::to_string(program.rank) + ": " + to_token(op.id) + " is no communication");
}

}  // namespace rankscope
