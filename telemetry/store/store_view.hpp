// The snapshot that the run store returns.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "telemetry/store/rank_data.hpp"

namespace rankscope {

/// The content of a snapshot; filled in by the store.
struct StoreContent {
  std::shared_ptr<const Hello> hello;
  std::map<std::int32_t, std::shared_ptr<const RankView>> ranks;
  std::vector<End> ends;
  std::shared_ptr<const FoldedSteps> folded;  ///< null: nothing is folded
  std::array<SequenceSet, obtained_count> steps;
  std::uint64_t revision = 0;
};

std::shared_ptr<const StoreView> make_view(StoreContent content);

}  // namespace rankscope
