// Folds many plans of one scenario one after another: shared results are computed once.
//
// Plans may differ in data, tensor, pipeline, virtual stages, schedule, stages, micro-batches, ZeRO, recomputation and
// sequence parallelism.
#pragma once
#include <memory>
#include <vector>

#include "engine/predict/cost/folded_schedule.hpp"
#include "engine/predict/fold/folded.hpp"

namespace rankscope {

struct FoldMemo;

/// A lower bound of a plan's step time, and the memory of the device that uses the most.
struct PlanBound {
  double seconds = 0, bytes = 0;
};

/// For one thread; threads may share the schedules. Throws what fold_step throws.
class PlanFolder {
 public:
  PlanFolder(const Scenario& scenario, Schedules& schedules);
  ~PlanFolder();
  PlanFolder(PlanFolder&&) noexcept;

  /// The time in closed form, without a layout (earliest_ends of folded_costs.hpp, then the step's end); the memory is
  /// that of fold_step.
  PlanBound bound(const PlanSpec& plan);
  FoldedStep fold(const PlanSpec& plan);

 private:
  Scenario scenario_;
  std::unique_ptr<FoldMemo> memo_;
};

/// With the context and the allocator's slack.
double bytes_of_fullest(const std::vector<StageMemory>& stages, const ClusterSpec& cluster,
                        std::int64_t (StageMemory::*of_stage)() const = &StageMemory::reserved);

}  // namespace rankscope
