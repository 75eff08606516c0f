// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson's questions and what became of them: the guess is kept before the run, and compared after it. No widgets.
#pragma once
#include <QString>
#include <optional>
#include <vector>

#include "engine/explain/analyse/report.hpp"
#include "engine/lesson/descent/path.hpp"
#include "engine/lesson/lab/judge.hpp"
#include "engine/lesson/lab/lab.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope::app {

/// The value of a report at a path such as "bubble.measured", "memory.0.activations" or
/// "traffic.pipeline_forward.bytes_per_rank" (lists by rank or purpose); nullopt where there is none or it is null.
std::optional<double> report_value(const Report& report, const QString& path);

/// The same of optimizers' paths: "paths.sgd.reached".
std::optional<double> path_value(const Paths& paths, const QString& path);

/// The values at a path such as "memory.*.activations", one for each entry of the list; NaN where it is not known.
std::vector<double> report_series(const Report& report, const QString& path);
/// How many values one draws for a path of a series: ranks, or steps. 0 while that is not known.
std::size_t series_size(const std::optional<Scenario>& scenario, const QString& path);

struct Answer {
  Question question;
  std::vector<double> drawn;   ///< of a drawn question; then `guess` is their mean
  std::vector<double> series;  ///< what was measured of it; `measured` is their mean
  /// Mean distance of what was drawn from what was measured, in the unit; NaN of a question that is not drawn.
  double distance() const;
  std::optional<double> guess;     ///< in the question's unit; kept for good once given
  std::optional<double> measured;  ///< in the question's unit
  /// The answer may be shown: a guess was kept, and there was a run after it.
  bool open() const { return guess && measured; }
  bool right() const;
  /// It is about a surface: nothing has to run for it.
  bool of_paths() const { return question.paths.has_value(); }
};

/// "31.0 %", "43.4 ms": a value in the question's unit.
QString value_text(const Question& question, double value);
/// What was typed, as it was typed: "27 %".
QString guess_text(const Question& question, double value);

/// Of an answer that is open.
Grade grade_of(const Answer& answer);
/// "Right (2.7 points off; 4 allowed)", "3.4 MiB too high (3 allowed)".
QString verdict_words(const Answer& answer);

}  // namespace rankscope::app
