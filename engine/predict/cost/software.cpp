#include "engine/predict/cost/software.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/op/contains.hpp"

namespace rankscope {
namespace {

bool sums_gradients(const Op& op) {
  const Purpose purpose = op.id.fields().purpose;
  return purpose == Purpose::data_gradient || purpose == Purpose::zero_gradient;
}

/// Of a sum of gradients whose parameters are `narrow`.
DType type_of_width(int bytes, DType narrow) {
  switch (bytes) {
    case 2: return narrow;
    case 4: return DType::f32;
    case 8: return DType::f64;
    default:
      throw std::invalid_argument(
          fmt::format("software.reduced_bytes is {}; a gradient's element has 2, 4 or 8 bytes", bytes));
  }
}

DType parameter_type(const RankProgram& program) {
  for (const Buffer& buffer : program.buffers)
    if (buffer.memory == MemoryClass::parameters) return buffer.type;
  return DType::f32;
}

void reduce_in(RankProgram& program, int bytes) {
  const DType parameters = parameter_type(program);
  if (bytes_of(parameters) != 2) return;
  const DType type = type_of_width(bytes, parameters);
  for (Buffer& buffer : program.buffers) {
    if (buffer.memory != MemoryClass::gradients) continue;
    buffer.at = buffer.at / bytes_of(buffer.type) * bytes;
    buffer.type = type;
  }
}

/// Moves reductions that occur once a step to after the last op of the model. If an earlier op reads their result
/// (ZeRO-2 and 3, for each micro-batch), nothing is moved.
void reduce_last(RankProgram& program) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < program.ops.size(); ++i)
    if (is_model_compute(program.ops[i].id.kind())) last = i;
  const auto moves = [&](std::size_t i) { return i < last && sums_gradients(program.ops[i]); };
  for (std::size_t i = 0; i <= last; ++i)
    for (const OpIndex before : program.ops[i].after)
      if (moves(before) && !moves(i)) return;

  std::vector<std::size_t> order;
  for (std::size_t i = 0; i <= last; ++i)
    if (!moves(i)) order.push_back(i);
  for (std::size_t i = 0; i < last; ++i)
    if (moves(i)) order.push_back(i);
  for (std::size_t i = last + 1; i < program.ops.size(); ++i) order.push_back(i);
  std::vector<OpIndex> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<OpIndex>(i);
  std::vector<Op> ops;
  for (const std::size_t i : order) {
    ops.push_back(std::move(program.ops[i]));
    for (auto* edges : {&ops.back().after, &ops.back().after_previous})
      for (OpIndex& edge : *edges) edge = place[edge];
    const OpIndex backward = place[last];
    if (moves(i)) ops.back().after.push_back(backward);
  }
  program.ops = std::move(ops);
}

/// Compute waits for all ops issued before it; receives are issued early everywhere, and the ops that read
/// them wait for them.
void block_compute(RankProgram& program) {
  std::vector<OpIndex> issued;
  std::vector<OpIndex> repeated;  // by the ops that run next
  const auto wait_for = [&](Op& op, OpIndex before) {
    if (!contains(op.after, before)) op.after.push_back(before);
  };
  for (OpIndex i = 0; i < program.ops.size(); ++i) {
    Op& op = program.ops[i];
    const OpKind kind = op.id.kind();
    if (op.lane() == Lane::compute) {
      if (kind == OpKind::recompute) {
        repeated.push_back(i);
      } else {
        // Recomputation for a backward begins when its gradient has arrived.
        for (const OpIndex before : op.after)
          if (program.ops[before].id.kind() == OpKind::receive && !repeated.empty() && before < repeated.front())
            wait_for(program.ops[repeated.front()], before);
        repeated.clear();
      }
      for (const OpIndex before : issued) wait_for(op, before);
      issued.clear();
    } else if (is_communication(kind) && kind != OpKind::receive) {
      issued.push_back(i);
    }
  }
}

}  // namespace

RankProgram as_run_on(const ClusterSpec& cluster, RankProgram program) {
  if (cluster.software.reduced_bytes > 0) reduce_in(program, cluster.software.reduced_bytes);
  if (!cluster.software.overlap) {
    reduce_last(program);
    block_compute(program);
  }
  return program;
}

}  // namespace rankscope
