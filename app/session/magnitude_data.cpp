// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/magnitude_data.hpp"

namespace rankscope::app {

MagnitudeData magnitudes_at(const Figures& figures, std::optional<std::uint32_t> step) {
  MagnitudeData shown;
  if (!figures.run) return shown;
  for (const StepRow& row : figures.run->steps) {
    if (!row.magnitudes) continue;
    if (shown.counts && step && row.step > *step) break;
    shown = {row.step, row.loss_scale, row.magnitudes};
  }
  return shown;
}

}  // namespace rankscope::app
