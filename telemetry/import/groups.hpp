// Process groups that traces do not name, as those of old versions of PyTorch: inferred, where all ranks have the same
// collectives.
#pragma once
#include <vector>

#include "telemetry/import/rank_trace.hpp"

namespace rankscope::import {

/// Collectives without a group are taken to be of all ranks, if every rank has a trace with the same of them in the
/// same order and they end together. What was assumed, and what stays unknown, is added to the traces' remarks.
void find_unnamed_groups(std::vector<RankTrace>& traces);

}  // namespace rankscope::import
