// SPDX-License-Identifier: GPL-3.0-or-later
// Provides the views with the analysis of a step's time, computed off the GUI thread.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "engine/explain/analyse/step_analysis.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// The analysis of one step: its idle stretches with causes; its bubble, the textbook's and the predicted one.
struct StepInsight {
  StepAnalysis run;
  std::optional<StepAnalysis> predicted;
  double ideal_bubble = std::numeric_limits<double>::quiet_NaN();
  std::shared_ptr<const Step> linked;  ///< of the run
};

class BubbleSource {
 public:
  virtual ~BubbleSource() = default;
  /// The ops of a step with what each depends on; null if they are not known (yet). Any thread; never waits.
  virtual std::shared_ptr<const Step> linked(std::uint32_t step) {
    static_cast<void>(step);
    return nullptr;
  }
  /// The program of a rank; null if it is not known (yet). Any thread; never waits.
  virtual std::shared_ptr<const RankProgram> program(int rank) {
    static_cast<void>(rank);
    return nullptr;
  }
  /// The insight into a step as far as it is known now; null while it is computed or if it cannot be. Any thread;
  /// never waits. `prediction` may be null: then the prediction is searched in `run`.
  virtual std::shared_ptr<const StepInsight> insight(const std::shared_ptr<const StoreView>& run,
                                                     const std::shared_ptr<const StoreView>& prediction,
                                                     Obtained obtained, std::uint32_t step) = 0;
};

}  // namespace rankscope
