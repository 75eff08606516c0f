#include <algorithm>
#include <cassert>

#include "engine/plan/program/passes.hpp"

namespace rankscope {

std::vector<Action> actions_of(const RankProgram& program) {
  std::vector<Action> actions;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const OpId id = program.ops[i].id;
    if (!is_model_compute(id.kind())) continue;
    const OpId folded = folded_to_chunk(id);
    if (actions.empty() || actions.back().id != folded) actions.push_back({folded, i, i});
    actions.back().end = i + 1;
  }
  return actions;
}

RankProgram insert_ops(RankProgram program, std::vector<Insertion> insertions) {
  std::ranges::stable_sort(insertions, [](const Insertion& a, const Insertion& b) { return a.position < b.position; });
  std::vector<Op> ops;
  ops.reserve(program.ops.size() + insertions.size());
  auto next = insertions.begin();
  for (std::size_t i = 0; i <= program.ops.size(); ++i) {
    for (; next != insertions.end() && next->position == i; ++next) ops.push_back(std::move(next->op));
    if (i < program.ops.size()) ops.push_back(std::move(program.ops[i]));
  }
  assert(next == insertions.end());
  program.ops = std::move(ops);
  return program;
}

RankProgram drop_buffers(RankProgram program, const std::vector<bool>& marked) {
  std::vector<BufferIndex> renumbered(program.buffers.size());
  std::vector<Buffer> kept;
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    renumbered[b] = static_cast<BufferIndex>(kept.size());
    if (!marked[b]) kept.push_back(std::move(program.buffers[b]));
  }
  for (Buffer& buffer : kept)
    if (buffer.within >= 0) buffer.within = static_cast<int>(renumbered[buffer.within]);
  for (Op& op : program.ops)
    for (BufferUse& use : op.uses) use.buffer = renumbered[use.buffer];
  program.buffers = std::move(kept);
  return program;
}

const SegmentSpec& segment_of(const Model& model, OpId id) {
  const OpFields f = id.fields();
  return model.segment(f.block, f.segment);
}

}  // namespace rankscope
