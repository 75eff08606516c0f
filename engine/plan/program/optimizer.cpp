#include <map>
#include <optional>

#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/program/bucket.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

/// The part of a parameter that this rank updates: all of it, or ZeRO's piece.
struct Target {
  int parameter = 0;
  BufferIndex gradient = 0, value = 0;
};

class OptimizerPass {
 public:
  OptimizerPass(RankProgram program, const StepProgram& step)
      : program_(std::move(program)),
        step_(step),
        at_(step.grid.coordinates_of(program_.rank)),
        rule_(optimizer_rule(step.scenario.train.optimizer)) {}

  RankProgram run() {
    if (!step_.updates(program_.rank)) return std::move(program_);
    if (program_.arrivals_ahead) {
      add_updates_on_arrival();
      return std::move(program_);
    }
    if (step_.scenario.plan.updates_each_micro_batch()) {
      add_updates_of_micro_batches();
      return std::move(program_);
    }
    const BufferIndex own = scalar("square_norm"), total = scalar("square_norm_total");
    const std::vector<Target> targets = find_targets();
    add_norm(targets, own, total);
    const BufferIndex square = needs_total() ? total : own;
    if (step_.zero() == 0)
      program_.ops.push_back(update(op(Segment::update, -1), targets, square));
    else
      add_sharded_updates(targets, square);
    if (scales_loss()) add_loss_scale(total);
    return std::move(program_);
  }

 private:
  bool scales_loss() const { return step_.model.type == DType::f16; }
  /// Clipping depends on the global norm, and so does skipping the update on all ranks after an overflow on any.
  bool needs_total() const { return step_.scenario.train.clip > 0 || scales_loss(); }

  /// Micikevicius et al. 2018 (arXiv 1710.03740), section 3.2. The state is the scale, the steps since its last change,
  /// and the number of updates.
  void add_loss_scale(BufferIndex total) {
    const BufferIndex state = program_.add(loss_scale_buffer());
    for (Op& op : program_.ops)
      if (op.id.kind() == OpKind::optimizer && op.id.fields().segment == Segment::update)
        op.uses.push_back({state, Access::read});
    Op adjust = op(Segment::loss_scale, -1);
    adjust.uses = {{total, Access::read}, {state, Access::accumulate}};
    program_.ops.push_back(std::move(adjust));
  }

  BufferIndex scalar(const char* name) {
    return program_.add({name, BufferRole::scalar, MemoryClass::buffers, DType::f64, Shape{1}, true});
  }

  Op op(Segment segment, int index) const {
    return {OpId::of({OpKind::optimizer, Purpose::none, at_.pipeline, -1, -1, segment, index})};
  }

  /// By parameter. `contribution`: the one whose gradients an asynchronous server uses; -1: the step's only gradients.
  std::vector<Target> find_targets(int contribution = -1) const {
    std::map<int, Target> targets;
    for (BufferIndex b = 0; b < program_.buffers.size(); ++b) {
      const Buffer& buffer = program_.buffers[b];
      if (buffer.parameter < 0 || buffer.piece != step_.updates_pieces()) continue;
      const bool gradient = buffer.role == BufferRole::gradient, value = buffer.role == BufferRole::parameter;
      if (gradient && buffer.micro_batch != contribution) continue;
      Target& target = targets[buffer.parameter];
      target.parameter = buffer.parameter;
      if (value) target.value = b;
      if (gradient) target.gradient = b;
    }
    std::vector<Target> in_order;
    for (const auto& [parameter, target] : targets) in_order.push_back(target);
    return in_order;
  }

  void add_norm(const std::vector<Target>& targets, BufferIndex own, BufferIndex total) {
    Op norm = op(Segment::norm, -1);
    norm.uses = {{own, Access::write}, {total, Access::write}};
    for (const Target& target : targets)  // every parameter once over all ranks
      if (counts_parameter(step_, program_.rank, target.parameter))
        norm.uses.push_back({target.gradient, Access::read});
    program_.ops.push_back(std::move(norm));

    // With ZeRO the data group's ranks hold different gradients, else the same ones; servers also hold different ones.
    const GroupKind group = step_.grid.servers > 0 ? GroupKind::server
                            : step_.zero() > 0     ? GroupKind::world
                                                   : GroupKind::model;
    if (needs_total() && step_.grid.group_of(program_.rank, group).size() > 1)
      program_.ops.push_back({OpId::of({OpKind::all_reduce, Purpose::norm, -1, -1, -1, Segment::whole, 0}),
                              group,
                              -1,
                              {{total, Access::accumulate}}});
  }

  /// The target's states, created at first use.
  const std::vector<BufferIndex>& states(const Target& target) {
    const auto [found, made] = states_.try_emplace(target.parameter);
    if (!made) return found->second;
    const Buffer value = program_.buffers[target.value];
    const ParameterSpec& spec = step_.model.parameters[target.parameter];
    const UpdateTarget what{value.type, accumulation_type(value.type), value.shape, spec.whole.elements()};
    for (const StateSpec& state : states_of(rule_, what)) {
      const bool master = what.master() && found->second.empty();  // it is the first
      Buffer buffer{state.name + ":" + spec.name,
                    master ? BufferRole::master : BufferRole::state,
                    MemoryClass::optimizer,
                    state.type,
                    state.shape,
                    true,
                    target.parameter};
      buffer.first = value.first;
      buffer.state = state.name;
      found->second.push_back(program_.add(std::move(buffer)));
    }
    return found->second;
  }

  /// `op` with the operands of an update: the total square norm (if there is one), then for each parameter its
  /// gradient, itself and its states.
  Op update(Op op, const std::vector<Target>& targets, std::optional<BufferIndex> square) {
    if (square) op.uses.push_back({*square, Access::read});
    for (const Target& target : targets) {
      op.uses.push_back({target.gradient, Access::read});
      op.uses.push_back({target.value, Access::accumulate});
      for (const BufferIndex state : states(target)) op.uses.push_back({state, Access::accumulate});
    }
    return op;
  }

  /// Of an asynchronous server: directly after each gradient that it receives.
  void add_updates_on_arrival() {
    std::vector<Insertion> updates;
    for (std::size_t i = 0; i < program_.ops.size(); ++i) {
      OpFields f = program_.ops[i].id.fields();
      if (f.kind != OpKind::receive) continue;
      f.kind = OpKind::optimizer;
      f.segment = Segment::update;
      const std::vector<Target> targets = find_targets(f.micro_batch);
      updates.push_back({i + 1, update({OpId::of(f)}, targets, std::nullopt)});
    }
    program_ = insert_ops(std::move(program_), std::move(updates));
  }

  /// Directly after the backward of each.
  void add_updates_of_micro_batches() {
    const std::vector<Target> targets = find_targets();
    std::vector<Insertion> updates;
    for (const Action& action : actions_of(program_)) {
      OpFields f = action.id.fields();
      if (f.kind != OpKind::backward) continue;
      f.kind = OpKind::optimizer;
      f.segment = Segment::update;
      updates.push_back({action.end, update({OpId::of(f)}, targets, std::nullopt)});
    }
    program_ = insert_ops(std::move(program_), std::move(updates));
  }

  /// Bucket by bucket: those that the next step's forward needs first, which were completed last, are first.
  void add_sharded_updates(const std::vector<Target>& targets, BufferIndex square) {
    const std::vector<Bucket> buckets = buckets_of(step_, at_.pipeline);
    const WholeBuffers parameters(program_, BufferRole::parameter);
    for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
      std::vector<Target> here;
      for (const Target& target : targets)
        for (const BucketEntry& entry : bucket->entries)
          if (entry.parameter == target.parameter) here.push_back(target);
      // A shard may contain only padding.
      if (!here.empty()) program_.ops.push_back(update(op(Segment::update, bucket->index), here, square));
      if (step_.zero() == 3) continue;
      const BufferIndex whole = parameters.of(*bucket).front();
      program_.ops.push_back({OpId::of({OpKind::all_gather, Purpose::zero_parameter, bucket->chunk, -1, -1,
                                        Segment::whole, bucket->index}),
                              GroupKind::data,
                              -1,
                              {{base_of(program_.buffers, whole), Access::accumulate}}});
    }
  }

  RankProgram program_;
  const StepProgram& step_;
  Coordinates at_;
  const OptimizerRule& rule_;
  std::map<int, std::vector<BufferIndex>> states_;  ///< by parameter
};

}  // namespace

RankProgram add_optimizer(RankProgram program, const StepProgram& step) {
  return OptimizerPass(std::move(program), step).run();
}

}  // namespace rankscope
