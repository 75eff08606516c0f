// SPDX-License-Identifier: GPL-3.0-or-later
// The name of a cluster in a sentence.
#pragma once
#include <QString>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope::app {

/// "laptop"; with the figures that a scenario changed, if any: "laptop, with intra_bandwidth = 1.25 GB/s".
/// Reads that file: for worker threads.
QString cluster_words(const ClusterSpec& cluster);

}  // namespace rankscope::app
