// SPDX-License-Identifier: GPL-3.0-or-later
// The texts and rows of the range view, from the analysis. No widgets.
#pragma once
#include <QString>
#include <memory>
#include <vector>

#include "app/views/common/rows_model.hpp"
#include "app/views/common/view_table.hpp"
#include "engine/explain/analyse/range.hpp"
#include "engine/explain/facts/facts.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

struct RangeRequest {
  std::shared_ptr<const StoreView> run;
  std::shared_ptr<const StoreView> prediction;  ///< null: simulated spans of `run`
  std::shared_ptr<const RunContext> context;    ///< null: nothing is known, unless the run is imported
  Obtained shown = Obtained::measured;
  TimeRange range;                    ///< empty: the complete step
  std::optional<std::uint32_t> step;  ///< of an empty range
};

struct RangePicture {
  std::optional<RangeAnalysis> analysis;
  QString title, words;
  QStringList titles;
  std::vector<std::vector<Cell>> shares;  ///< mean and ranks, each as in the run, as predicted and as in the textbook
  std::vector<std::vector<Cell>> gap;     ///< largest first
};

RangePicture range_picture_of(const RangeRequest& request);

/// Seconds by class of every rank, as in the run, as predicted, and as in the textbook (in its own units).
ViewTable plain_table(const RangeAnalysis& analysis, Obtained shown);

}  // namespace rankscope::app
