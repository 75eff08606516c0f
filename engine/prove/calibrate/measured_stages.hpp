// plan.stages = "measured": a model is cut into chunks by what its parts cost, before anything is compiled.
#pragma once
#include <string>

#include "engine/execute/run/platform.hpp"
#include "engine/plan/model/balance.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// A scenario whose plan.stages is a list, and how that came about.
struct SettledStages {
  Scenario scenario;
  PartCosts seconds;      ///< of one micro-batch
  bool measured = false;  ///< on this machine; else modelled from the cluster's figures
};

/// Costs of the parts measured here, alone on that platform (predict_costs: some tenths of a second for a small
/// model); what tensor ranks exchange is modelled by the cluster's links. Throws PlanError.
SettledStages measure_stages(const Scenario& scenario, std::shared_ptr<const Platform> platform = open_platform("cpu"));

/// The same from the cluster's figures alone: for what is simulated, or sleeps. Throws PlanError.
SettledStages model_stages(const Scenario& scenario);

/// One line: the list, what a block, the embedding and the head cost, and where that is known from.
std::string to_text(const SettledStages& settled);

}  // namespace rankscope
