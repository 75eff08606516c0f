#include "engine/plan/schedule/schedule.hpp"

#include <algorithm>
#include <map>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

std::string words(const std::vector<OpId>& order) {
  std::string text;
  for (const OpId id : order) {
    const OpFields f = id.fields();
    text +=
        (text.empty() ? "" : " ") + std::string(f.kind == OpKind::forward ? "F" : "B") + std::to_string(f.micro_batch);
  }
  return text;
}

/// Time of all stages' orders with forward 1, backward 2 and free transfers; -1 if they deadlock.
int makespan(const ChunkSchedule& schedule) {
  const int p = schedule.shape.stages;
  std::map<OpId, int> end;
  std::vector<std::size_t> next(static_cast<std::size_t>(p), 0);
  std::vector<int> free(static_cast<std::size_t>(p), 0);
  int finish = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (int s = 0; s < p; ++s)
      while (next[s] < schedule.order[s].size()) {
        OpFields f = schedule.order[s][next[s]].fields();
        int ready = free[s];
        OpFields need = f;
        need.chunk += f.kind == OpKind::forward ? -1 : 1;
        if (need.chunk >= 0 && need.chunk < p) {
          const auto found = end.find(OpId::of(need));
          if (found == end.end()) break;
          ready = std::max(ready, found->second);
        }
        free[s] = ready + (f.kind == OpKind::forward ? 1 : 2);
        end[schedule.order[s][next[s]++]] = free[s];
        finish = std::max(finish, free[s]);
        moved = true;
      }
  }
  for (int s = 0; s < p; ++s)
    if (next[s] != schedule.order[s].size()) return -1;
  return finish;
}

}  // namespace

TEST_CASE("1F1B on four stages and eight micro-batches reads as in the paper") {
  const ChunkSchedule s = one_f_one_b_schedule({4, 1, 8});
  CHECK(words(s.order[0]) == "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7");
  CHECK(words(s.order[1]) == "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7");
  CHECK(words(s.order[2]) == "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 B7");
  CHECK(words(s.order[3]) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
}

TEST_CASE("asynchronous 1F1B has 1F1B's order") {
  for (int p = 1; p <= 5; ++p)
    for (int m = 1; m <= 7; ++m)
      CHECK(one_f_one_b_async_schedule({p, 1, m}).order == one_f_one_b_schedule({p, 1, m}).order);
}

TEST_CASE("GPipe runs all forwards, then all backwards in the same order; naive one micro-batch at a time") {
  CHECK(words(gpipe_schedule({2, 1, 3}).order[0]) == "F0 F1 F2 B0 B1 B2");
  CHECK(words(naive_schedule({2, 1, 3}).order[1]) == "F0 B0 F1 B1 F2 B2");
}

TEST_CASE(
    "naive, GPipe and 1F1B, also asynchronous, run each micro-batch once forward and once backward on each stage, and "
    "complete") {
  for (const std::string_view name : {"naive", "gpipe", "1f1b", "1f1b-async"})
    for (int p = 1; p <= 8; ++p)
      for (int m = 1; m <= 12; ++m) {
        const ChunkSchedule s = make_schedule(name, {p, 1, m});
        for (const auto& order : s.order) {
          auto sorted = order;
          std::sort(sorted.begin(), sorted.end());
          REQUIRE(std::unique(sorted.begin(), sorted.end()) == sorted.end());
          REQUIRE(order.size() == static_cast<std::size_t>(2 * m));
        }
        INFO(name << " p=" << p << " m=" << m);
        REQUIRE(makespan(s) > 0);
        // Each stage works for 3m units; the rest of the step is bubble.
        CHECK(1.0 - 3.0 * m / makespan(s) == Approx(ideal_bubble(s)).margin(1e-12));
      }
}

TEST_CASE("1F1B holds at most min(p-r, m) micro-batches in flight on stage r, GPipe m") {
  for (int p = 1; p <= 6; ++p)
    for (int m = 1; m <= 9; ++m)
      for (const auto name : {"1f1b", "gpipe"}) {
        const ChunkSchedule s = make_schedule(name, {p, 1, m});
        for (int r = 0; r < p; ++r) {
          int now = 0, most = 0;
          for (const OpId id : s.order[r]) most = std::max(most, now += id.kind() == OpKind::forward ? 1 : -1);
          CHECK(most == (std::string_view(name) == "gpipe" ? m : std::min(p - r, m)));
        }
      }
}

TEST_CASE("an unknown schedule is refused with the known ones, and one written by hand has no builder") {
  try {
    make_schedule("zigzag", {2, 1, 2});
    FAIL("accepted");
  } catch (const std::invalid_argument& e) {
    CHECK(std::string(e.what()).find("naive, gpipe, 1f1b") != std::string::npos);
  }
  CHECK_THROWS_AS(make_schedule(ScheduleKind::by_hand, {2, 1, 2}), std::invalid_argument);
}
