// SPDX-License-Identifier: GPL-3.0-or-later
// From a store to what the analysis asks for. Cost is bounded: of a long run the newest steps are taken apart, of all
// others the lengths and summaries count.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "app/session/prediction.hpp"
#include "engine/analyse/report.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// How many steps are taken apart op by op: enough for a median.
inline constexpr std::size_t most_analysed_steps = 16;

/// The obtained of the run's headline numbers: emulated on the device clock, measured on the wall's. Where there are no
/// such spans, what there is.
Obtained headline_of(const StoreView& view);

/// The ranks' programs as the run sent them; empty when one is missing or damaged.
std::vector<RankProgram> programs_of(const StoreView& view);

/// `programs` as programs_of gave them; `prediction` may be null.
RunFacts facts_of(const StoreView& view, const Scenario& scenario, const std::vector<RankProgram>& programs,
                  const Prediction* prediction);

/// The step taken apart, with the neighbours' ops that reach into it; nullopt when it is not there or has no programs.
std::optional<StepAnalysis> analyse_in(const StoreView& view, const std::vector<RankProgram>& programs,
                                       const RankGrid& grid, Obtained obtained, std::uint32_t step);

}  // namespace rankscope::app
