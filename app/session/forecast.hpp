// SPDX-License-Identifier: GPL-3.0-or-later
// Simulated steps as a store: what lies as a ghost under a run, and what is shown where nothing ran.
#pragma once
#include <memory>
#include <vector>

#include "engine/program/program.hpp"
#include "engine/scenario/scenario.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// The spans, and the memory that the programs need, over the same time. `spans` are of any ranks and steps, obtained
/// as simulated.
std::shared_ptr<const StoreView> forecast_store(const Scenario& scenario, const std::vector<RankProgram>& programs,
                                                const std::vector<Span>& spans);

/// Of replicas that do the same one is shown: the straggler's, for which the others wait, or the first.
int shown_replica(const Scenario& scenario);

/// One rank of each stage of that replica, which stands for all of its stage: rank s of this store is stage s. For
/// plans of too many ops; two steps, one after the other.
std::shared_ptr<const StoreView> folded_store(const Scenario& scenario, double step_seconds);

}  // namespace rankscope::app
