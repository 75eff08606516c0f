// The parts of a rank's memory that are in a checkpoint.
#pragma once
#include <vector>

#include "engine/execute/checkpoint/checkpoint.hpp"
#include "engine/execute/run/arena.hpp"
#include "engine/plan/program/compile.hpp"

namespace rankscope {

/// The tensors that a program's checkpoint op writes, in the order of its uses.
std::vector<CheckpointTensor> checkpoint_tensors(const StepProgram& step, const RankProgram& program, const Op& op,
                                                 const Arena& arena);

/// Fills the rank's weights, masters and optimizer's states from a checkpoint of any plan of the same model. Throws
/// CheckpointError.
void restore(const Checkpoint& checkpoint, const StepProgram& step, const RankProgram& program, const Arena& arena,
             Device& device);

}  // namespace rankscope
