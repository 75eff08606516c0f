// SPDX-License-Identifier: GPL-3.0-or-later
// The curves of the scaling view, from three sources: the current plan, predicted for more and more ranks, and measured
// where it ran; a measured sweep; rows published by others. No widgets.
#pragma once
#include <QString>
#include <QStringList>
#include <cmath>
#include <vector>

#include "app/views/common/rows_model.hpp"
#include "engine/explain/analyse/scaling.hpp"
#include "engine/explain/facts/run_costs.hpp"
#include "engine/explain/validate/published.hpp"

namespace rankscope::app {

/// The values for one number of ranks; NaN if unknown.
struct ScalingSide {
  double step_seconds = std::numeric_limits<double>::quiet_NaN();
  double rate = std::numeric_limits<double>::quiet_NaN();  ///< see ScalingCurves::rate_name
  double efficiency = std::numeric_limits<double>::quiet_NaN();
};
struct ScalingAt {
  double ranks = 0;
  QString name;     ///< "plan.data = 4"
  ScalingSide run;  ///< measured, or published
  ScalingSide predicted;
  double rate_low = 0, rate_high = 0;  ///< of the steps' quartiles; equal: unknown
  bool fitted = false;                 ///< a constant of the prediction was fitted to it
  bool at_hand = false;                ///< the open plan itself
  double tokens = 0;                   ///< of a step, if it is a plan's
  QString reason;                      ///< why there are no figures
  bool refused() const { return std::isnan(run.step_seconds) && std::isnan(predicted.step_seconds); }
};

struct ScalingCurves {
  QString title;
  QString run_name;   ///< "measured", "emulated", "published"; empty: none
  QString rate_name;  ///< "tokens / s", "model TFLOP/s per device"
  QString formula;    ///< the definition of efficiency, and its reference point
  QString source;     ///< the origin of the numbers
  QString failure;
  bool has_efficiency = true;
  std::vector<ScalingAt> points;  ///< by ranks
};

/// A recording of `rankscope-engine sweep`.
ScalingCurves curves_of(const Sweep& sweep);

/// The costs of a plan's ops, and a text about their origin.
struct CostSource {
  std::optional<RunCosts> run;  ///< as a run was predicted by itself; none: the cluster's figures
  QString host;                 ///< of that run
};

/// The scenario with `key` ("plan.data", "plan.tensor" or "plan.pipeline") at 1, 2, 4, … up to `most_ranks`, predicted.
/// Strong scaling keeps the global batch; weak lets it grow with the ranks. Ends with the first number of ranks
/// that cannot be predicted. Slow: for worker threads.
ScalingCurves predicted_curves(const Scenario& scenario, const std::string& key, Scaling scaling, int most_ranks,
                               const CostSource& costs = {});
/// The same with the measured time of the open plan: a point on the curve, if that plan is on it.
ScalingCurves with_run(ScalingCurves curves, const Report& run);

/// Published step times over the numbers of ranks on which they were measured, and their predictions.
ScalingCurves curves_of(const PublishedTable& table);
/// True for a table of step times on several numbers of ranks.
bool can_be_scaled(const PublishedTable& table);

/// The column with the reason why a point has no figures, between its name and ranks and its figures. A point without
/// any figure has only that.
inline constexpr int reason_column = 2;
QStringList scaling_titles(const ScalingCurves& curves);
std::vector<std::vector<Cell>> scaling_rows(const ScalingCurves& curves);

/// The value of --over for a sweep of that key: "plan.data=1,2,4,8", powers of two to at most `most`.
QString sweep_axis(const std::string& key, int most);

}  // namespace rankscope::app
