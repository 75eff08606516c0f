// How reports write figures in JSON. Unknown values are null.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace rankscope::figure {

inline nlohmann::json known(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

/// Counts, where -1 is unknown.
inline nlohmann::json known(std::int64_t value) { return value >= 0 ? nlohmann::json(value) : nlohmann::json(nullptr); }

}  // namespace rankscope::figure
