// SPDX-License-Identifier: GPL-3.0-or-later
// What scales save, as rows of a table: each format with no scale, one in all, one per tensor and one per block.
#pragma once
#include <vector>

#include "app/views/common/rows_model.hpp"

namespace rankscope::app {

QStringList scale_titles();
/// Of the stated tensors (engine/lesson/formats/scales.hpp).
std::vector<std::vector<Cell>> scale_rows();
/// Which tensors these are.
QString scale_words();

}  // namespace rankscope::app
