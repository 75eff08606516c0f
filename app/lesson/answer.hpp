// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson's questions and what became of them: what a person tried, what is right, and what is said about it. No
// widgets.
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

/// After so many answers the right one is shown.
inline constexpr std::size_t most_tries = 2;

/// What a person answered, once.
struct Try {
  Attempt attempt;
  QString at;  ///< UTC, "2026-11-24T09:30:00Z"
  bool operator==(const Try&) const = default;
};

/// What was clicked last in the views: what a question that is pointed at would be answered with.
struct Pointed {
  std::optional<PointedOp> op{};
  std::optional<PointedRank> rank{};
  std::optional<PointedLink> link{};
  std::optional<Attempt> attempt_for(const Question& question) const;
};

struct Answer {
  Question question;
  std::vector<Try> tries;  ///< in order; none is ever changed
  /// What a run, a simulation or a path gave, in the question's unit: a number, or a value for each rank or step.
  std::optional<Target> told;
  QString told_by;  ///< how `told` was obtained: "Run", "Simulation", "Computed"

  /// What answers are compared with: what the lesson states, else `told`.
  std::optional<Target> truth() const;
  /// About the last answer; nullopt where there is none, or where nothing says yet what is right.
  std::optional<Reply> reply() const;
  /// An answer may be given: the first, or another after a wrong one.
  bool wants_try() const;
  /// An answer was given, and a run must say whether it is right.
  bool waits() const { return !tries.empty() && !truth(); }
  /// Right, or no try is left: what was asked for may be shown.
  bool open() const { return reply() && !wants_try(); }
  bool right() const { return reply() && reply()->accepted(); }
  /// What was typed, or the mean of what was drawn; nullopt for the other kinds, and without an answer.
  std::optional<double> guess() const;
  /// `told` as one number: of a series its mean.
  std::optional<double> told_number() const;
  /// It is about a surface: nothing has to run for it.
  bool of_paths() const { return question.paths.has_value(); }
  /// It is answered without a run of the lesson's scenario: its truth is stated, simulated, or of a surface.
  bool without_run() const;
};

/// "31.0 %", "43.4 ms": a value in the question's unit.
QString value_text(const Question& question, double value);
/// What was typed, as it was typed: "27 %".
QString guess_text(const Question& question, double value);
/// What a person answered, in words: "27 %", an option, items with arrows between them, an op.
QString attempt_words(const Question& question, const Attempt& attempt);
/// What is right, in words.
QString target_words(const Question& question, const Target& target);

/// Of the last answer, where it is judged: "Right (2.7 points off; 4 allowed)", "3.4 MiB too high (3 allowed)"; while
/// another try is left "Too high. One more try.", which does not give the answer away.
QString verdict_words(const Answer& answer);

}  // namespace rankscope::app
