// SPDX-License-Identifier: GPL-3.0-or-later
// Explains in words why the selected step took longer or shorter than predicted. No widgets.
#pragma once
#include <QString>

#include "app/session/figures.hpp"

namespace rankscope::app {

/// "84.9 ms, 0.9 % above predicted: compute +0.6 pp, bubble (first gradient) +0.1 pp": with its largest reasons. A
/// large difference is given as a multiple, and contention is named if ranks waited for a processor. A slow rank is
/// named first. Empty if the step or its prediction is missing, and no rank is slow.
QString gap_sentence(const Figures& figures, std::size_t most_reasons = 3);

}  // namespace rankscope::app
