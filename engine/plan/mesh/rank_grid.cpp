#include "engine/plan/mesh/rank_grid.hpp"

#include <algorithm>

namespace rankscope {

std::vector<int> RankGrid::group_of(int rank, GroupKind kind) const {
  const Coordinates at = coordinates_of(rank);
  std::vector<int> members;
  const bool among_servers = kind == GroupKind::server || kind == GroupKind::world;
  if (is_server(rank) ? !among_servers : kind == GroupKind::server) return {rank};
  switch (kind) {
    case GroupKind::self: members = {rank}; break;
    case GroupKind::tensor:
      for (int t = 0; t < tensor; ++t) members.push_back(rank_of({t, at.data, at.pipeline}));
      break;
    case GroupKind::data:
      for (int d = 0; d < data; ++d) members.push_back(rank_of({at.tensor, d, at.pipeline}));
      break;
    case GroupKind::pipeline:
      for (int p = 0; p < pipeline; ++p) members.push_back(rank_of({at.tensor, at.data, p}));
      break;
    case GroupKind::embedding:
      if (pipeline > 1 && (at.pipeline == 0 || at.pipeline == pipeline - 1))
        members = {rank_of({at.tensor, at.data, 0}), rank_of({at.tensor, at.data, pipeline - 1})};
      else
        members = {rank};
      break;
    case GroupKind::model:
      for (int p = 0; p < pipeline; ++p)
        for (int t = 0; t < tensor; ++t) members.push_back(rank_of({t, at.data, p}));
      break;
    case GroupKind::server:
      for (int s = 0; s < servers; ++s) members.push_back(workers() + s);
      break;
    case GroupKind::world:
      for (int r = 0; r < size(); ++r) members.push_back(r);
      break;
  }
  return members;
}

std::vector<std::vector<int>> RankGrid::groups(GroupKind kind) const {
  std::vector<std::vector<int>> all;
  for (int rank = 0; rank < size(); ++rank) {
    std::vector<int> group = group_of(rank, kind);
    if (group.size() > 1 && group.front() == rank) all.push_back(std::move(group));
  }
  return all;
}

}  // namespace rankscope
