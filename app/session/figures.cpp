// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/figures.hpp"

#include <QCoreApplication>

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

void FiguresModel::set(std::shared_ptr<const Figures> figures) {
  latest_ = figures ? std::move(figures) : std::make_shared<const Figures>();
  emit changed();
}

QString run_column_name(const Figures& figures) {
  const bool emulated = figures.run && figures.run->obtained == Obtained::emulated;
  return emulated ? QCoreApplication::translate("Figures", "emulated")
                  : QCoreApplication::translate("Figures", "measured");
}

}  // namespace rankscope::app
