// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/training_rows.hpp"

#include <cmath>

namespace rankscope::app {

std::vector<TrainingRow> training_rows(const Figures& figures, const StoreView& view) {
  std::vector<TrainingRow> rows;
  if (!figures.run || (figures.scenario && figures.scenario->model.is_collective())) return rows;
  const int ranks = figures.run->ranks;
  const Hello* hello = view.hello();
  for (const StepRow& step : figures.run->steps) {
    TrainingRow& row = rows.emplace_back();
    row.step = step.step;
    row.values.fill(std::nan(""));
    row[Curve::loss] = step.loss;
    row[Curve::gradient_norm] = step.grad_norm;
    row[Curve::tokens_per_s] = step.tokens_per_s;
    row[Curve::power] = step.watts;
    const StepTotals* totals = figures.totals ? figures.totals->steps.find(step.step) : nullptr;
    if (totals == nullptr) continue;
    row[Curve::learning_rate] = totals->learning_rate;
    if (totals->loss_scale > 0) row[Curve::loss_scale] = totals->loss_scale;
    const double peak = hello != nullptr ? hello->peak_flops * ranks * step.seconds : 0;
    if (!(peak > 0) || !(totals->model_flops > 0)) continue;
    // More than the peak is impossible, and so it is not known (Report::faults).
    const auto share_of = [peak](double flops) { return flops <= peak ? 100 * flops / peak : std::nan(""); };
    row[Curve::mfu] = share_of(totals->model_flops);
    row.hfu = share_of(totals->hardware_flops);
  }
  return rows;
}

}  // namespace rankscope::app
