// Simulated steps as the events of a run: for the window's store, and for a recording that can be shared, exported and
// compared. All are marked as simulated.
#pragma once
#include <functional>
#include <vector>

#include "engine/plan/program/program.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// Hello::device of a recording in which nothing ran.
inline constexpr std::string_view simulated_device = "simulated";

/// `rank` is the sender; -1 the supervisor.
using EventPublisher = std::function<void(int rank, Event event)>;

/// The spans, and the programs' memory over the same time. `spans`: any ranks and steps. `hello`: for values not in
/// the scenario (device, host, time) and for peak_flops; if that is 0, the cluster's is used.
void publish_forecast(const Scenario& scenario, const std::vector<RankProgram>& programs,
                      const std::vector<Span>& spans, const EventPublisher& publish, Hello hello = {});

/// One of the identical replicas is shown: the slow rank's, for which the others wait, or the first.
int shown_replica(const Scenario& scenario);

/// One rank of each stage of that replica, which represents its stage: rank s here is stage s, and hello has as many
/// ranks as there are stages, fewer than the plan. For plans of too many ops; two consecutive steps.
void publish_folded_forecast(const Scenario& scenario, double step_seconds, const EventPublisher& publish,
                             Hello hello = {});

}  // namespace rankscope
