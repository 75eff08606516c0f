// plan.stages = "measured": a model is cut into chunks by the costs of its parts, before anything is compiled.
#pragma once
#include <string>

#include "engine/execute/run/platform.hpp"
#include "engine/plan/model/balance.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// A scenario whose plan.stages is a list, and the origin of that list.
struct SettledStages {
  Scenario scenario;
  PartCosts seconds;      ///< of one micro-batch
  bool measured = false;  ///< on this machine; else modelled from the cluster's figures
};

/// Costs of the parts measured here, on that platform, unshared (predict_costs: some tenths of a second for a small
/// model); exchanges of tensor ranks are modelled by the cluster's links. Throws PlanError.
SettledStages measure_stages(const Scenario& scenario, std::shared_ptr<const Platform> platform = open_platform("cpu"));

/// The same only from the cluster's figures: for simulations and device "sleep". Throws PlanError.
SettledStages model_stages(const Scenario& scenario);

/// One line: the list, the costs of a block, the embedding and the head, and their source.
std::string to_text(const SettledStages& settled);

}  // namespace rankscope
