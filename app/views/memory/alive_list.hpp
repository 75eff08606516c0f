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

/// A live buffer. Views belong to the buffer that they are views of.
struct AliveBuffer {
  std::string name;
  MemoryClass memory = MemoryClass::activations;  ///< as in the ledger
  std::int64_t bytes = 0;
  OpId first, last;  ///< of the step: the ops between which it is allocated; not valid(): always
};

/// Largest first. Their sums by class are memory_profile's at that op, except the kernels' scratch, which has its own
/// row.
std::vector<AliveBuffer> alive_at(const RankProgram& program, OpIndex op);

/// Removes from `alive`, alive_at()'s result, the buffers that end with the op, if `seen` is less than during the op.
/// Scratch, context and host memory are not compared: the run's values are better than the program's. True if it did.
bool drop_ended(std::vector<AliveBuffer>& alive, OpId op, const ClassBytes& seen);

/// The op's index in its program; none if the program does not have it.
std::optional<OpIndex> index_of(const RankProgram& program, OpId op);

struct AliveList {
  std::shared_ptr<const RankProgram> program;  ///< the owner of the buffers; null: nothing is known
  int rank = 0;
  OpId op;             ///< during this op; not valid(): nothing is known
  ClassBytes seen{};   ///< at that moment
  bool ended = false;  ///< the moment is after the op's end
  QString moment;      ///< "at the cursor", "at the peak"
  std::vector<AliveBuffer> buffers;
  std::int64_t device_bytes = 0;  ///< their sum, without the host's
};

/// Of a moment at which `seen` was in use. `program` may be null: then the list is empty. `before` is reused
/// if it is of the same program's op.
AliveList alive_list(std::shared_ptr<const RankProgram> program, int rank, OpId op, const ClassBytes& seen,
                     const QString& moment, AliveList before);

/// In `area`, as many rows as fit; the rest in one line below them.
void paint_alive(QPainter& painter, const QRectF& area, const AliveList& list, const Palette& colours);

}  // namespace rankscope::app
