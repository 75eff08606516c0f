// SPDX-License-Identifier: GPL-3.0-or-later
// Which step's gradients, counted by magnitude, views show.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/session/figures.hpp"

namespace rankscope::app {

/// A step's gradients by magnitude.
struct MagnitudeData {
  std::uint32_t step = 0;
  double loss_scale = 0;                                      ///< that they are multiplied by; 0: by none
  std::shared_ptr<const std::vector<std::int64_t>> counts{};  ///< StepRow::magnitudes; null: nothing is counted
};
/// Of that step, or of the last one before it that has counted them; without a step, of the last of all.
MagnitudeData magnitudes_at(const Figures& figures, std::optional<std::uint32_t> step);

}  // namespace rankscope::app
