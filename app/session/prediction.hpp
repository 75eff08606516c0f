// SPDX-License-Identifier: GPL-3.0-or-later
// What a scenario is predicted to do: compiled, simulated and analysed, as values. Pure: no files, no threads, no Qt.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/analyse/report.hpp"
#include "engine/program/compile.hpp"
#include "engine/simulate/simulate.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

struct Prediction {
  Scenario scenario;
  /// Why the plan cannot run, in one line that says what would be right; empty when it can. The rest is empty then.
  std::string refusal;
  RankGrid grid;
  std::vector<RankProgram> programs;      ///< [rank]
  Simulation ideal, predicted;            ///< the textbook's, and the machine model's
  Report report;                          ///< as if the prediction had been run
  std::shared_ptr<const StoreView> view;  ///< its spans and memory, obtained as simulated; null with a refusal
};

/// Compiles and simulates `steps` steps. A plan that cannot run gives a refusal, not an exception.
Prediction predict(const Scenario& scenario, int steps = 3);

}  // namespace rankscope::app
