#include "app/models/timeline_rows.hpp"

#include <algorithm>
#include <tuple>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

std::vector<LaneSet> pipeline_ranks(int count) {
  std::vector<LaneSet> ranks;
  for (int r = 0; r < count; ++r)
    ranks.push_back({r, {Lane::forward_send, Lane::forward_receive, Lane::backward_send, Lane::backward_receive}});
  return ranks;
}

RowChoice with(std::map<std::int32_t, bool> open_ranks) {
  RowChoice choice;
  choice.open_ranks = std::move(open_ranks);
  return choice;
}

// 64 ranks: 4 tensor, 2 data, 8 stages.
RunPlan megatron() {
  RunPlan plan;
  plan.grid = {4, 2, 8};
  return plan;
}

RowChoice by(Grouping grouping, std::int32_t ranks, const RunPlan& plan) {
  RowChoice choice;
  choice.groups = rank_groups(grouping, ranks, &plan);
  choice.groups_open = ranks <= most_single_ranks;
  return choice;
}

}  // namespace

TEST_CASE("a rank is a tall compute row, its prediction under it, its communication lanes thin below") {
  const TimelineRows rows = lay_out_rows(pipeline_ranks(2), true, {}, 420);
  REQUIRE(rows.bands.size() == 2);
  REQUIRE(rows.rows.size() == 12);
  CHECK(rows.rows[0].kind == RowKind::compute);
  CHECK(rows.rows[1].kind == RowKind::ghost);
  CHECK(rows.rows[2].lane == Lane::forward_send);
  CHECK(rows.rows[5].lane == Lane::backward_receive);
  CHECK(rows.rows[0].height > 3 * rows.rows[2].height);
  CHECK(rows.rows[6].rank == 1);
}

TEST_CASE("rows never overlap, whatever the number of ranks and the height") {
  for (const int ranks : {1, 2, 4, 7, 16, 33, 64, 200})
    for (const int height : {80, 200, 420, 900, 2000})
      for (const bool prediction : {false, true}) {
        const TimelineRows rows = lay_out_rows(pipeline_ranks(ranks), prediction, {}, height);
        INFO(ranks << " ranks in " << height);
        REQUIRE(rows.bands.size() == static_cast<std::size_t>(ranks));
        int free_from = 0;
        for (const TimelineRow& row : rows.rows) {
          REQUIRE(row.y >= free_from);
          REQUIRE(row.height > 0);
          free_from = row.bottom();
        }
        REQUIRE(rows.height >= free_from);
      }
}

TEST_CASE("four ranks fit into a laptop's window, and thirty-two as heat rows") {
  for (const int ranks : {1, 4, 8, 16, 32}) {
    INFO(ranks);
    CHECK(lay_out_rows(pipeline_ranks(ranks), true, {}, 360).height <= 360);
  }
  CHECK(lay_out_rows(pipeline_ranks(4), true, {}, 360).bands[0].open);
  CHECK_FALSE(lay_out_rows(pipeline_ranks(32), true, {}, 360).bands[0].open);
  CHECK(lay_out_rows(pipeline_ranks(200), true, {}, 360).height > 360);  // scrolls
}

TEST_CASE("communication lanes become thin before they are omitted: four ranks show them on a laptop") {
  constexpr int on_laptop = 136;  // of a time line over a lower view at 1366 x 768
  const auto communicates = [](const TimelineRows& rows) {
    return std::any_of(rows.rows.begin(), rows.rows.end(),
                       [](const TimelineRow& row) { return row.kind == RowKind::communication; });
  };
  const TimelineRows pipeline = lay_out_rows(pipeline_ranks(4), true, {}, on_laptop);
  CHECK(pipeline.height <= on_laptop);
  CHECK(communicates(pipeline));
  std::vector<LaneSet> replicas;
  for (int r = 0; r < 4; ++r) replicas.push_back({r, {Lane::data}});
  const TimelineRows data = lay_out_rows(replicas, true, {}, on_laptop);
  CHECK(data.height <= on_laptop);
  CHECK(communicates(data));
}

TEST_CASE("a higher window gives taller rows") {
  int before = 0;
  for (int height = 100; height < 1500; height += 50) {
    const int now = lay_out_rows(pipeline_ranks(4), true, {}, height).rows[0].height;
    INFO(height);
    CHECK(now >= before);
    before = now;
  }
}

TEST_CASE("a collapsed rank keeps only its compute row, and the others keep their size") {
  const auto ranks = pipeline_ranks(4);
  const TimelineRows before = lay_out_rows(ranks, true, {}, 420);
  const TimelineRows after = lay_out_rows(ranks, true, with({{1, false}}), 420);
  CHECK(after.bands[1].row_count == 1);
  CHECK(after.bands[2].row_count == 6);
  CHECK(after.rows[0].height == before.rows[0].height);
  CHECK(after.height < before.height);
  const TimelineRows opened = lay_out_rows(pipeline_ranks(32), true, with({{5, true}}), 360);
  CHECK(opened.bands[5].row_count == 6);
  CHECK(opened.bands[6].row_count == 1);
}

TEST_CASE("hit-testing finds the row under each of its pixels and nothing in the gaps") {
  const TimelineRows rows = lay_out_rows(pipeline_ranks(3), true, {}, 420);
  for (int y = 0; y < rows.height; ++y) {
    std::optional<std::size_t> expected;
    for (std::size_t i = 0; i < rows.rows.size(); ++i)
      if (y >= rows.rows[i].y && y < rows.rows[i].bottom()) expected = i;
    INFO(y);
    CHECK(rows.row_at(y) == expected);
  }
  CHECK(rows.band_at(rows.bands[1].y + rows.bands[1].height + 1) == 1u);
  CHECK_FALSE(rows.band_at(rows.height).has_value());
}

TEST_CASE("groups are the slices of the grid, and every rank is in one") {
  const RunPlan plan = megatron();
  const RankGrid& grid = plan.grid;
  for (const auto& [grouping, kind, count] :
       {std::tuple{Grouping::tensor, GroupKind::tensor, 16}, std::tuple{Grouping::data, GroupKind::data, 32}}) {
    const auto groups = rank_groups(grouping, 64, &plan);
    REQUIRE(groups.size() == static_cast<std::size_t>(count));
    for (const RankGroup& group : groups) {
      std::vector<int> members;
      for (std::int32_t i = 0; i < group.count; ++i) members.push_back(group.rank(i));
      INFO(group.name);
      CHECK(members == grid.group_of(group.first, kind));
      for (int rank = 0; rank < 64; ++rank)
        CHECK(group.contains(rank) == (std::find(members.begin(), members.end(), rank) != members.end()));
    }
  }
  CHECK(size_words(rank_groups(Grouping::data, 64, &plan)[0]) == "data group of 2");
  const auto stages = rank_groups(Grouping::stage, 64, &plan);
  REQUIRE(stages.size() == 8);
  CHECK(stages[3].name == "stage 3");
  for (std::int32_t i = 0; i < stages[3].count; ++i) CHECK(grid.coordinates_of(stages[3].rank(i)).pipeline == 3);
  CHECK(rank_groups(Grouping::tensor, 64, &plan)[5].name == "stage 2 · data 1");
}

TEST_CASE("up to 32 ranks have their own rows; more are grouped by stage, or in blocks if nothing is known of them") {
  const RunPlan plan = megatron();
  RunPlan small;
  small.grid = {1, 4, 8};
  CHECK(rank_groups(Grouping::automatic, 32, &small).empty());
  CHECK(rank_groups(Grouping::automatic, 64, &plan) == rank_groups(Grouping::stage, 64, &plan));
  RunPlan flat;
  flat.grid = {1, 40, 1};
  CHECK(rank_groups(Grouping::automatic, 40, &flat).size() == 3);
  CHECK(rank_groups(Grouping::automatic, 40, nullptr).back().name == "ranks 32–39");
  CHECK(rank_groups(Grouping::automatic, 64, &flat).size() == 4);  // the plan belongs to another run
}

TEST_CASE("sixty-four ranks are eight heat rows that fit, and one of them opens to its eight ranks") {
  const RunPlan plan = megatron();
  RowChoice choice = by(Grouping::automatic, 64, plan);
  const TimelineRows closed = lay_out_rows(pipeline_ranks(64), true, choice, 360);
  REQUIRE(closed.bands.size() == 8);
  CHECK(closed.height <= 360);
  for (const TimelineRow& row : closed.rows) CHECK(row.rank_count == 8);
  CHECK(closed.rows[*closed.find(13, RowKind::compute, Lane::compute)].rank == 8);

  choice.open_groups["stage 1"] = true;
  const TimelineRows open = lay_out_rows(pipeline_ranks(64), true, choice, 360);
  REQUIRE(open.bands.size() == 16);
  CHECK(open.bands[1].open);
  for (int i = 0; i < 8; ++i) {
    CHECK(open.bands[static_cast<std::size_t>(2 + i)].rank == 8 + i);
    CHECK(open.bands[static_cast<std::size_t>(2 + i)].row_count == 6);
  }
  CHECK(open.rows[*open.find(13, RowKind::compute, Lane::compute)].rank_count == 1);
  CHECK(open.band_of(13)->rank == 13);
  CHECK(open.band_of(20)->group == 2);
  CHECK(open.rows[0].height == closed.rows[0].height);
}

TEST_CASE("a few ranks are shown under the rows of their groups, each once") {
  RunPlan plan;
  plan.grid = {2, 2, 2};
  const TimelineRows rows = lay_out_rows(pipeline_ranks(8), true, by(Grouping::data, 8, plan), 700);
  std::vector<std::int32_t> order;
  for (const RankBand& band : rows.bands)
    if (band.group < 0) order.push_back(band.rank);
  CHECK(order == std::vector<std::int32_t>{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(rows.height <= 700);
}

TEST_CASE("pinned ranks stay at the top while scrolling") {
  RowChoice choice;
  choice.pinned = {5, 9};
  const TimelineRows rows = lay_out_rows(pipeline_ranks(24), true, choice, 240);
  REQUIRE(rows.height > 240);
  REQUIRE(rows.bands.size() == 24);
  CHECK(rows.bands[0].rank == 5);
  CHECK(rows.bands[1].rank == 9);
  CHECK(rows.bands[2].rank == 0);
  REQUIRE(rows.pinned_height > rows.rows[rows.bands[1].first_row].bottom() - 1);
  const int scroll = 57;
  const TimelineRow& pinned = rows.rows[*rows.find(9, RowKind::compute, Lane::compute)];
  const TimelineRow& other = rows.rows[*rows.find(7, RowKind::compute, Lane::compute)];
  CHECK(rows.view_y(pinned, scroll) == pinned.y);
  CHECK(rows.view_y(other, scroll) == other.y - scroll);
  CHECK(rows.row_at(rows.content_y(rows.view_y(pinned, scroll), scroll)) ==
        rows.find(9, RowKind::compute, Lane::compute));
}

TEST_CASE("pinned ranks scroll with the rest if they would take all the space") {
  RowChoice choice;
  for (int r = 0; r < 20; ++r) choice.pinned.insert(r);
  const TimelineRows rows = lay_out_rows(pipeline_ranks(24), true, choice, 240);
  CHECK(rows.pinned_height == 0);
  for (const TimelineRow& row : rows.rows) CHECK_FALSE(row.pinned);
}

TEST_CASE("lanes are grouped by rank, and a rank that has not reported has a row, too") {
  const std::vector<LaneKey> lanes{{0, Lane::compute, Obtained::emulated},
                                   {0, Lane::data, Obtained::emulated},
                                   {0, Lane::tensor, Obtained::measured},
                                   {2, Lane::compute, Obtained::emulated}};
  const auto sets = lane_sets(lanes, Obtained::emulated, 4);
  REQUIRE(sets.size() == 4);
  CHECK(sets[0].communication == std::vector<Lane>{Lane::data});
  CHECK(sets[1].communication.empty());
}

TEST_CASE("the overview holds every rank once, several in a row when they are many") {
  for (const int ranks : {1, 4, 10, 64, 1000}) {
    const TimelineRows rows = lay_out_overview(ranks, 18);
    int next = 0, free_from = 0;
    for (const TimelineRow& row : rows.rows) {
      CHECK(row.rank == next);
      CHECK(row.y >= free_from);
      CHECK(row.height > 0);
      next = row.rank + row.rank_count;
      free_from = row.bottom();
    }
    INFO(ranks);
    CHECK(next == ranks);
    CHECK(free_from <= 18);
  }
}

TEST_CASE("an imported run has a row for each stream that computes, and is found by its first one") {
  const Lane first = observed_lane(LaneUse::compute, 0), second = observed_lane(LaneUse::compute, 1),
             group = observed_lane(LaneUse::communication, 0), thread = observed_lane(LaneUse::host, 0);
  std::vector<LaneKey> lanes;
  for (const Lane lane : {group, second, thread, first}) lanes.push_back({0, lane, Obtained::measured});
  const std::vector<LaneSet> sets = lane_sets(lanes, Obtained::measured, 2);
  REQUIRE(sets.size() == 2);
  CHECK(sets[0].compute == std::vector<Lane>{first, second});
  CHECK(sets[0].communication == std::vector<Lane>{group, thread});
  CHECK(sets[1].compute == std::vector<Lane>{Lane::compute});  // nothing is known of it yet
  const TimelineRows rows = lay_out_rows(sets, false, {}, 600);
  const auto found = rows.find(0, RowKind::compute, Lane::compute);
  REQUIRE(found);
  CHECK(rows.rows[*found].lane == first);
  CHECK(rows.find(0, RowKind::compute, second) == *found + 1);
  CHECK(rows.find(0, RowKind::communication, thread));
}
