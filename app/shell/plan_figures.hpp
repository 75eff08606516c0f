// SPDX-License-Identifier: GPL-3.0-or-later
// "This plan" as text: ideal, predicted and measured figures. No widgets.
#pragma once
#include <QString>
#include <set>
#include <vector>

#include "app/session/figures.hpp"

namespace rankscope::app {

enum class PlanRow { step, tokens, bubble, peak_memory, sent, mfu };
inline constexpr int plan_row_count = 6;

struct PlanLine {
  PlanRow row = PlanRow::step;
  QString name, ideal, predicted, measured;  ///< en dash where a value is not known
  QString help{};                            ///< of which step, and of which ranks
};

std::vector<PlanLine> plan_lines(const Figures& figures);

/// The rows that would give away the answer to a question about this value of the report ("bubble.measured").
std::set<PlanRow> rows_revealing(const QString& report_path);
/// True if "Where the step goes" would.
bool shares_reveal(const QString& report_path);
/// True if the training view's curves would.
bool training_reveals(const QString& report_path);

}  // namespace rankscope::app
