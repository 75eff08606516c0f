// The textbook's time line of a schedule: equal chunks, free communication; a backward takes two units, everything else
// one.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/plan/schedule/schedule.hpp"

namespace rankscope {

inline int units_of(OpKind kind) { return kind == OpKind::backward ? 2 : 1; }

struct UnitLayout {
  std::vector<std::vector<std::int64_t>> begin;  ///< [stage][position in its order]
  std::int64_t end = 0;
};

/// Throws std::invalid_argument when ops wait for each other in a circle.
UnitLayout lay_out(const ChunkSchedule& schedule);
/// The same with passes that take as long beside each other as PipelineShape::times says, in units of their own.
UnitLayout lay_out_in_pass_times(const ChunkSchedule& schedule);

/// An op of the textbook's time line.
struct UnitOp {
  OpId op;
  int stage = 0;
  int round = 0;  ///< which of its stage's chunks, from 0, in the order in which a micro-batch comes to them
  std::int64_t begin = 0, end = 0;
};
/// By stage and begin.
std::vector<UnitOp> unit_ops(const ChunkSchedule& schedule);

}  // namespace rankscope
