// The table [cluster] of a scenario: a machine by name, by the path of its file, or described in the scenario itself.
// Internal to the room.
#pragma once
#include <string>

#include "engine/plan/scenario/values.hpp"

namespace rankscope {

/// Completes the cluster. With `cluster.spec` the figures that the scenario does not give are read from that file; with
/// figures and no spec nothing is inherited; with neither it is the default. Throws ScenarioError if a figure is
/// missing that a prediction of this scenario needs, or has no effect. `name`: the scenario's file.
void read_cluster(Scenario& scenario, const std::string& name, const Places& places);

}  // namespace rankscope
