// SPDX-License-Identifier: GPL-3.0-or-later
// The puzzle's texts: names of boxes, why one cannot be placed, the state of the board, and the board as a table.
#pragma once
#include <QString>

#include "app/views/common/view_table.hpp"
#include "engine/lesson/puzzle/puzzle.hpp"

namespace rankscope::app {

/// "F0", "B3", "I1", "W1": the row gives the stage.
QString box_name(OpId box);
/// "F0 of stage 1".
QString box_words(OpId box);
/// "1 micro-batch", "3 micro-batches".
QString kept_words(int micro_batches);
QString fault_words(const PuzzleFault& fault, const PuzzleRules& rules);
/// "7 of 24 boxes; length so far: 12."; of a complete board its length, bubble, and how that compares.
/// `known`: known_solutions() of its rules.
QString board_words(const Puzzle& puzzle, const std::vector<PuzzlePar>& known);
/// The lengths to compare with: "Par is 33 units (1f1b). No order takes less than 33."
QString par_words(const PuzzleRules& rules, const std::vector<PuzzlePar>& known);
/// One row per placed box.
ViewTable table_of(const Puzzle& puzzle);

}  // namespace rankscope::app
