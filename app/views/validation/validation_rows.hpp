// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of the validation view, and a picture of each, from engine/explain/validate. No widgets.
#pragma once
#include <vector>

#include "app/views/common/rows_model.hpp"
#include "app/views/plot/plot.hpp"
#include "engine/explain/validate/validate.hpp"

namespace rankscope::app {

/// The meaning of a table's errors and of their colours.
QString error_words(const ValidatedTable& table);

/// Title, rows, mean and worst error, Kendall's τ of all tables.
QStringList table_titles();
std::vector<std::vector<Cell>> table_rows(const std::vector<ValidatedTable>& tables);

/// Row with its notes (fitted to, an interval), published, predicted, error.
QStringList validated_titles(const ValidatedTable& table);
std::vector<std::vector<Cell>> validated_rows(const ValidatedTable& table);

/// Predicted over published: points on the line are exact. Rows to which a constant was fitted are rings.
Plot plot_of(const ValidatedTable& table, const Palette& colours);

}  // namespace rankscope::app
