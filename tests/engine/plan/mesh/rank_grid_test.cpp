#include "engine/plan/mesh/rank_grid.hpp"

#include <set>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("tensor is the fastest coordinate, then data, then pipeline") {
  const RankGrid grid{2, 3, 4};
  CHECK(grid.size() == 24);
  CHECK(grid.coordinates_of(0) == Coordinates{0, 0, 0});
  CHECK(grid.coordinates_of(1) == Coordinates{1, 0, 0});
  CHECK(grid.coordinates_of(2) == Coordinates{0, 1, 0});
  CHECK(grid.coordinates_of(6) == Coordinates{0, 0, 1});
  for (int rank = 0; rank < grid.size(); ++rank) CHECK(grid.rank_of(grid.coordinates_of(rank)) == rank);
}

TEST_CASE("the groups of a kind partition the ranks, and every member sees the same group") {
  for (const RankGrid grid : {RankGrid{1, 1, 1}, RankGrid{2, 3, 4}, RankGrid{1, 4, 2}, RankGrid{8, 1, 3}})
    for (const GroupKind kind : {GroupKind::self, GroupKind::tensor, GroupKind::data, GroupKind::pipeline,
                                 GroupKind::embedding, GroupKind::model, GroupKind::world}) {
      std::set<std::vector<int>> groups;
      std::size_t members = 0;
      for (int rank = 0; rank < grid.size(); ++rank) {
        const auto group = grid.group_of(rank, kind);
        REQUIRE(std::count(group.begin(), group.end(), rank) == 1);
        for (const int other : group) REQUIRE(grid.group_of(other, kind) == group);
        if (groups.insert(group).second) members += group.size();
      }
      CHECK(members == static_cast<std::size_t>(grid.size()));
    }
}

TEST_CASE("a tied embedding's group is the first and the last stage") {
  const RankGrid grid{1, 2, 4};
  CHECK(grid.group_of(0, GroupKind::embedding) == std::vector<int>{0, 6});
  CHECK(grid.group_of(7, GroupKind::embedding) == std::vector<int>{1, 7});
  CHECK(grid.group_of(3, GroupKind::embedding) == std::vector<int>{3});
  CHECK(grid.groups(GroupKind::embedding) == std::vector<std::vector<int>>{{0, 6}, {1, 7}});
}
