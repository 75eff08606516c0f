// Keeps a store small during a long run: old steps are merged over the ranks, block by block.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "telemetry/store/rank_data.hpp"

namespace rankscope {

using RanksData = std::map<std::int32_t, std::unique_ptr<RankData>>;

class StepFolder {
 public:
  /// Does not fold the latest `keep` steps; 0: folds nothing.
  explicit StepFolder(std::uint32_t keep) : keep_(keep) {}
  bool is_folded(std::uint32_t step) const { return step < folded_.before; }
  /// Called for each new step: folds old steps. `ranks_of_run`: 0 if unknown.
  void reached(std::uint32_t step, const RanksData& ranks, std::int32_t ranks_of_run);
  /// A summary of a folded step; returns whether it was missing there.
  bool add_late(const StepSummary& summary, RankData& rank, std::int32_t ranks_of_run);
  /// Null while nothing is folded.
  std::shared_ptr<const FoldedSteps> view();

 private:
  std::uint32_t keep_;
  FoldedSteps folded_;
  std::shared_ptr<const FoldedSteps> view_;
  std::map<std::uint32_t, std::set<std::int32_t>>
      reported_;  ///< ranks that reported folded steps that not all ranks have reported
};

}  // namespace rankscope
