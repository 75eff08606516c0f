// Changes programs to those of a cluster's software, if it differs from this engine.
#pragma once
#include <vector>

#include "engine/plan/program/program.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Two things are changed; the same program for software.overlap = true and reduced_bytes = 0.
///
///   reduced_bytes   gradients of 16-bit parameters have so many bytes an element (2, 4 or 8), and so have the messages
///                   that sum them; others are summed in their own type
///   overlap         if false, compute waits for every message and collective that was issued before it, and what sums
///                   gradients over data ranks runs after the last backward
///
/// Other properties of a cluster's software are in the costs (modelled_costs): fused, split_transfers, recompute_whole.
/// Only folded plans have messages in another type than their tensors (sent_bytes).
/// Throws std::invalid_argument for another reduced_bytes.
RankProgram as_run_on(const ClusterSpec& cluster, RankProgram program);

}  // namespace rankscope
