// Changes programs to those of a cluster's software, if it differs from this engine.
#pragma once
#include <vector>

#include "engine/plan/program/program.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Two changes; the program is unchanged for software.overlap = true and reduced_bytes = 0.
///
///   reduced_bytes   gradients of 16-bit parameters have this many bytes per element (2, 4 or 8), as do the messages
///                   that sum them; others are summed in their own type
///   overlap         if false, compute waits for every message and collective issued before it, and the sums of
///                   gradients over data ranks run after the last backward
///
/// Other properties of a cluster's software are in the costs (modelled_costs): fused, split_transfers, recompute_whole.
/// Only folded plans have messages in another type than their tensors (sent_bytes).
/// Throws std::invalid_argument for another reduced_bytes.
RankProgram as_run_on(const ClusterSpec& cluster, RankProgram program);

}  // namespace rankscope
