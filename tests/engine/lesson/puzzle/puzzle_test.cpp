#include "engine/lesson/puzzle/puzzle.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "engine/plan/schedule/builder.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

using Kind = PuzzleFault::Kind;

std::vector<OpId> all_boxes(const Puzzle& board) {
  std::vector<OpId> all;
  for (int stage = 0; stage < board.rules().stages; ++stage)
    for (const OpId box : board.boxes(stage)) all.push_back(box);
  return all;
}

std::vector<OpId> ready(const Puzzle& board) {
  std::vector<OpId> boxes;
  for (const OpId box : all_boxes(board))
    if (!board.placed(box) && !board.fault_of(box, Puzzle::stage_of(box), board.box_count())) boxes.push_back(box);
  return boxes;
}

/// Finds the shortest of all orders: each can be reached by appending boxes that are ready. Prunes boards that are not
/// shorter than the best so far, and boards that were reached before: moves of different stages in another order give
/// the same board.
void shortest(Puzzle& board, std::int64_t& best, std::set<std::vector<std::vector<OpId>>>& seen) {
  if (!seen.insert(board.rows()).second) return;
  if (board.placed_count() > 0 && board.layout().end >= best) return;
  if (board.complete()) {
    best = board.layout().end;
    return;
  }
  for (const OpId box : ready(board)) {
    REQUIRE(board.append(box));
    shortest(board, best, seen);
    REQUIRE(board.undo());
  }
}

OpId random_of(const std::vector<OpId>& boxes, std::mt19937& random) {
  return boxes[std::uniform_int_distribution<std::size_t>(0, boxes.size() - 1)(random)];
}

}  // namespace

TEST_CASE("No order of a small puzzle is shorter than the bound, and the best one is no longer than the known ones") {
  struct Case {
    PuzzleRules rules;
    std::int64_t best;
  };
  // By hand: two stages and one micro-batch take F F B B = 6 units; for two micro-batches 1F1B takes 3 (m + p - 1) = 9.
  const auto [rules, best_known] =
      GENERATE(Case{{2, 1, false, 0}, 6}, Case{{2, 2, false, 0}, 9}, Case{{2, 2, false, 1}, 12},
               Case{{2, 3, false, 2}, 12}, Case{{3, 2, false, 0}, 12}, Case{{3, 2, false, 1}, 18},
               Case{{2, 1, true, 0}, 5}, Case{{2, 2, true, 0}, 7}, Case{{2, 2, true, 1}, 10});
  CAPTURE(rules.stages, rules.micro_batches, rules.halves, rules.kept);
  Puzzle board(rules);
  std::int64_t best = 1000;
  std::set<std::vector<std::vector<OpId>>> seen;
  shortest(board, best, seen);
  CHECK(best == best_known);
  CHECK(least_units(rules) <= best);
  const auto known = known_solutions(rules);
  if (!known.empty()) CHECK(best <= known.front().units);
}

TEST_CASE("Appending ready boxes always completes the board, for any cap, and the order can run") {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
    const PuzzleRules rules{draw(2, 6), draw(1, 8), draw(0, 1) == 1, draw(0, 4)};
    CAPTURE(rules.stages, rules.micro_batches, rules.halves, rules.kept);
    Puzzle board(rules);
    while (!board.complete()) {
      const auto boxes = ready(board);
      REQUIRE_FALSE(boxes.empty());
      REQUIRE(board.append(random_of(boxes, random)));
    }
    const PipelineShape shape{.stages = rules.stages, .micro_batches = rules.micro_batches};
    const ChunkSchedule order = by_hand_schedule(board.order_text(), shape);
    CHECK(order.order == board.rows());
    CHECK(board.layout().end >= least_units(rules));
    // Idle time, computed from the boxes' work.
    const double work = 3.0 * rules.micro_batches, end = static_cast<double>(board.layout().end);
    CHECK(board.bubble() == Approx(1 - work / end));
    for (int stage = 0; stage < rules.stages; ++stage) {
      const std::vector<int> kept = board.kept_after(stage);
      CHECK(kept.back() == 0);
      if (rules.kept > 0) CHECK(*std::max_element(kept.begin(), kept.end()) <= rules.kept);
    }
  }
}

TEST_CASE("Random moves and removals leave a board that can run, and undo returns to every board before") {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    const PuzzleRules rules{2 + round % 3, 4, round % 2 == 1, round % 4};
    Puzzle board(rules);
    std::vector<Puzzle::Rows> boards;
    for (int move = 0; move < 80; ++move) {
      const OpId box = random_of(all_boxes(board), random);
      const auto before = board.rows();
      const bool removes = random() % 5 == 0;
      if (removes)
        board.take_back(box);
      else
        board.place(box, Puzzle::stage_of(box), static_cast<int>(random() % 10));
      if (board.rows() != before) boards.push_back(before);
      CHECK_NOTHROW(board.layout());
      for (int stage = 0; stage < rules.stages; ++stage)
        for (const int kept : board.kept_after(stage)) {
          CHECK(kept >= 0);
          if (rules.kept > 0) CHECK(kept <= rules.kept);
        }
    }
    for (; !boards.empty(); boards.pop_back()) {
      REQUIRE(board.undo());
      CHECK(board.rows() == boards.back());
    }
    CHECK_FALSE(board.undo());
  }
}

TEST_CASE("A box at an invalid position is refused with the reason") {
  Puzzle board({.stages = 2, .micro_batches = 3, .halves = false, .kept = 2});
  CHECK(board.fault_of(forward_of(0, 0), 1, 0) == PuzzleFault{Kind::other_stage, forward_of(0, 0), {}});
  CHECK(board.fault_of(forward_of(1, 0), 1, 0) == PuzzleFault{Kind::missing, forward_of(1, 0), forward_of(0, 0)});
  CHECK(board.fault_of(backward_of(1, 0), 1, 0) == PuzzleFault{Kind::missing, backward_of(1, 0), forward_of(1, 0)});
  CHECK_FALSE(board.append(backward_of(0, 0)));
  REQUIRE(board.append(forward_of(0, 0)));
  REQUIRE(board.append(forward_of(0, 1)));
  CHECK(board.fault_of(forward_of(0, 2), 0, 9) == PuzzleFault{Kind::memory, forward_of(0, 2), {}});
  CHECK(board.fault_of(backward_of(0, 0), 0, 9) == PuzzleFault{Kind::missing, backward_of(0, 0), backward_of(1, 0)});
  REQUIRE(board.append(forward_of(1, 0)));
  REQUIRE(board.append(backward_of(1, 0)));
  REQUIRE(board.place(backward_of(0, 0), 0, 2));
  // B:c0:m0 may be before F:c0:m1: the gradient of micro-batch 0 does not need micro-batch 1.
  CHECK_FALSE(board.fault_of(backward_of(0, 0), 0, 1));
  // F:c1:m1 before F:c1:m0 would wait for F:c0:m1, which would then wait for B:c0:m0, which waits for F:c1:m0.
  REQUIRE(board.place(backward_of(0, 0), 0, 1));
  const auto circle = board.fault_of(forward_of(1, 1), 1, 0);
  REQUIRE(circle);
  CHECK(circle->kind == Kind::circle);
  CHECK_FALSE(board.fault_of(forward_of(1, 1), 1, 2));
}

TEST_CASE("Removing a box also removes the boxes that need it, and the forwards that then have no room") {
  Puzzle board({.stages = 2, .micro_batches = 2, .halves = false, .kept = 1});
  for (const OpId box :
       {forward_of(0, 0), forward_of(1, 0), backward_of(1, 0), backward_of(0, 0), forward_of(0, 1), forward_of(1, 1)})
    REQUIRE(board.append(box));
  REQUIRE(board.take_back(backward_of(1, 0)));  // stage 0 then keeps micro-batch 0: no room for micro-batch 1
  CHECK(board.rows() == Puzzle::Rows{{forward_of(0, 0)}, {forward_of(1, 0)}});
  CHECK_FALSE(board.take_back(backward_of(1, 0)));
}

TEST_CASE("The known schedules that keep no more than the rules allow are listed with their length") {
  const auto names = [](const PuzzleRules& rules) {
    std::vector<std::string> list;
    for (const PuzzlePar& par : known_solutions(rules)) list.push_back(par.schedule.name());
    return list;
  };
  const auto units = [](const PuzzleRules& rules, const std::string& name) -> std::int64_t {
    for (const PuzzlePar& par : known_solutions(rules))
      if (par.schedule == name) return par.units;
    return -1;
  };
  const PuzzleRules free{4, 8, false, 0};
  CHECK(units(free, "1f1b") == 3 * (8 + 3));
  CHECK(units(free, "gpipe") == 3 * (8 + 3));
  CHECK(units(free, "naive") == 3 * 8 * 4);
  CHECK(least_units(free) == 33);
  CHECK(names({4, 8, false, 4}) == std::vector<std::string>{"1f1b", "naive"});
  CHECK(names({4, 8, false, 3}) == std::vector<std::string>{"naive"});
  const PuzzleRules halves{4, 8, true, 4};
  CHECK(names(halves).front() == "zb-h1");
  CHECK(units(halves, "zb-h1") == 3 * 8 + 3);  // bubble (p - 1) / (3 m + p - 1)
  CHECK(units({4, 8, true, 0}, "1f1b") > units(halves, "zb-h1"));
  CHECK(least_units(halves) == 27);
  // Rounds of two micro-batches, 9 units each; the second micro-batch of the last round ends 3 units later.
  CHECK(least_units({3, 6, false, 2}) == 2 * 9 + 9 + 3);
  CHECK(least_units({3, 6, false, 0}) == 3 * (6 + 2));
}

TEST_CASE("A complete order is accepted if it has these boxes and breaks no rule") {
  Puzzle board({.stages = 2, .micro_batches = 4, .halves = false, .kept = 2});
  const PipelineShape shape{.stages = 2, .micro_batches = 4};
  CHECK_FALSE(board.fill(gpipe_schedule(shape)));
  CHECK_FALSE(board.fill(zb_h1_schedule(shape)));
  CHECK_FALSE(board.fill(one_f_one_b_schedule({.stages = 2, .micro_batches = 3})));
  CHECK(board.fill(one_f_one_b_schedule(shape)));
  CHECK(board.complete());
  CHECK(board.layout().end == 15);
  CHECK(board.bubble() == Approx(0.2));
  board.clear();
  CHECK(board.placed_count() == 0);
}

TEST_CASE("Rules out of their range are refused with the range") {
  CHECK_THROWS_WITH(Puzzle({.stages = 7}), "stages = 7; a puzzle takes 2 to 6");
  CHECK_THROWS_WITH(Puzzle({.stages = 2, .micro_batches = 0}), "micro_batches = 0; a puzzle takes 1 to 8");
  CHECK_THROWS_WITH(Puzzle({.stages = 2, .micro_batches = 4, .halves = false, .kept = -1}),
                    "kept = -1; a puzzle takes 0 to 8");
}
