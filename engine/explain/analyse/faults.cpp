#include "engine/explain/analyse/faults.hpp"

#include <cmath>

#include "engine/op/not_known.hpp"
#include "engine/op/words.hpp"

namespace rankscope::analysis {
namespace {

using figure::duration;

constexpr double rounding = 1e-6;  ///< of sums of shares

bool is_share(double value) { return std::isnan(value) || (value >= -rounding && value <= 1 + rounding); }

/// `inputs`: the figures that the share was computed from.
void withdraw(Report& report, const std::string& name, double& share, const std::string& inputs) {
  if (is_share(share)) return;
  report.faults.push_back(fmt::format("{} of {:.3f} is impossible (a share is between 0 and 1): ", name, share) +
                          inputs);
  share = not_known;
}

std::string rate_inputs(const Report& report, double flops, double peak) {
  return fmt::format(
      "{:.4g} GFLOP in {} ({} clock) on {} with a peak of {:.4g} GFLOP/s each; measure the peak again: "
      "rankscope-engine peak --again",
      flops * 1e-9, duration(report.step_seconds), std::string(name_of(report.clock)), counted(report.ranks, "device"),
      peak * 1e-9);
}

/// An analysed step, as text.
std::string step_inputs(const std::optional<StepAnalysis>& step) {
  if (!step) return "no step was analysed";
  return fmt::format("step {} of {} on {}, {} missing", step->step, duration(step->seconds()),
                     counted(step->workers, "rank"), counted(step->missing_spans, "span"));
}

}  // namespace

void withdraw_impossible_time(Report& report, StepRow& row) {
  if (std::isnan(row.seconds) || row.seconds > 0) return;
  report.faults.push_back(fmt::format(
      "a time of {:.6f} ms for step {} is impossible: from the first begin to the last end of its ranks on the {} "
      "clock, whose ranks are fitted within {:.6f} ms",
      1e3 * row.seconds, row.step, std::string(name_of(report.clock)),
      1e3 * (std::isnan(report.clock_uncertainty_s) ? 0 : report.clock_uncertainty_s)));
  row.seconds = not_known;
}

void withdraw_impossible_shares(Report& report, const RateInputs& rates) {
  withdraw(report, "MFU", report.mfu, rate_inputs(report, rates.model_flops, rates.peak_flops));
  withdraw(report, "HFU", report.hfu, rate_inputs(report, rates.hardware_flops, rates.peak_flops));
  for (const auto& [name, bubble] :
       {std::pair("bubble", &report.bubble), std::pair("bubble_span", &report.bubble_span)}) {
    withdraw(report, std::string("ideal ") + name, bubble->ideal, "by unit costs and free communication");
    withdraw(report, std::string("predicted ") + name, bubble->predicted, step_inputs(report.predicted));
    withdraw(report, name, bubble->measured, step_inputs(report.representative));
  }
  for (int c = 0; c < time_class_count; ++c) {
    const auto which = static_cast<TimeClass>(c);
    withdraw(report, "time share '" + std::string(name_of(which)) + "'", report.time[which],
             step_inputs(report.representative));
  }
  withdraw(report, "telemetry overhead", report.telemetry.overhead, "time of reporting divided by the step time");
}

}  // namespace rankscope::analysis
