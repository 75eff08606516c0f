// Which checkpoint is used, and what is said of those that are not.
#pragma once
#include "engine/checkpoint/checkpoint.hpp"

namespace rankscope {

/// Says on standard error which newer checkpoints were passed over, what is damaged in each, and what of the one that
/// is used could not be checked. A line each, and none where there is nothing to say.
void report_choice(const WholeCheckpoint& found);

}  // namespace rankscope
