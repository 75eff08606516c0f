// Impossible figures: a share above 1, a time that is not positive. Each is a fault of the measurement. It is
// reported with the figures that it was computed from, and then becomes unknown.
#pragma once
#include "engine/explain/analyse/report.hpp"
#include "engine/op/not_known.hpp"

namespace rankscope::analysis {

/// The inputs of MFU and HFU, besides Report::step_seconds and Report::ranks.
struct RateInputs {
  double model_flops = not_known;     ///< of one step, on all ranks
  double hardware_flops = not_known;  ///< with recomputation
  double peak_flops = 0;              ///< of one device
};

/// A step's time that is not positive becomes NaN, and a fault. Called before anything is computed from it.
void withdraw_impossible_time(Report& report, StepRow& row);
/// The same for every share of the report: MFU, HFU, bubbles, the classes of `time`, the cost of telemetry.
void withdraw_impossible_shares(Report& report, const RateInputs& rates);

}  // namespace rankscope::analysis
