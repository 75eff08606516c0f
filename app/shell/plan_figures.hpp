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
  QString name, ideal, predicted, measured;  ///< en dash if a value is unknown
  QString help{};                            ///< the step and the ranks of the figures
};

std::vector<PlanLine> plan_lines(const Figures& figures);

/// The rows that would reveal the answer to a question about this value of the report ("bubble.measured").
std::set<PlanRow> rows_revealing(const QString& report_path);
/// True if "Where the step goes" would reveal it.
bool shares_reveal(const QString& report_path);
/// True if the training view's curves would reveal it.
bool training_reveals(const QString& report_path);

}  // namespace rankscope::app
