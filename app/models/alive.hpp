// SPDX-License-Identifier: GPL-3.0-or-later
// The live buffers in a rank's memory while an op runs, according to its program.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/program/program.hpp"

namespace rankscope {

/// A buffer that is alive. Views are part of the buffer that they are views of.
struct AliveBuffer {
  std::string name;
  MemoryClass memory = MemoryClass::activations;  ///< as the ledger counts it
  std::int64_t bytes = 0;
  OpId first, last;  ///< of the step, the ops between which it keeps its place; not valid(): all the time
};

/// Largest first. Their sums by class are memory_profile's at that op, but for the kernels' scratch, which is a row of
/// its own.
std::vector<AliveBuffer> alive_at(const RankProgram& program, OpIndex op);

/// Of `alive`, which alive_at gave, what is left when the op has ended, if what was seen is less than while it runs.
/// Scratch, context and the host's memory are not compared: a run knows them better than its program. True if it was.
bool drop_ended(std::vector<AliveBuffer>& alive, OpId op, const ClassBytes& seen);

/// The op's place in its program; none where the program does not have it.
std::optional<OpIndex> index_of(const RankProgram& program, OpId op);

}  // namespace rankscope
