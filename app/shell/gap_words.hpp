// SPDX-License-Identifier: GPL-3.0-or-later
// Explains in words why the selected step took longer or shorter than predicted. No widgets.
#pragma once
#include <QString>
#include <optional>
#include <vector>

#include "app/session/figures.hpp"

namespace rankscope::app {

/// "84.9 ms, 0.9 % above predicted: compute +0.6 pp, bubble (first gradient) +0.1 pp": with its largest reasons. A
/// large difference is given as a multiple, and contention is named if ranks waited for a processor. A slow rank is
/// named first. Empty where the step or its prediction is missing, and no rank is slow.
QString gap_sentence(const Figures& figures, std::size_t most_reasons = 3);

/// Which share of the time of these measured compute ops their threads had a processor: 1 on a machine that is free.
/// Empty if that was not recorded, or if there are too few data.
std::optional<double> processor_share(const std::vector<Span>& spans);

}  // namespace rankscope::app
