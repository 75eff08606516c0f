// SPDX-License-Identifier: GPL-3.0-or-later
// One analysis of a run: all data for the tables, made on a worker thread from a snapshot.
#pragma once
#include <memory>
#include <optional>

#include "app/session/figures.hpp"
#include "app/session/insight_cache.hpp"
#include "app/session/prediction.hpp"

namespace rankscope::app {

struct AnalysisRequest {
  std::uint64_t run_number = 0;          ///< returned unchanged: identifies results about an earlier run
  std::shared_ptr<const StoreView> run;  ///< null if nothing ran
  std::optional<Scenario> scenario;
  std::shared_ptr<const Prediction> prediction;  ///< may be null
  std::shared_ptr<const InsightContext> known;   ///< of an earlier analysis of the same run; null the first time
  bool over = false;                             ///< nothing more will arrive: more steps are analysed
  std::optional<std::uint32_t> step;             ///< the chosen one; none: the last complete one
};

struct Analysis {
  std::uint64_t run_number = 0;
  std::shared_ptr<const Figures> figures;
  std::shared_ptr<const InsightContext> context;
};

/// Does not throw: unknown values are empty.
Analysis analyse(const AnalysisRequest& request);

}  // namespace rankscope::app
