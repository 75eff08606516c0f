// Totals of the ranks' summaries, for every step and for the run: the data of a report and of the training
// curves. About a hundred bytes per step for any number of ranks; it can grow while readers hold copies.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "telemetry/event/event.hpp"
#include "telemetry/event/step_map.hpp"

namespace rankscope {

/// A step, over the ranks that reported it.
struct StepTotals {
  std::int32_t ranks = 0;
  std::int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;  ///< from the first rank's begin to the last one's end
  double weighted_loss = 0;                               ///< the ranks' losses times their tokens
  std::int64_t tokens = 0;
  double square_norm = 0;
  double learning_rate = std::numeric_limits<double>::quiet_NaN();  ///< the first value that a rank reported
  double loss_scale = 0;
  bool loss_not_finite = false;  ///< of some rank
  double model_flops = 0, hardware_flops = 0;
  double joules = 0;              ///< of the devices with a counter
  std::int32_t energy_ranks = 0;  ///< ranks with a known energy: if all have one, the joules are the run's
  std::int32_t counters = 0;      ///< counters that were read: devices
  PowerSource energy_source = PowerSource::none;
  /// Of all ranks' gradients (StepSummary::magnitudes); null if none reported any.
  std::shared_ptr<const std::vector<std::int64_t>> magnitudes;

  /// `offset_ns` converts the rank's stamps to the common clock. Add each rank only once.
  void add(const StepSummary& summary, std::int64_t offset_ns = 0);
  /// Nats per token over the ranks' samples; NaN if no rank has a loss.
  double loss() const;
  /// Whether a step with loss scaling skipped its update: some rank's gradients are not finite.
  bool skips_update() const;
};

/// A rank, over all its steps.
struct RankTotals {
  std::int64_t steps = 0;
  ClassBytes peak_bytes{};
  std::int64_t peak_total_bytes = 0;
  std::int64_t spans_emitted = 0, spans_dropped = 0;
  std::map<std::int32_t, std::int64_t> sent;  ///< bytes by receiving rank
  bool links_complete = true;                 ///< `sent` contains everything that it sent
};

/// Bytes moved for one purpose by one kind of op, over all ranks and steps.
struct TrafficTotals {
  std::int64_t count = 0, wire_bytes = 0;
  std::int64_t payload_bytes = 0;  ///< -1: of some of them unknown
  std::int64_t rows = 0;  ///< ranks × steps that have any
  bool opaque = false;    ///< not all bytes could be counted
};

struct RunTotals {
  StepMap<StepTotals> steps;
  std::map<std::int32_t, RankTotals> ranks;
  std::map<std::tuple<Purpose, OpKind, GroupKind>, TrafficTotals> traffic;
  std::optional<std::uint32_t> loss_not_finite_since;  ///< the first such step

  /// Add each rank's summary of a step only once.
  void add(const StepSummary& summary, std::int64_t offset_ns = 0);
};

/// Wall seconds of a step that all `ranks` reported: to the begin of the next step if all reported that, too, else to
/// its own last end. NaN for other steps.
double wall_seconds(const StepMap<StepTotals>& steps, std::uint32_t step, std::int32_t ranks);

}  // namespace rankscope
