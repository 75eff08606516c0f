// Process groups that traces do not name, as before PyTorch 2.2: inferred from what all ranks did alike.
#pragma once
#include <vector>

#include "telemetry/import/rank_trace.hpp"

namespace rankscope::import {

/// Collectives without a group are taken to be of all ranks, if every rank has a trace with the same of them in the same
/// order and they end together. What was assumed, and what stays unknown, is added to the traces' remarks. `traces` are
/// by rank.
void find_unnamed_groups(std::vector<RankTrace>& traces);

}  // namespace rankscope::import
