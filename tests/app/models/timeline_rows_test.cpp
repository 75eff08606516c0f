#include "app/models/timeline_rows.hpp"

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

std::vector<LaneSet> pipeline_ranks(int count) {
  std::vector<LaneSet> ranks;
  for (int r = 0; r < count; ++r)
    ranks.push_back({r, {Lane::forward_send, Lane::forward_receive, Lane::backward_send, Lane::backward_receive}});
  return ranks;
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

TEST_CASE("what fits is fitted: four ranks in a laptop's window, thirty-two as heat rows") {
  for (const int ranks : {1, 4, 8, 16, 32}) {
    INFO(ranks);
    CHECK(lay_out_rows(pipeline_ranks(ranks), true, {}, 360).height <= 360);
  }
  CHECK(lay_out_rows(pipeline_ranks(4), true, {}, 360).bands[0].open);
  CHECK_FALSE(lay_out_rows(pipeline_ranks(32), true, {}, 360).bands[0].open);
  CHECK(lay_out_rows(pipeline_ranks(200), true, {}, 360).height > 360);  // scrolls
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

TEST_CASE("a rank folded by hand keeps its compute row alone, and the others keep their size") {
  const auto ranks = pipeline_ranks(4);
  const TimelineRows before = lay_out_rows(ranks, true, {}, 420);
  const TimelineRows after = lay_out_rows(ranks, true, {{1, false}}, 420);
  CHECK(after.bands[1].row_count == 1);
  CHECK(after.bands[2].row_count == 6);
  CHECK(after.rows[0].height == before.rows[0].height);
  CHECK(after.height < before.height);
  const TimelineRows opened = lay_out_rows(pipeline_ranks(32), true, {{5, true}}, 360);
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

TEST_CASE("lanes are grouped by rank, and a rank that has said nothing has a band all the same") {
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
