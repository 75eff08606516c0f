// A scenario as a script in PyTorch's own words: the same model from the same weights on the same samples with the same
// optimizer, for torchrun over gloo. What a plan does here by ops, the script does by the class that people use for it:
// DistributedDataParallel, fully_shard, torch.distributed.pipelining. A reader who knows one finds the other beside it.
//
// The script draws weights and samples itself, by the engine's generator in numpy, so it needs PyTorch and numpy alone.
// It prints each step's loss; those of the engine differ in roundings.
#pragma once
#include <string>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Why there is no script for a scenario: "plan.schedule: …; what would do", one line that begins with the key. Empty
/// where there is one. The scenario is one that compiles.
std::string why_no_torch(const Scenario& scenario);

/// The script, Python's text. Throws PlanError with why_no_torch's words, or compile's.
std::string torch_script(const Scenario& scenario);

}  // namespace rankscope
