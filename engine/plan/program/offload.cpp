// ZeRO-Offload (Ren et al. 2021, arXiv 2101.06840): the optimizer's states are in the host's memory, which is cheap,
// and are never copied to the device: the host updates. Copied are each gradient, once it is final, and each new
// parameter.
//
//   device          gradients, square norm                        parameters
//   copy lane             └─ COPY.offload ─┐              ┌─ COPY.offload:.update ─┘
//   host lane                              └─ OPT.offload ┘
//
// The host keeps a copy of the parameters, or else it would have to fetch them first.
#include <map>
#include <optional>

#include "engine/plan/program/bucket.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

/// A parameter's operands of an update: its gradient, itself, its states.
struct UpdateOperands {
  int parameter = 0;
  std::vector<BufferUse> uses;
};

bool is_device_update(const Op& op) {
  const OpFields f = op.id.fields();
  return f.kind == OpKind::optimizer && f.purpose == Purpose::none && f.segment == Segment::update;
}

class OffloadPass {
 public:
  OffloadPass(RankProgram program, const StepProgram& step)
      : program_(std::move(program)), buckets_(buckets_of(step, step.grid.coordinates_of(program_.rank).pipeline)) {
    for (std::size_t i = 0; i < program_.ops.size(); ++i)
      for (const BufferUse& use : program_.ops[i].uses)
        if (use.access != Access::read) after_last_write_[base_of(program_.buffers, use.buffer)] = i + 1;
  }

  RankProgram run() {
    for (std::size_t i = 0; i < program_.ops.size(); ++i)
      if (is_device_update(program_.ops[i])) move_update(i);
    program_ = insert_ops(std::move(program_), std::move(insertions_));
    std::erase_if(program_.ops, is_device_update);
    return std::move(program_);
  }

 private:
  /// The host's copy of a buffer.
  BufferIndex twin(BufferIndex of) {
    Buffer copy = program_.buffers[of];
    copy.name = "host:" + copy.name;
    copy.host = copy.persistent = true;
    copy.within = -1;
    copy.at = 0;
    return program_.add(std::move(copy));
  }

  Op copy_op(const Op& update, Segment segment, int index, const std::vector<BufferIndex>& from,
             const std::vector<BufferIndex>& to) const {
    Op op{OpId::of({OpKind::copy, Purpose::offload, update.id.fields().chunk, -1, -1, segment, index})};
    for (const BufferIndex b : from) op.uses.push_back({b, Access::read});
    for (const BufferIndex b : to) op.uses.push_back({b, Access::write});
    return op;
  }

  std::vector<UpdateOperands> targets_of(const Op& update) const {
    std::vector<UpdateOperands> targets;
    for (std::size_t u = 1; u < update.uses.size(); ++u) {
      const Buffer& buffer = program_.buffers[update.uses[u].buffer];
      if (buffer.parameter < 0) continue;
      if (buffer.role == BufferRole::gradient) targets.push_back({buffer.parameter, {}});
      targets.back().uses.push_back(update.uses[u]);
    }
    return targets;
  }

  /// The square norm, and the loss scale that it was computed with, before the device changes that.
  void move_scalars(std::size_t at) {
    const Op& update = program_.ops[at];
    std::vector<BufferIndex> scalars{update.uses.front().buffer};
    if (const BufferIndex last = update.uses.back().buffer; program_.buffers[last].role == BufferRole::loss_scale)
      scalars.push_back(last);
    for (const BufferIndex b : scalars) {
      host_scalars_.push_back(twin(b));
      program_.buffers[host_scalars_.back()].role = BufferRole::scalar;
    }
    insertions_.push_back({at, copy_op(update, Segment::norm, -1, scalars, host_scalars_)});
  }

  /// The update at that position, bucket by bucket: those that the next step's forward needs first, which were
  /// completed last, are first.
  void move_update(std::size_t at) {
    if (host_scalars_.empty()) move_scalars(at);
    const std::vector<UpdateOperands> targets = targets_of(program_.ops[at]);
    for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend(); ++bucket) {
      std::vector<UpdateOperands> here;
      for (const UpdateOperands& target : targets)
        for (const BucketEntry& entry : bucket->entries)
          if (entry.parameter == target.parameter) here.push_back(target);
      if (!here.empty()) move_bucket(at, bucket->index, here);
    }
  }

  void move_bucket(std::size_t at, int index, const std::vector<UpdateOperands>& targets) {
    Op update{OpId::of(
        {OpKind::optimizer, Purpose::offload, program_.ops[at].id.fields().chunk, -1, -1, Segment::update, index})};
    update.uses.push_back({host_scalars_.front(), Access::read});
    std::vector<BufferIndex> gradients, host_gradients, values, host_values;
    std::size_t final = 0;
    for (const UpdateOperands& target : targets) {
      const BufferIndex gradient = target.uses[0].buffer, value = target.uses[1].buffer;
      gradients.push_back(gradient);
      host_gradients.push_back(twin(gradient));
      values.push_back(value);
      host_values.push_back(twin(value));
      update.uses.push_back({host_gradients.back(), Access::read});
      update.uses.push_back({host_values.back(), Access::accumulate});
      for (std::size_t u = 2; u < target.uses.size(); ++u) {
        program_.buffers[target.uses[u].buffer].host = true;
        update.uses.push_back(target.uses[u]);
      }
      final = std::max(final, after_last_write_.at(base_of(program_.buffers, gradient)));
    }
    if (host_scalars_.size() > 1) update.uses.push_back({host_scalars_.back(), Access::read});
    insertions_.push_back({final, copy_op(update, Segment::whole, index, gradients, host_gradients)});
    const Op back = copy_op(update, Segment::update, index, host_values, values);
    insertions_.push_back({at, std::move(update)});
    insertions_.push_back({at, back});
  }

  RankProgram program_;
  std::vector<Bucket> buckets_;
  std::map<BufferIndex, std::size_t> after_last_write_;  ///< by buffer that is not a view: in program order
  std::vector<Insertion> insertions_;
  std::vector<BufferIndex> host_scalars_;  ///< the host's square norm, and its loss scale if there is one
};

}  // namespace

RankProgram offload_optimizer(RankProgram program, const StepProgram& step) {
  return step.offloads() ? OffloadPass(std::move(program), step).run() : program;
}

}  // namespace rankscope
