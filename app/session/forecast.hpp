// SPDX-License-Identifier: GPL-3.0-or-later
// Simulated steps as a store: the prediction under a run, and the data shown if nothing ran.
#pragma once
#include <memory>
#include <vector>

#include "engine/explain/facts/forecast.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// publish_forecast's.
std::shared_ptr<const StoreView> forecast_store(const Scenario& scenario, const std::vector<RankProgram>& programs,
                                                const std::vector<Span>& spans);

/// publish_folded_forecast's.
std::shared_ptr<const StoreView> folded_store(const Scenario& scenario, double step_seconds);

}  // namespace rankscope::app
