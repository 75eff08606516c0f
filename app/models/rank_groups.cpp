// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/rank_groups.hpp"

#include <algorithm>

#include "app/models/translated.hpp"

namespace rankscope {
namespace {

constexpr std::int32_t block_of_ranks = 16;

// Joins, with " · ", the coordinates that differ between groups.
std::string joined(std::initializer_list<std::pair<const char*, std::pair<int, int>>> coordinates) {
  std::string text;
  for (const auto& [words, at] : coordinates)
    if (at.first > 1) text += (text.empty() ? "" : " · ") + translated(words, at.second);
  return text.empty() ? translated("all ranks") : text;
}

std::vector<RankGroup> grid_groups(Grouping grouping, const RankGrid& grid) {
  std::vector<RankGroup> groups;
  switch (grouping) {
    case Grouping::automatic:
    case Grouping::none: return groups;
    case Grouping::stage:
      for (int p = 0; p < grid.pipeline; ++p)
        groups.push_back({translated("stage %1", p), grid.rank_of({0, 0, p}), grid.tensor * grid.data});
      break;
    case Grouping::tensor:
      for (int p = 0; p < grid.pipeline; ++p)
        for (int d = 0; d < grid.data; ++d)
          groups.push_back({joined({{"stage %1", {grid.pipeline, p}}, {"data %1", {grid.data, d}}}),
                            grid.rank_of({0, d, p}), grid.tensor, 1, Grouping::tensor});
      break;
    case Grouping::data:
      for (int p = 0; p < grid.pipeline; ++p)
        for (int t = 0; t < grid.tensor; ++t)
          groups.push_back({joined({{"stage %1", {grid.pipeline, p}}, {"tensor %1", {grid.tensor, t}}}),
                            grid.rank_of({t, 0, p}), grid.data, grid.tensor, Grouping::data});
      break;
  }
  if (grid.servers > 0) groups.push_back({translated("servers"), grid.workers(), grid.servers});
  return groups;
}

std::vector<RankGroup> blocks(std::int32_t ranks) {
  std::vector<RankGroup> groups;
  for (std::int32_t first = 0; first < ranks; first += block_of_ranks) {
    const std::int32_t count = std::min(block_of_ranks, ranks - first);
    groups.push_back({translated("ranks %1–%2", first, first + count - 1), first, count});
  }
  return groups;
}

}  // namespace

std::string size_words(const RankGroup& group) {
  if (group.kind == Grouping::tensor) return translated("tensor group of %1", group.count);
  if (group.kind == Grouping::data) return translated("data group of %1", group.count);
  return group.count == 1 ? translated("1 rank") : translated("%1 ranks", group.count);
}

const char* words_of(Grouping grouping) {
  switch (grouping) {
    case Grouping::automatic: return QT_TRANSLATE_NOOP("Models", "Group ranks: automatic");
    case Grouping::none: return QT_TRANSLATE_NOOP("Models", "Show every rank");
    case Grouping::stage: return QT_TRANSLATE_NOOP("Models", "Group by stage");
    case Grouping::tensor: return QT_TRANSLATE_NOOP("Models", "Group by tensor group");
    case Grouping::data: return QT_TRANSLATE_NOOP("Models", "Group by data group");
  }
  return "";
}

bool can_group(Grouping grouping, const RunPlan* plan) {
  switch (grouping) {
    case Grouping::automatic:
    case Grouping::none: return true;
    case Grouping::stage: return plan && plan->grid.pipeline > 1;
    case Grouping::tensor: return plan && plan->grid.tensor > 1;
    case Grouping::data: return plan && plan->grid.data > 1;
  }
  return false;
}

std::vector<RankGroup> rank_groups(Grouping grouping, std::int32_t ranks, const RunPlan* plan) {
  if (plan && plan->grid.size() != ranks) plan = nullptr;  // it belongs to another run
  if (grouping == Grouping::none || (grouping == Grouping::automatic && ranks <= most_single_ranks)) return {};
  if (grouping == Grouping::automatic)
    for (const Grouping kind : {Grouping::stage, Grouping::tensor})
      if (grouping == Grouping::automatic && can_group(kind, plan)) grouping = kind;
  if (grouping == Grouping::automatic || !can_group(grouping, plan)) return blocks(ranks);
  return grid_groups(grouping, plan->grid);
}

}  // namespace rankscope
