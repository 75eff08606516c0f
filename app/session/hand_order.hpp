// SPDX-License-Identifier: GPL-3.0-or-later
// The order of a plan's stages as editable text: the current order, and its errors. No widgets.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"
#include "engine/plan/schedule/unit_layout.hpp"

namespace rankscope::app {

/// The plan's order, one line per stage: its own, or that of its schedule. Throws std::invalid_argument for a
/// schedule that does not fit its shape.
std::string order_text(const PlanSpec& plan);

/// The plan with that schedule. "by-hand" begins with the existing order; any other has none. An unknown
/// order begins empty.
void choose_schedule(PlanSpec& plan, ScheduleKind schedule);

struct OrderCheck {
  bool ok = false;
  int line = 0;         ///< of the error, from 1; 0: no particular line
  std::string token;    ///< the op that the message is about; empty: none, or the whole line
  std::string message;  ///< why it cannot run, and a correction; empty: it can
  /// Of an order that can run: with equal chunks and free links.
  double ideal_bubble = std::numeric_limits<double>::quiet_NaN();
  std::vector<UnitOp> units;  ///< the same as a schedule, one entry per op
};
/// For the plan's stages, virtual stages and micro-batches.
OrderCheck check_order(const std::string& text, const PlanSpec& plan);

}  // namespace rankscope::app
