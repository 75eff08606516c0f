// Writes a scenario as a PyTorch script: the same model from the same weights on the same samples with the same
// optimizer, for torchrun over gloo. What a plan does here by ops, the script does by the usual PyTorch class:
// DistributedDataParallel, fully_shard, torch.distributed.pipelining. Comments name the corresponding keys.
//
// The script generates weights and samples with the engine's generator in numpy, so it needs only PyTorch and numpy.
// It prints each step's loss; those of the engine differ in roundings.
#pragma once
#include <string>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Why there is no script for a scenario: "plan.schedule: …; what would do", one line that begins with the key. Empty
/// if there is one. The scenario must compile.
std::string why_no_torch(const Scenario& scenario);

/// The script in Python. Throws PlanError with why_no_torch's text, or compile's.
std::string torch_script(const Scenario& scenario);

}  // namespace rankscope
