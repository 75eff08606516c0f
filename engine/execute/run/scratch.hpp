// The scratch memory that a kernel set needs for a rank's program, known before anything runs.
#pragma once
#include <span>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/run/platform.hpp"
#include "engine/plan/program/compile.hpp"

namespace rankscope {

/// Sets scratch_bytes and host_scratch_bytes of each program to the size that its rank will reserve in addition to its
/// arena: the maximum over all ops' kernels; and on a GPU context_bytes, to cluster.context_bytes if the scenario sets
/// it, else to the memory that driver and libraries use after this call. Ops are bound to addresses without memory, one
/// of each signature: nothing is launched, and only the tables of addresses that a GPU's kernels may keep are reserved.
/// The sizes stay 0 for a program of which the set lacks a kernel; the run reports it.
void set_scratch(const StepProgram& step, std::span<RankProgram> programs, const Platform& platform);
/// The same if ranks are processes. Rank 0 is first, and measures products while the others wait: all ranks then have
/// its choices (kernels/product_choices.hpp) and compute bit-identical results. Collective.
void set_scratch_with_shared_choices(const StepProgram& step, std::span<RankProgram> programs, const Platform& platform,
                                     World& processes);
/// On this machine's CPU, one thread per rank: for a prediction (Prepare in engine/explain/facts/prediction.hpp).
void add_host_scratch(const StepProgram& step, std::span<RankProgram> programs);

}  // namespace rankscope
