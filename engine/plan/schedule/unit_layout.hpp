// The textbook's time line of a schedule: equal chunks, free communication; a backward takes two units, everything else
// one.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/schedule/schedule.hpp"

namespace rankscope {

inline int units_of(OpKind kind) { return kind == OpKind::backward ? 2 : 1; }

/// A result that an op needs: the output of the forward of that chunk and micro-batch; or its gradient, from a
/// backward, or from an input gradient if backwards are split.
struct NeededPass {
  bool is_forward = true;
  int chunk = 0, micro_batch = 0;
};
class NeededPasses {
 public:
  void add(NeededPass pass) { passes_[count_++] = pass; }
  std::span<const NeededPass> list() const { return {passes_.data(), count_}; }

 private:
  std::array<NeededPass, 2> passes_{};  ///< no allocation: the layout of a schedule calls this for each op
  std::size_t count_ = 0;
};
/// The passes that must end before a forward, backward, input gradient or weight gradient can begin, in the order
/// in which they end. `chunks`: of the pipeline.
NeededPasses needs_of(const OpFields& op, int chunks);

struct UnitLayout {
  std::vector<std::vector<std::int64_t>> begin;  ///< [stage][position in its order]
  std::int64_t end = 0;
};

/// Throws std::invalid_argument if ops wait for each other in a cycle.
UnitLayout lay_out(const ChunkSchedule& schedule);
/// The same with passes of the relative durations in PipelineShape::times, in their own units.
UnitLayout lay_out_in_pass_times(const ChunkSchedule& schedule);

/// An op of the textbook's time line.
struct UnitOp {
  OpId op;
  int stage = 0;
  int round = 0;  ///< which of its stage's chunks, from 0, in the order in which a micro-batch reaches them
  std::int64_t begin = 0, end = 0;
};
/// By stage and begin.
std::vector<UnitOp> unit_ops(const ChunkSchedule& schedule);

}  // namespace rankscope
