// The classes of a step's time: used by predictions, analyses and searches.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace rankscope {

/// What a rank spends its time on; the keys of `time` in --json. Tensor, pipeline, data and zero are exposed
/// communication.
enum class TimeClass : std::uint8_t { compute, recompute, tensor, pipeline, data, zero, optimizer, bubble, other };
inline constexpr int time_class_count = 9;
std::string_view name_of(TimeClass time);

/// Seconds of a step by class, averaged over ranks.
using StepParts = std::array<double, time_class_count>;

}  // namespace rankscope
