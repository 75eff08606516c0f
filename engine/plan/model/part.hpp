// The elements of a complete parameter that a rank holds: its tensor group's split, and a range of that (ZeRO
// cuts there). Used to generate initial weights, compare runs and write checkpoints.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/plan/model/model.hpp"

namespace rankscope {

/// Elements [local, local + count) of a rank's part are [global, global + count) of the complete parameter, row-major.
struct ElementRun {
  std::int64_t local = 0, global = 0, count = 0;
  /// Padding rows after the parameter's last one, so that all shares have one size: always zero.
  static constexpr std::int64_t padding = -1;
  bool is_padding() const { return global == padding; }
  bool operator==(const ElementRun&) const = default;
};

/// The longest runs, ascending in `local` from 0, of elements [first, first + count) of the part that the rank with
/// coordinate `tensor` in its tensor group holds of the parameter. Asserts that they are within its shape.
std::vector<ElementRun> element_runs(const ParameterSpec& parameter, int tensor, std::int64_t first,
                                     std::int64_t count);

}  // namespace rankscope
