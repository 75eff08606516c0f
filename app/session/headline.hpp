// SPDX-License-Identifier: GPL-3.0-or-later
// Selects how a run's main figures were obtained (measured, emulated or simulated).
#pragma once
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// As engine/explain/facts decides: emulated where hello names the device clock and something was emulated, else
/// measured; the prediction where there is nothing else.
Obtained headline_of(const StoreView& view);

}  // namespace rankscope::app
