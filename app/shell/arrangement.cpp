// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/arrangement.hpp"

#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

namespace rankscope::app {
namespace {

constexpr int layout_version = 2;
constexpr int narrow_window = 1200;  ///< up to here panels begin folded
constexpr int widest_side_panel = 720;
constexpr int generous =
    150;  ///< more than the least of both parts by this: sentence and legend are shown automatically
constexpr double lower_part = 0.4;  ///< of the remaining height

struct Widths {
  int lesson = 0, plan = 0;
  bool lesson_folded = true, plan_folded = true;
};

Widths divide_width(int room, const Arrangement& choices, const PartNeeds& needs) {
  Widths result;
  result.lesson_folded = choices.lesson_folded;
  result.plan_folded = choices.plan_folded;
  const int lesson_least = std::max(needs.lesson_width, part_size::least_panel);
  const int plan_least = std::max(needs.plan_width, part_size::least_panel);
  if (!result.lesson_folded && !result.plan_folded && lesson_least + plan_least + part_size::middle > room)
    (choices.lesson_first ? result.plan_folded : result.lesson_folded) = true;
  const int strips = part_size::strip * ((result.lesson_folded ? 1 : 0) + (result.plan_folded ? 1 : 0));
  result.lesson =
      result.lesson_folded ? part_size::strip : std::clamp(choices.lesson_width, lesson_least, widest_side_panel);
  result.plan = result.plan_folded ? part_size::strip : std::clamp(choices.plan_width, plan_least, widest_side_panel);
  // A panel shrinks until its text would be cut; if the middle is still too narrow, the panel replaces the middle.
  int missing = part_size::middle - (room - result.lesson - result.plan);
  const auto yield = [&](int& width, int least, bool folded) {
    const int given = folded ? 0 : std::clamp(missing, 0, std::max(width - least, 0));
    width -= given;
    missing -= given;
  };
  yield(result.plan, plan_least, result.plan_folded);
  yield(result.lesson, lesson_least, result.lesson_folded);
  const bool both_folded = result.lesson_folded && result.plan_folded;
  if (missing > 0 && !both_folded) {
    if (!result.lesson_folded)
      result.lesson = std::max(room - strips, 0);
    else
      result.plan = std::max(room - strips, 0);
  }
  return result;
}

/// Heights of time line and lower view that share `both`; nullopt: they do not fit together.
std::optional<int> lower_height_of(int both, int wished) {
  if (both < part_size::tight_timeline + part_size::tight_lower) return std::nullopt;
  const int rest = both - part_size::timeline - part_size::lower;
  // Both are reduced, each by as much as its least height allows.
  constexpr int can_give_lower = part_size::lower - part_size::tight_lower;
  constexpr int can_give = can_give_lower + part_size::timeline - part_size::tight_timeline;
  if (rest < 0) return part_size::lower + rest * can_give_lower / can_give;
  if (wished > 0) return std::clamp(wished, part_size::lower, part_size::lower + rest);
  return part_size::lower + static_cast<int>(rest * lower_part);
}

void divide_height(Parts& parts, const QRect& middle, const Arrangement& choices, const PartNeeds& needs) {
  constexpr int bars = part_size::handle + part_size::tabs;
  const int without_bars = middle.height() - bars;
  parts.by_turns = !lower_height_of(without_bars - part_size::shares, 0);
  const bool generous_room = without_bars - needs.shares_open >= part_size::timeline + part_size::lower + generous;
  parts.shares_open = choices.shares_open.value_or(generous_room);
  const bool lower_only = choices.lower_alone || (parts.by_turns && choices.lower_turn);
  const auto row = [&](int y, int height) { return QRect(middle.left(), y, middle.width(), std::max(height, 0)); };
  if (lower_only) {
    parts.tabs = row(middle.top(), part_size::tabs);
    parts.lower = row(middle.top() + part_size::tabs, middle.height() - part_size::tabs);
    return;
  }
  const int shares = parts.shares_open ? needs.shares_open : part_size::shares;
  // With sentence and legend the other two may be smaller than usual; if that does not fit, the lower view is hidden.
  const std::optional<int> lower = lower_height_of(without_bars - shares, choices.lower_height);
  if (!lower) {
    const int rest = middle.height() - part_size::tabs;
    const bool room_for_both = rest - shares >= part_size::tight_lower;
    const int timeline = parts.shares_open && !room_for_both ? 0 : std::max(rest - shares, 0);
    parts.timeline = row(middle.top(), timeline);
    parts.shares = row(middle.top() + timeline, std::min(shares, rest - timeline));
    parts.tabs = row(middle.top() + rest, part_size::tabs);
    return;
  }
  const int timeline = without_bars - shares - *lower;
  int y = middle.top();
  parts.timeline = row(y, timeline);
  y += timeline;
  parts.shares = row(y, shares);
  y += shares;
  parts.handle = row(y, part_size::handle);
  y += part_size::handle;
  parts.tabs = row(y, part_size::tabs);
  y += part_size::tabs;
  parts.lower = row(y, *lower);
}

}  // namespace

Parts divide(QSize room, const Arrangement& choices, const PartNeeds& needs) {
  Parts parts;
  const Widths widths = divide_width(room.width(), choices, needs);
  parts.lesson_folded = widths.lesson_folded;
  parts.plan_folded = widths.plan_folded;
  parts.lesson = {0, 0, widths.lesson, room.height()};
  parts.plan = {room.width() - widths.plan, 0, widths.plan, room.height()};
  const QRect middle(widths.lesson, 0, room.width() - widths.lesson - widths.plan, room.height());
  if (middle.width() > 0) divide_height(parts, middle, choices, needs);
  return parts;
}

Arrangement default_arrangement(int window_width) {
  Arrangement result;
  result.lesson_folded = result.plan_folded = window_width < narrow_window;
  return result;
}

QByteArray to_bytes(const Arrangement& a, QSize screen) {
  QJsonObject object{
      {QStringLiteral("version"), layout_version},        {QStringLiteral("screen_width"), screen.width()},
      {QStringLiteral("screen_height"), screen.height()}, {QStringLiteral("lesson_width"), a.lesson_width},
      {QStringLiteral("plan_width"), a.plan_width},       {QStringLiteral("lesson_folded"), a.lesson_folded},
      {QStringLiteral("plan_folded"), a.plan_folded},     {QStringLiteral("lesson_first"), a.lesson_first},
      {QStringLiteral("lower_height"), a.lower_height},   {QStringLiteral("lower_alone"), a.lower_alone},
      {QStringLiteral("lower_turn"), a.lower_turn}};
  if (a.shares_open) object.insert(QStringLiteral("shares_open"), *a.shares_open);
  return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<Arrangement> from_bytes(const QByteArray& bytes, QSize screen) {
  const QJsonObject object = QJsonDocument::fromJson(bytes).object();
  const auto number = [&](const char* key) { return object.value(QLatin1String(key)).toInt(-1); };
  if (number("version") != layout_version || number("screen_width") != screen.width() ||
      number("screen_height") != screen.height())
    return std::nullopt;
  Arrangement a;
  a.lesson_width = number("lesson_width");
  a.plan_width = number("plan_width");
  a.lower_height = number("lower_height");
  const auto usable = [&](int width) { return width >= part_size::least_panel && width <= widest_side_panel; };
  const bool usable_height =
      a.lower_height == 0 || (a.lower_height >= part_size::tight_lower && a.lower_height <= screen.height());
  if (!usable(a.lesson_width) || !usable(a.plan_width) || !usable_height) return std::nullopt;
  const auto flag = [&](const char* key) { return object.value(QLatin1String(key)).toBool(); };
  a.lesson_folded = flag("lesson_folded");
  a.plan_folded = flag("plan_folded");
  a.lesson_first = flag("lesson_first");
  a.lower_alone = flag("lower_alone");
  a.lower_turn = flag("lower_turn");
  if (object.contains(QStringLiteral("shares_open"))) a.shares_open = flag("shares_open");
  return a;
}

}  // namespace rankscope::app
