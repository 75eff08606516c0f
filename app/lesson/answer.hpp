// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson's questions and their answers: the student's attempts, the right answer, and the feedback. No
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

/// The value of optimizers' paths at a path such as "paths.sgd.reached"; nullopt if there is none or it is null.
std::optional<double> path_value(const Paths& paths, const QString& path);

/// The number of values to draw for a path of a series: ranks, or steps. 0 while unknown.
std::size_t series_size(const std::optional<Scenario>& scenario, const QString& path);

/// After this number of answers the right one is shown.
inline constexpr std::size_t most_tries = 2;

/// One answer.
struct Try {
  Attempt attempt;
  QString at;  ///< UTC, "2026-11-24T09:30:00Z"
  bool operator==(const Try&) const = default;
};

/// The last click in the views: the answer to a question that is answered by pointing.
struct Pointed {
  std::optional<PointedOp> op{};
  std::optional<PointedRank> rank{};
  std::optional<PointedLink> link{};
  std::optional<Attempt> attempt_for(const Question& question) const;
};

struct Answer {
  Question question;
  std::vector<Try> tries;  ///< in order; never changed
  /// The result of a run, a simulation or a path, in the question's unit: a number, or a value for each rank or step.
  std::optional<Target> result;
  QString result_source;  ///< how `result` was obtained: "Run", "Simulation", "Computed"

  /// The reference for answers: the lesson's stated value, else `result`.
  std::optional<Target> truth() const;
  /// The judgement of the last answer; nullopt if there is none, or the right answer is not known yet.
  std::optional<Reply> reply() const;
  /// An answer may be given: the first, or another after a wrong one.
  bool accepts_try() const;
  /// An answer was given, and a run must show whether it is right.
  bool waits() const { return !tries.empty() && !truth(); }
  /// Right, or no try is left: the results may be shown.
  bool open() const { return reply() && !accepts_try(); }
  bool right() const { return reply() && reply()->accepted(); }
  /// The typed number, or the mean of a drawing; nullopt for the other kinds, and without an answer.
  std::optional<double> guess() const;
  /// `result` as one number: of a series its mean.
  std::optional<double> result_number() const;
  /// It is about a surface: it needs no run.
  bool of_paths() const { return question.paths.has_value(); }
};

/// "31.0 %", "43.4 ms": a value in the question's unit.
QString value_text(const Question& question, double value);
/// The answer as text: "27 %", an option, items with arrows between them, an op.
QString attempt_words(const Question& question, const Attempt& attempt);
/// The right answer, as text.
QString target_words(const Question& question, const Target& target);

/// Of the last answer, if it is judged: "Right (2.7 points off; 4 allowed)", "3.4 MiB too high (3 allowed)"; while
/// another try is left "Too high. One more try.", which does not reveal the answer.
QString verdict_words(const Answer& answer);

}  // namespace rankscope::app
