#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

bool is_backward(OpKind kind) {
  return kind == OpKind::backward || kind == OpKind::input_gradient || kind == OpKind::weight_gradient;
}

/// Exchanges of tensor ranks for a micro-batch.
bool is_exchange(const OpFields& f) { return f.purpose == Purpose::tensor && f.micro_batch >= 0; }
bool is_of_backward(const OpFields& f) {
  if (is_exchange(f)) return f.index != static_cast<int>(TensorPhase::forward);
  return is_backward(f.kind);
}

/// Forward ops of one micro-batch that are repeated together, and the backward ops of the same blocks. Positions in
/// program order.
struct Group {
  std::vector<std::size_t> forwards, backwards;
};

/// How many blocks are recomputed at a time; only their inputs are kept.
int blocks_a_group(const PlanSpec& plan, int blocks) {
  // Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost": with groups of √n, the inputs kept and the data
  // recomputed at a time are both of order √n.
  if (plan.recompute == Recompute::sqrt) return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(blocks))));
  return plan.recompute == Recompute::blocks ? plan.recompute_blocks : 1;
}

std::vector<Group> groups_of(const RankProgram& program, const StepProgram& step) {
  const PlanSpec& plan = step.scenario.plan;
  std::map<int, std::pair<int, int>> blocks;  // chunk -> its first and last block
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    if (!is_model_compute(f.kind) || f.block < 0) continue;
    auto [at, first] = blocks.try_emplace(f.chunk, f.block, f.block);
    at->second.first = std::min(at->second.first, f.block);
    at->second.second = std::max(at->second.second, f.block);
  }
  const bool attention_only = plan.recompute == Recompute::selective;
  std::map<std::tuple<int, int, int>, Group> groups;  // chunk, micro-batch, index
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const OpFields f = program.ops[i].id.fields();
    if ((!is_model_compute(f.kind) && !is_exchange(f)) || f.block < 0) continue;
    const auto [first, last] = blocks.at(f.chunk);
    Group& group = groups[{f.chunk, f.micro_batch, (f.block - first) / blocks_a_group(plan, last - first + 1)}];
    if (is_of_backward(f))
      group.backwards.push_back(i);
    else if (!attention_only || segment_of(step.model, program.ops[i].id).does(Work::attention))
      group.forwards.push_back(i);
  }
  std::vector<Group> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

std::set<BufferIndex> used(const RankProgram& program, const std::vector<std::size_t>& ops, Access access) {
  std::set<BufferIndex> buffers;
  for (const std::size_t op : ops)
    for (const BufferUse& use : program.ops[op].uses)
      if (use.access == access) buffers.insert(use.buffer);
  return buffers;
}

/// The forwards that must run again to produce the backwards' inputs; results of the others are not needed.
std::vector<std::size_t> repeated(const RankProgram& program, const Group& group, std::set<BufferIndex> needed) {
  std::vector<std::size_t> ops;
  for (auto op = group.forwards.rbegin(); op != group.forwards.rend(); ++op) {
    const auto& uses = program.ops[*op].uses;
    // Accumulated operands (parts of a sum) are both read and written.
    const bool is_needed = std::ranges::any_of(
        uses, [&](const BufferUse& use) { return use.access != Access::read && needed.contains(use.buffer); });
    if (!is_needed) continue;
    for (const BufferUse& use : uses)
      if (use.access != Access::write) needed.insert(use.buffer);
    ops.insert(ops.begin(), *op);
  }
  return ops;
}

}  // namespace

RankProgram add_recomputation(RankProgram program, const StepProgram& step) {
  const PlanSpec& plan = step.scenario.plan;
  if (plan.recompute == Recompute::none) return program;
  std::vector<Insertion> insertions;
  for (const Group& group : groups_of(program, step)) {
    const std::set<BufferIndex> made = used(program, group.forwards, Access::write);
    std::set<BufferIndex> needed;
    std::size_t first_reader = program.ops.size();
    for (const std::size_t op : group.backwards)
      for (const BufferUse& use : program.ops[op].uses)
        if (use.access == Access::read && made.contains(use.buffer)) {
          needed.insert(use.buffer);
          first_reader = std::min(first_reader, op);
        }
    // The second computation has its own buffers: the first one's are freed after their last forward reader.
    std::map<BufferIndex, BufferIndex> again;
    const auto renamed = [&](BufferUse use) {
      const auto found = again.find(use.buffer);
      return found == again.end() ? use : BufferUse{found->second, use.access};
    };
    for (const std::size_t op : repeated(program, group, needed)) {
      Op copy = program.ops[op];
      OpFields f = copy.id.fields();
      if (is_exchange(f))
        f.index = static_cast<int>(TensorPhase::recompute);
      else
        f.kind = OpKind::recompute;
      copy.id = OpId::of(f);
      for (BufferUse& use : copy.uses) {
        if (use.access == Access::write) {
          Buffer buffer = program.buffers[use.buffer];
          buffer.name = "again:" + buffer.name;
          buffer.memory = MemoryClass::activations;
          again[use.buffer] = program.add(std::move(buffer));
        }
        use = renamed(use);
      }
      insertions.push_back({first_reader, std::move(copy)});
    }
    for (const std::size_t op : group.backwards)
      for (BufferUse& use : program.ops[op].uses)
        if (use.access == Access::read) use = renamed(use);
  }
  return insert_ops(std::move(program), std::move(insertions));
}

}  // namespace rankscope
