// SPDX-License-Identifier: GPL-3.0-or-later
// The texts and rows of the compare view, from the figures of two runs. No widgets.
#pragma once
#include <QString>
#include <vector>

#include "app/session/figures.hpp"
#include "app/views/common/rows_model.hpp"

namespace rankscope::app {

/// The quantities to compare.
enum class CompareBy { summary, time, causes, ops, ranks };
inline constexpr int compare_by_count = 5;
QString label_of(CompareBy by);

/// "", "A", "B", "B − A", "%".
QStringList compare_titles();
/// Whole-run figures for the summary, else of the step of each of the two figures. Empty if one of the
/// two is missing.
std::vector<std::vector<Cell>> compare_rows(const Figures& a, const Figures& b, CompareBy by);
/// Why the steps of A and B have different times, largest reasons first; empty if one of the two is missing.
QString compare_sentence(const Figures& a, const Figures& b);

}  // namespace rankscope::app
