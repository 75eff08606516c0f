// The scratch memory that a kernel set needs for a rank's program, known before anything runs.
#pragma once
#include <span>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/run/platform.hpp"
#include "engine/plan/program/compile.hpp"

namespace rankscope {

/// Sets scratch_bytes and host_scratch_bytes of each program to what its rank will reserve beside its arena: the most
/// that any op's kernels ask for; and on a GPU context_bytes, to cluster.context_bytes where the scenario says that,
/// else to what driver and libraries have taken when this is done. Ops are bound to addresses without memory, one of
/// each signature: nothing is launched, and nothing reserved but the tables of addresses that a GPU's kernels may keep.
/// It is left at 0 for a program of which the set lacks a kernel; the run says which.
void set_scratch(const StepProgram& step, std::span<RankProgram> programs, const Platform& platform);
/// The same where ranks are processes. Rank 0 is first, and measures products while the others wait: all ranks then
/// have its choices (kernels/product_choices.hpp) and compute the same bits. Collective.
void set_scratch_with_shared_choices(const StepProgram& step, std::span<RankProgram> programs, const Platform& platform,
                                     World& processes);
/// On this machine's CPU, one thread a rank: what a prediction adds (Prepare of engine/explain/facts/prediction.hpp).
void add_host_scratch(const StepProgram& step, std::span<RankProgram> programs);

}  // namespace rankscope
