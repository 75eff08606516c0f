// Inserts the exchanges of tensor ranks (Model::exchanges) between the ops that compute and read the data.
//
//                   forward                                     backward
//   plain           partial sums all-reduced after their        gradients of what all ranks read all-reduced
//                   product                                     after the product that reads it
//   sequence        gathered before a product,                  the same in reverse; data that a weight gradient
//   parallelism     reduce-scattered after the next one         reads is gathered again, not kept
//
// All four exchanges of a block are on the critical path, except the last one, which is issued an op ahead.
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

struct Operand {
  TensorName name;
  bool gradient;
};

/// The names of an op's uses in order; nullopt for parameters and their gradients.
std::vector<std::optional<Operand>> operands_of(const SegmentSpec& s, OpKind kind, std::size_t uses) {
  std::vector<std::optional<Operand>> operands;
  const auto add = [&](const std::vector<TensorName>& names, bool gradient) {
    for (const TensorName name : names) operands.push_back(Operand{name, gradient});
  };
  const auto add_values = [&](const std::vector<TensorSpec>& specs) {
    for (const TensorSpec& spec : specs) operands.push_back(Operand{spec.name, false});
  };
  const auto skip = [&](std::size_t parameters) { operands.resize(operands.size() + parameters); };
  if (kind == OpKind::forward) {
    add_values(s.inputs);
    skip(s.parameters.size());
    add_values(s.outputs);
  } else if (kind == OpKind::weight_gradient) {
    add(s.weight_gradient_inputs, true);
    add(s.weight_kept, false);
  } else {
    const bool whole = kind == OpKind::backward;
    add(s.gradient_inputs, true);
    add(whole ? s.kept : s.input_kept, false);
    skip(s.read_backward().size());
    add(s.gradient_outputs, true);
  }
  operands.resize(uses);
  return operands;
}

class TensorCollectives {
 public:
  TensorCollectives(RankProgram program, const StepProgram& step) : program_(std::move(program)), step_(step) {}

  RankProgram run() {
    for (std::size_t i = 0; i < program_.ops.size(); ++i) visit(i);
    return insert_ops(std::move(program_), std::move(insertions_));
  }

 private:
  /// Micro-batch, position in the model, tensor, and whether it is the gradient.
  using Key = std::tuple<int, int, TensorName, bool>;
  struct Written {
    BufferIndex buffer = 0;
    OpId by;
  };

  Key key_of(const OpFields& f, TensorName name, bool gradient) const {
    return {f.micro_batch,
            f.block >= 0                  ? f.block
            : is_before_blocks(f.segment) ? -1
                                          : step_.model.spec.layers,
            name, gradient};
  }

  void insert(std::size_t position, const Exchange& exchange, OpKind kind, TensorPhase phase, OpId product,
              std::vector<BufferUse> uses) {
    OpFields f = product.fields();
    f.kind = kind;
    f.purpose = exchange.purpose;
    f.index = static_cast<int>(phase);
    insertions_.push_back({position, {OpId::of(f), GroupKind::tensor, -1, std::move(uses)}});
  }

  /// From one buffer to another, before the op that reads it. It is named after the product on the complete side.
  void move(std::size_t position, const Exchange& exchange, OpKind kind, TensorPhase phase, const Written& from,
            BufferIndex to, OpId reader) {
    const bool scatters = kind == OpKind::reduce_scatter;
    insert(position, exchange, kind, phase, scatters ? from.by : reader,
           {{from.buffer, scatters ? Access::accumulate : Access::read}, {to, Access::write}});
  }

  /// One op ahead, if that op is of the same block and action.
  std::size_t ahead_of(std::size_t op) const {
    if (op == 0) return op;
    const OpId id = program_.ops[op].id, before = program_.ops[op - 1].id;
    return folded_to_block(before) == folded_to_block(id) && id.fields().block >= 0 ? op - 1 : op;
  }

  void visit(std::size_t i) {
    const OpId id = program_.ops[i].id;
    const OpFields f = id.fields();
    const bool forward = f.kind == OpKind::forward;
    const auto operands = operands_of(segment_of(step_.model, id), f.kind, program_.ops[i].uses.size());
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k]) continue;
      const auto [name, gradient] = *operands[k];
      const BufferUse use = program_.ops[i].uses[k];
      const Key key = key_of(f, name, gradient);
      if (use.access == Access::write) written_[key] = {use.buffer, id};
      for (const Exchange& e : step_.model.exchanges) {
        // A value moves from `from` to `to`, a gradient in the other direction.
        const TensorName source = gradient ? e.to : e.from, target = gradient ? e.from : e.to;
        const auto kind = gradient ? e.backward : e.forward;
        if (!kind || name != target) continue;
        const TensorPhase phase = gradient ? TensorPhase::gradient : TensorPhase::forward;
        if (source == target) {
          if (use.access == Access::write) insert(i + 1, e, *kind, phase, id, {{use.buffer, Access::accumulate}});
        } else if (gradient || forward) {
          if (moved_.insert(use.buffer).second)
            move(i, e, *kind, phase, written_.at(key_of(f, source, gradient)), use.buffer, id);
        } else {
          // Not kept since forward: gathered again from the kept part.
          Buffer again = program_.buffers[use.buffer];
          again.name = "again:" + again.name;
          const BufferIndex b = program_.add(std::move(again));
          program_.ops[i].uses[k].buffer = b;
          move(ahead_of(i), e, *kind, TensorPhase::again, written_.at(key_of(f, source, gradient)), b, id);
        }
      }
    }
  }

  RankProgram program_;
  const StepProgram& step_;
  std::map<Key, Written> written_;
  std::set<BufferIndex> moved_;  ///< results of exchanges
  std::vector<Insertion> insertions_;
};

}  // namespace

RankProgram add_tensor_collectives(RankProgram program, const StepProgram& step) {
  if (step.model.exchanges.empty()) return program;
  return TensorCollectives(std::move(program), step).run();
}

Op tensor_reduction(int chunk, int bucket, BufferIndex gradients) {
  return {OpId::of({OpKind::all_reduce, Purpose::tensor, chunk, -1, -1, Segment::whole, bucket}),
          GroupKind::tensor,
          -1,
          {{gradients, Access::accumulate}}};
}

}  // namespace rankscope
