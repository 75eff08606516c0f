// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of ranks in the time line: groups are slices of the rank grid, so three numbers define one.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/models/run_plan.hpp"

namespace rankscope {

enum class Grouping : std::uint8_t {
  automatic,  ///< rank by rank up to most_single_ranks; above, by stage, else tensor group, else blocks
  none,       ///< rank by rank
  stage,
  tensor,
  data,
};
inline constexpr std::array every_grouping{Grouping::automatic, Grouping::none, Grouping::stage, Grouping::tensor,
                                           Grouping::data};

/// More ranks than this would have too little height each: then one heat row per group, which can be opened.
inline constexpr std::int32_t most_single_ranks = 32;

/// Ranks first, first + stride, …
struct RankGroup {
  std::string name;  ///< "stage 3"; of the data groups "stage 2 · tensor 1"
  std::int32_t first = 0, count = 1, stride = 1;
  Grouping kind = Grouping::none;  ///< tensor or data: a group of the plan, which size_words names
  bool contains(std::int32_t rank) const {
    return rank >= first && (rank - first) % stride == 0 && (rank - first) / stride < count;
  }
  std::int32_t rank(std::int32_t i) const { return first + i * stride; }
  bool operator==(const RankGroup&) const = default;
};

/// "8 ranks", "data group of 8"
std::string size_words(const RankGroup& group);

/// The menu's text: "Group by stage".
const char* words_of(Grouping grouping);

/// Whether the plan has more than one group of that kind, or one with several ranks. `plan` may be null.
bool can_group(Grouping grouping, const RunPlan* plan);

/// The groups of `ranks` ranks, by first rank; each rank is in one. Empty: rank by rank. Without a plan, or if it
/// has no such groups, blocks of consecutive ranks.
std::vector<RankGroup> rank_groups(Grouping grouping, std::int32_t ranks, const RunPlan* plan);

}  // namespace rankscope
