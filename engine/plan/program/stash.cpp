// Weight stashing (PipeDream, Narayanan et al. 2019, arXiv 1806.03377, section 3.3): a stage that updates after each
// micro-batch keeps, for every micro-batch between its forward and its backward, the weights that its forward used.
//
//   F m2 │ B m0 │ OPT m0 │ F m3 │ B m1 │ OPT m1 │ …      a stage with two more after it
//                ↑ version 0 is copied: m1 and m2 used it in forward
//
// Weights change in place, so the newest version needs no copy. A weight is copied if a backward, or a forward that is
// repeated for it, reads an older version.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

class StashPass {
 public:
  explicit StashPass(RankProgram program) : program_(std::move(program)) {}

  RankProgram run() {
    const std::size_t ops = program_.ops.size();
    std::map<int, int> version_of;  // by micro-batch: the version that its forward used
    for (std::size_t i = 0; i < ops; ++i) {
      const OpFields f = program_.ops[i].id.fields();
      if (f.kind == OpKind::optimizer && f.segment == Segment::update)
        ends_.push_back(i);
      else if (f.kind == OpKind::forward)
        version_of[f.micro_batch] = newest();
      else if (is_model_compute(f.kind) && version_of.at(f.micro_batch) < newest())
        read_version(i, version_of.at(f.micro_batch));
    }
    std::vector<Insertion> copies;
    for (const auto& [version, kept] : kept_) copies.push_back({ends_[version], copy_op(version, kept)});
    return insert_ops(std::move(program_), std::move(copies));
  }

 private:
  using Copies = std::map<BufferIndex, BufferIndex>;  ///< of weights

  int newest() const { return static_cast<int>(ends_.size()); }

  void read_version(std::size_t op, int version) {
    for (BufferUse& use : program_.ops[op].uses) {
      const Buffer& buffer = program_.buffers[use.buffer];
      if (buffer.role == BufferRole::parameter && buffer.persistent) use.buffer = kept(version, use.buffer);
    }
  }

  BufferIndex kept(int version, BufferIndex weights) {
    const auto [found, made] = kept_[version].try_emplace(weights, 0);
    if (made) {
      Buffer copy = program_.buffers[weights];
      copy.name = fmt::format("v{}:{}", version, copy.name);
      copy.persistent = false;
      found->second = program_.add(std::move(copy));
    }
    return found->second;
  }

  /// The sources, then their destinations.
  Op copy_op(int version, const Copies& copies) const {
    OpFields f = program_.ops[ends_[version]].id.fields();
    f.segment = Segment::stash;
    Op op{OpId::of(f)};
    for (const auto& [weights, copy] : copies) op.uses.push_back({weights, Access::read});
    for (const auto& [weights, copy] : copies) op.uses.push_back({copy, Access::write});
    return op;
  }

  RankProgram program_;
  std::vector<std::size_t> ends_;  ///< [version]: the update that makes the next version of it, in program order
  std::map<int, Copies> kept_;     ///< by version
};

}  // namespace

RankProgram stash_weights(RankProgram program, const StepProgram& step) {
  return step.scenario.plan.weight_stashing ? StashPass(std::move(program)).run() : program;
}

}  // namespace rankscope
