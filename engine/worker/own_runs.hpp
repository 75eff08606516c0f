// `rankscope-engine validate --own`: our own runs, repeated on this machine and held against their simulation.
#pragma once
#include <string>

namespace rankscope {

/// Runs every row of the published table `own-runs`, measures this machine's ops on sizes of their own (measure_ops)
/// before and after each, predicts the row with them, and prints a table of the same form. `folder`: where to write
/// what was measured, as measured/NAME.toml and in published/own-runs.toml; empty: nowhere. The exit status.
int validate_own(const std::string& folder, const std::string& name, bool json);

}  // namespace rankscope
