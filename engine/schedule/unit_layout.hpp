// The textbook's time line of a schedule: equal chunks, free communication; a backward takes two units, everything else
// one. For this folder's own files.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/schedule/schedule.hpp"

namespace rankscope {

inline int units_of(OpKind kind) { return kind == OpKind::backward ? 2 : 1; }

struct UnitLayout {
  std::vector<std::vector<std::int64_t>> begin;  ///< [stage][position in its order]
  std::int64_t end = 0;
};

/// Throws std::invalid_argument when ops wait for each other in a circle.
UnitLayout lay_out(const ChunkSchedule& schedule);

}  // namespace rankscope
