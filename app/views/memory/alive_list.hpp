// SPDX-License-Identifier: GPL-3.0-or-later
// The list of live buffers of a rank at one moment, largest first.
#pragma once
#include <QPainter>
#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/models/palette.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope::app {

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

struct AliveList {
  std::shared_ptr<const RankProgram> program;  ///< whose buffers they are; null: nothing is known
  int rank = 0;
  OpId op;             ///< while it runs; not valid(): nothing is known
  ClassBytes seen{};   ///< the moment's
  bool ended = false;  ///< the op: it is the time after it
  QString moment;      ///< "at the cursor", "at the peak"
  std::vector<AliveBuffer> buffers;
  std::int64_t device_bytes = 0;  ///< their sum, without the host's
};

/// Of a moment at which `seen` was in use. `program` may be null: then the list is empty. `before` is taken as it is
/// where it is of the same program's op.
AliveList alive_list(std::shared_ptr<const RankProgram> program, int rank, OpId op, const ClassBytes& seen,
                     const QString& moment, AliveList before);

/// In `area`, as many rows as it holds; the rest in one line under them.
void paint_alive(QPainter& painter, const QRectF& area, const AliveList& list, const Palette& colours);

}  // namespace rankscope::app
