// SPDX-License-Identifier: GPL-3.0-or-later
// The list of live buffers of a rank at one moment, largest first.
#pragma once
#include <QPainter>
#include <QString>
#include <memory>
#include <vector>

#include "app/models/alive.hpp"
#include "app/models/palette.hpp"

namespace rankscope::app {

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
