// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the ways a run was observed is the one that its numbers are about.
#pragma once
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// As engine/explain/facts decides: emulated where hello names the device clock and something was emulated, else
/// measured; the prediction where there is nothing else.
Obtained headline_of(const StoreView& view);

}  // namespace rankscope::app
