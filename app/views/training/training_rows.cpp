// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/training_rows.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace rankscope::app {
namespace {

/// What a step's summaries say together.
struct Told {
  double learning_rate = std::nan(""), loss_scale = 0, model_flops = 0, hardware_flops = 0;
};

}  // namespace

std::vector<TrainingRow> training_rows(const Figures& figures, const StoreView& view) {
  std::vector<TrainingRow> rows;
  if (!figures.run) return rows;
  const int ranks = figures.run->ranks;
  std::unordered_map<std::uint32_t, Told> told;
  for (int rank = 0; rank < ranks; ++rank)
    for (const StepSummary& summary : view.summaries(rank)) {
      Told& step = told[summary.step];
      if (!std::isfinite(step.learning_rate)) step.learning_rate = summary.learning_rate;
      step.loss_scale = std::max(step.loss_scale, summary.loss_scale);
      step.model_flops += summary.model_flops;
      step.hardware_flops += summary.hardware_flops;
    }
  const Hello* hello = view.hello();
  for (const StepRow& step : figures.run->steps) {
    TrainingRow& row = rows.emplace_back();
    row.step = step.step;
    row.values.fill(std::nan(""));
    row[Curve::loss] = step.loss;
    row[Curve::gradient_norm] = step.grad_norm;
    row[Curve::tokens_per_s] = step.tokens_per_s;
    const auto found = told.find(step.step);
    if (found == told.end()) continue;
    row[Curve::learning_rate] = found->second.learning_rate;
    if (found->second.loss_scale > 0) row[Curve::loss_scale] = found->second.loss_scale;
    const double peak = hello != nullptr ? hello->peak_flops * ranks * step.seconds : 0;
    if (!(peak > 0) || !(found->second.model_flops > 0)) continue;
    row[Curve::mfu] = 100 * found->second.model_flops / peak;
    row.hfu = 100 * found->second.hardware_flops / peak;
  }
  return rows;
}

}  // namespace rankscope::app
