// SPDX-License-Identifier: GPL-3.0-or-later
// The figures shown in the views, all computed by engine/explain/analyse, off the GUI thread. Views read them
// here.
#pragma once
#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/explain/analyse/gap.hpp"
#include "engine/explain/analyse/report.hpp"
#include "engine/plan/collective/cost.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "engine/step/step.hpp"

namespace rankscope {
struct RunContext;
class StoreView;
}

namespace rankscope::app {

/// The facts about one run and its prediction at one moment. Immutable once delivered.
struct Figures {
  std::optional<Scenario> scenario;      ///< what ran, or would run
  std::optional<Report> run;             ///< empty while nothing ran
  std::optional<Report> predicted;       ///< the plan as if the prediction had been run; empty while there is none
  std::optional<StepAnalysis> step;      ///< the chosen step in the run
  std::optional<StepAnalysis> forecast;  ///< the predicted step drawn under it
  std::vector<GapItem> gap;              ///< the causes of their difference; empty if one of them is missing
  std::vector<Span> step_spans;          ///< of the chosen step, by rank and begin; of the prediction if nothing ran
  std::string device;                    ///< the device of the ops, as reported by the run: "cpu"; empty if nothing ran
  std::vector<StepSummary> summaries;    ///< of the chosen step, one per rank; none if the step is old and the run live
  std::shared_ptr<const RunTotals> totals;  ///< what the ranks reported of all steps together; null if nothing ran
  /// The chosen step's ops, joined with their partners; null while unknown.
  std::shared_ptr<const Step> linked;
  /// Programs and grid (engine/explain/facts) of what ran, or would run; null while unknown.
  std::shared_ptr<const RunContext> context;

  /// The report of the shown content: the run's, else the prediction's; null if there is neither.
  const Report* shown() const { return run ? &*run : predicted ? &*predicted : nullptr; }
  /// By which collectives move bytes, as the plan says; empty: a library's own.
  std::optional<Algorithm> algorithm() const;
  const StepAnalysis* shown_step() const { return step ? &*step : forecast ? &*forecast : nullptr; }
};

class FiguresModel : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  /// Never null.
  const std::shared_ptr<const Figures>& latest() const { return latest_; }
  void set(std::shared_ptr<const Figures> figures);

 signals:
  void changed();

 private:
  std::shared_ptr<const Figures> latest_ = std::make_shared<Figures>();
};

/// How a run's main figures were obtained, as engine/explain/facts decides: emulated if hello names the device clock
/// and something was emulated, else measured; simulated if there is only the prediction.
Obtained headline_of(const StoreView& view);

/// A step's gradients by magnitude.
struct MagnitudeData {
  std::uint32_t step = 0;
  double loss_scale = 0;                                      ///< the factor of the gradients; 0: none
  std::shared_ptr<const std::vector<std::int64_t>> counts{};  ///< StepRow::magnitudes; null: not counted
};
/// Of that step, or of the last one before it that counted them; without a step, of the last of all.
MagnitudeData magnitudes_at(const Figures& figures, std::optional<std::uint32_t> step);

/// Bytes of the rank that needs most; NaN if unknown.
double greatest_peak(const Report& report, bool predicted);
/// For steps of that length; NaN if they have no tokens.
double tokens_per_second(const Figures& figures, double step_seconds);

/// How the run's figures were obtained, as a column's name: "measured", "emulated".
QString run_column_name(const Figures& figures);
QString run_column_name(Obtained obtained);

}  // namespace rankscope::app
