// SPDX-License-Identifier: GPL-3.0-or-later
// The data of the training view by step: from the report and from the ranks' summaries. No widgets.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "app/session/figures.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// One chart each, in this order.
enum class Curve : std::uint8_t { loss, gradient_norm, learning_rate, loss_scale, tokens_per_s, mfu, power };
inline constexpr std::size_t curve_count = 7;

/// A step's figures; NaN where they are not known.
struct TrainingRow {
  std::uint32_t step = 0;
  std::array<double, curve_count> values{};               ///< by Curve; shares in per cent, power in watts
  double hfu = std::numeric_limits<double>::quiet_NaN();  ///< per cent
  double operator[](Curve curve) const { return values[static_cast<std::size_t>(curve)]; }
  double& operator[](Curve curve) { return values[static_cast<std::size_t>(curve)]; }
};

/// By step; empty while nothing ran.
std::vector<TrainingRow> training_rows(const Figures& figures, const StoreView& view);

}  // namespace rankscope::app
