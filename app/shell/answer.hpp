// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson's questions and what became of them: the guess is kept before the run, and compared after it. No widgets.
#pragma once
#include <QString>
#include <optional>
#include <vector>

#include "engine/analyse/report.hpp"
#include "engine/scenario/lab.hpp"

namespace rankscope::app {

/// The value of a report at a path such as "bubble.measured", "memory.0.activations" or
/// "traffic.pipeline_forward.bytes_per_rank" (lists by rank or purpose); nullopt where there is none or it is null.
std::optional<double> report_value(const Report& report, const QString& path);

struct Answer {
  Question question;
  std::optional<double> guess;     ///< in the question's unit; kept for good once given
  std::optional<double> measured;  ///< in the question's unit
  /// The answer may be shown: a guess was kept, and there was a run after it.
  bool open() const { return guess && measured; }
  bool right() const;
};

/// "31.0 %", "43.4 ms": a value in the question's unit.
QString value_text(const Question& question, double value);

}  // namespace rankscope::app
