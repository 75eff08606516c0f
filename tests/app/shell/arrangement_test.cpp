// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/arrangement.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace rankscope::app;

namespace {

constexpr PartNeeds needs{.lesson_width = 250, .plan_width = 290, .shares_open = 114};
constexpr int bars = 44 + 22, title = 22;  // top bar and status line; a window manager's title

QSize room_of(int width, int height) { return {width, height - bars - title}; }

std::vector<QRect> shown(const Parts& parts) {
  std::vector<QRect> result;
  for (const QRect& part :
       {parts.lesson, parts.plan, parts.timeline, parts.shares, parts.handle, parts.tabs, parts.lower})
    if (!part.isEmpty()) result.push_back(part);
  return result;
}

}  // namespace

TEST_CASE("A laptop's screen has room for lesson, plan, time line and a lower view of 250 pixels") {
  const Parts parts = divide(room_of(1366, 768), default_arrangement(1366), needs);
  CHECK_FALSE(parts.lesson_folded);
  CHECK_FALSE(parts.plan_folded);
  CHECK(parts.lesson.width() == part_size::lesson);
  CHECK(parts.plan.width() == needs.plan_width);  // never narrower than its longest word
  CHECK(parts.timeline.height() >= part_size::timeline);
  CHECK(parts.lower.height() >= part_size::lower);
  CHECK(parts.shares.height() == part_size::shares);
  CHECK_FALSE(parts.handle.isEmpty());
}

TEST_CASE("At 1024 x 700 lesson and plan begin folded, and either can be opened") {
  Arrangement choices = default_arrangement(1024);
  Parts parts = divide(room_of(1024, 700), choices, needs);
  CHECK(parts.lesson.width() == part_size::strip);
  CHECK(parts.plan.width() == part_size::strip);
  CHECK(parts.timeline.height() >= part_size::timeline);
  CHECK(parts.lower.height() >= part_size::lower);
  choices.lesson_folded = choices.plan_folded = false;
  parts = divide(room_of(1024, 700), choices, needs);
  const int middle = parts.timeline.width();
  CHECK((parts.lesson_folded || parts.plan_folded || middle >= part_size::middle));
  choices.lesson_first = false;
  CHECK_FALSE(divide({900, 600}, choices, needs).plan_folded);
  CHECK(divide({900, 600}, choices, needs).lesson_folded);
}

TEST_CASE("Whatever is asked for, parts lie in the room, do not overlap, and views are high enough or not shown") {
  for (int width = 480; width <= 2400; width += 160)
    for (int height = 260; height <= 1400; height += 38)
      for (const bool folded : {false, true})
        for (const int lower : {0, 1, 300, 5000})
          for (const std::optional<bool> open : {std::optional<bool>(), std::optional(false), std::optional(true)})
            for (const int alone : {0, 1, 2}) {
              Arrangement choices;
              choices.lesson_folded = folded;
              choices.lesson_width = choices.plan_width = folded ? 40 : 600;
              choices.lower_height = lower;
              choices.shares_open = open;
              choices.lower_alone = alone == 1;
              choices.lower_turn = alone == 2;
              const Parts parts = divide({width, height}, choices, needs);
              const auto all = shown(parts);
              INFO(width << " x " << height << " folded " << folded << " lower " << lower << " alone " << alone);
              bool inside = true, apart = true;
              for (std::size_t i = 0; i < all.size(); ++i) {
                inside = inside && QRect(0, 0, width, height).contains(all[i]);
                for (std::size_t j = 0; j < i; ++j) apart = apart && !all[i].intersects(all[j]);
              }
              REQUIRE(inside);
              REQUIRE(apart);
              REQUIRE((parts.lesson.width() == part_size::strip || parts.lesson.width() >= 250));
              REQUIRE((parts.plan.width() == part_size::strip || parts.plan.width() >= 290));
              if (parts.lower.isEmpty() || parts.lower_only()) continue;
              REQUIRE(parts.lower.height() >= part_size::tight_lower);
              REQUIRE(parts.timeline.height() >= part_size::tight_timeline);
            }
}

TEST_CASE("Where time line and lower view do not fit together, they take turns") {
  const QSize room = room_of(960, 540);
  Arrangement choices = default_arrangement(960);
  Parts parts = divide(room, choices, needs);
  CHECK(parts.by_turns);
  CHECK(parts.timeline.height() >= part_size::timeline);
  CHECK(parts.lower.isEmpty());
  CHECK_FALSE(parts.tabs.isEmpty());
  choices.lower_turn = true;
  parts = divide(room, choices, needs);
  CHECK(parts.lower_only());
  CHECK(parts.lower.height() >= part_size::lower);
  // Showing only one is not a choice of the user: with more space both are shown.
  CHECK_FALSE(divide(room_of(1366, 768), choices, needs).lower_only());
}

TEST_CASE("The lower view's height is remembered, and yields where the time line would be too low") {
  Arrangement choices;
  choices.lower_height = 420;
  CHECK(divide(room_of(1920, 1080), choices, needs).lower.height() == 420);
  const Parts small = divide(room_of(1366, 768), choices, needs);
  CHECK(small.lower.height() < 420);
  CHECK(small.timeline.height() >= part_size::timeline);
}

TEST_CASE("A layout comes back on the screen it was made on, and a collapsed or older one does not") {
  Arrangement choices;
  choices.lesson_width = 340;
  choices.plan_folded = true;
  choices.lower_height = 333;
  choices.shares_open = false;
  const QSize screen(1366, 768);
  const QByteArray bytes = to_bytes(choices, screen);
  REQUIRE(from_bytes(bytes, screen) == choices);
  CHECK_FALSE(from_bytes(bytes, {1920, 1080}));
  CHECK_FALSE(from_bytes({}, screen));
  CHECK_FALSE(from_bytes("\x00\xff collapsed docks of an older version", screen));
  const auto with = [&](const char* from, const char* to) { return QByteArray(bytes).replace(from, to); };
  REQUIRE(bytes.contains("\"lesson_width\":340"));
  CHECK_FALSE(from_bytes(with("\"lesson_width\":340", "\"lesson_width\":50"), screen));
  CHECK_FALSE(from_bytes(with("\"lower_height\":333", "\"lower_height\":20"), screen));
  CHECK_FALSE(from_bytes(with("\"version\":2", "\"version\":1"), screen));
}
