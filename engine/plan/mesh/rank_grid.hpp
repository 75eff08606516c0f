// The rank grid: tensor is the fastest-varying coordinate, then data, then pipeline. Groups are slices of it, so
// everything here is index arithmetic (the "5D" grids of Megatron-LM and picotron reduce to the same). Parameter
// servers are outside the grid: their ranks follow the grid's, and they are on no stage.
#pragma once
#include <vector>

#include "engine/op/kind.hpp"

namespace rankscope {

struct Coordinates {
  int tensor = 0, data = 0, pipeline = 0;  ///< of a server: 0, its number among servers, -1
  bool operator==(const Coordinates&) const = default;
};

struct RankGrid {
  int tensor = 1, data = 1, pipeline = 1;

  int servers = 0;

  int workers() const { return tensor * data * pipeline; }
  int size() const { return workers() + servers; }
  bool is_server(int rank) const { return rank >= workers(); }
  int rank_of(Coordinates at) const { return at.tensor + tensor * (at.data + data * at.pipeline); }
  Coordinates coordinates_of(int rank) const {
    if (is_server(rank)) return {0, rank - workers(), -1};
    return {rank % tensor, rank / tensor % data, rank / (tensor * data)};
  }
  /// The ranks of the group of that kind that contains `rank`, ascending. The embedding group of a rank that is on
  /// neither the first nor the last stage is the rank alone; so is a server's, except those of servers and the world.
  std::vector<int> group_of(int rank, GroupKind kind) const;
  /// All distinct groups of that kind with more than one member, each ascending, ordered by first member.
  std::vector<std::vector<int>> groups(GroupKind kind) const;
  bool operator==(const RankGrid&) const = default;
};

}  // namespace rankscope
