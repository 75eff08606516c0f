// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/figures.hpp"

#include <QCoreApplication>
#include <cmath>
#include <limits>

#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

void FiguresModel::set(std::shared_ptr<const Figures> figures) {
  latest_ = figures ? std::move(figures) : std::make_shared<const Figures>();
  emit changed();
}

std::optional<Algorithm> Figures::algorithm() const {
  return context ? algorithm_of(context->step.scenario.plan.collective) : std::nullopt;
}

Obtained headline_of(const StoreView& view) {
  const Hello* hello = view.hello();
  const bool device = hello != nullptr && hello->headline == ClockDomain::device;
  if (device && !view.extent(Obtained::emulated).empty()) return Obtained::emulated;
  if (!view.extent(Obtained::measured).empty()) return Obtained::measured;
  return view.extent(Obtained::simulated).empty() ? Obtained::measured : Obtained::simulated;
}

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

double greatest_peak(const Report& report, bool predicted) {
  double peak = std::numeric_limits<double>::quiet_NaN();
  for (const MemoryRow& row : report.memory)
    if (const auto& bytes = predicted ? row.predicted : row.measured)
      peak = std::fmax(peak, static_cast<double>(bytes->peak));  // which ignores NaN
  return peak;
}

double tokens_per_second(const Figures& figures, double step_seconds) {
  if (!figures.scenario || !(step_seconds > 0) || figures.scenario->model.is_collective())
    return std::numeric_limits<double>::quiet_NaN();
  const Scenario& scenario = *figures.scenario;
  return static_cast<double>(scenario.train.global_batch) * scenario.model.tokens_per_sample() / step_seconds;
}

QString run_column_name(const Figures& figures) {
  return run_column_name(figures.run ? figures.run->obtained : Obtained::measured);
}

QString run_column_name(Obtained obtained) {
  return obtained == Obtained::emulated ? QCoreApplication::translate("Figures", "emulated")
                                        : QCoreApplication::translate("Figures", "measured");
}

}  // namespace rankscope::app
