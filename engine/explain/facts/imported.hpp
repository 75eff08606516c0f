// The facts of an imported run (telemetry/import): another program's, which has neither a scenario nor programs.
#pragma once
#include <optional>
#include <vector>

#include "engine/explain/analyse/report.hpp"
#include "engine/step/facts.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// Whether the run's ranks sent facts in place of programs.
bool is_imported(const StoreView& store);

/// By rank; those that did not arrive have no names. Empty if the run is not imported.
std::vector<StepFacts> step_facts(const StoreView& store);

/// A step of it, linked, with its spans and those of its neighbours that ran meanwhile. Nothing if it has no span.
std::optional<ObservedStep> imported_step(const StoreView& store, const std::vector<StepFacts>& facts,
                                          std::uint32_t step);

/// For a report. `steps`: so many of the latest steps have their spans.
RunFacts facts_of_import(const StoreView& store, const std::vector<StepFacts>& facts, std::size_t steps = 24);

}  // namespace rankscope
