// SPDX-License-Identifier: GPL-3.0-or-later
// The prediction of a scenario: compiled, simulated and analysed, as values. Pure: no files, no threads, no Qt.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "engine/explain/analyse/report.hpp"
#include "engine/explain/facts/facts.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

struct Prediction {
  Scenario scenario;
  /// Why the plan cannot run, in one line with the correction; empty if it can. The rest is then empty.
  std::string refusal;
  std::shared_ptr<const RunContext> context;  ///< program of every rank, and the textbook's steps
  Simulation predicted;                       ///< from the cluster's figures
  Report report;                              ///< as if the prediction had been run
  /// For a plan that is too large to be built op by op: what is shown instead, and why it cannot run here. Then there
  /// is no context, and `view` has one rank of each stage.
  std::string folded;
  /// If a node is lost: what continues without it, in one line, and its scenario, to which everything else here belongs
  /// (`scenario` is the requested one). It cannot run here either: a run loses no node.
  std::string lost;
  std::optional<Scenario> left;
  std::shared_ptr<const StoreView> view;  ///< its spans and memory, obtained as simulated
};

/// False for a machine other than this one: its plans are simulated, not run.
inline bool is_here(const ClusterSpec& cluster) { return cluster.spec == "laptop"; }

/// Why it cannot run here, in words: the refusal, or what was predicted instead. Empty: it can run.
std::string why_not_run(const Prediction& prediction);

/// A plan that cannot run gives a refusal, not an exception.
Prediction predict(const Scenario& scenario);

}  // namespace rankscope::app
