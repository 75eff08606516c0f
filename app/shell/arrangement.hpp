// SPDX-License-Identifier: GPL-3.0-or-later
// The layout of the window below its top bar: lesson, time line, shares of the step, tabs, lower view, plan. Plain
// arithmetic, tested without a GUI: the inputs are the user's choices, the outputs are rectangles that fit.
#pragma once
#include <QByteArray>
#include <QRect>
#include <QSize>
#include <optional>

namespace rankscope::app {

/// Logical pixels.
namespace part_size {
inline constexpr int lesson = 300, plan = 260, strip = 28;
inline constexpr int tabs = 30, handle = 8, shares = 30;
inline constexpr int timeline = 280, lower = 250;              ///< the least of both, if there is space
inline constexpr int tight_timeline = 220, tight_lower = 200;  ///< still used before one of the two is hidden
inline constexpr int middle = 480;                             ///< the least width beside a panel
inline constexpr int least_panel = 160;
}  // namespace part_size

/// The user's choices. There may be less space; they are kept for a larger window.
struct Arrangement {
  int lesson_width = part_size::lesson, plan_width = part_size::plan;
  bool lesson_folded = false, plan_folded = false;
  bool lesson_first = true;         ///< if only one of both panels fits: the lesson, else the plan
  int lower_height = 0;             ///< 0: depends on the space
  std::optional<bool> shares_open;  ///< sentence and legend of where the step goes; unset: if there is much space
  bool lower_alone = false;         ///< the lower view has all of the middle
  bool lower_turn = false;          ///< if time line and lower view do not fit together: the lower view is shown
  bool operator==(const Arrangement&) const = default;
};

/// The current needs of the parts.
struct PartNeeds {
  int lesson_width = 200, plan_width = part_size::plan;  ///< the narrowest that cuts no word and no number
  int shares_open = 114;                                 ///< height with sentence and legend
  bool operator==(const PartNeeds&) const = default;
};

/// The positions of the parts. An empty rectangle: not shown.
struct Parts {
  QRect lesson, plan;  ///< the panel, or its strip
  bool lesson_folded = false, plan_folded = false, shares_open = false;
  bool by_turns = false;  ///< time line and lower view do not fit together: one of them is shown
  QRect timeline, shares, handle, tabs, lower;
  bool lower_only() const { return timeline.isEmpty() && shares.isEmpty() && !lower.isEmpty(); }
  bool operator==(const Parts&) const = default;
};

Parts divide(QSize room, const Arrangement& choices, const PartNeeds& needs);

/// The default layout. In a narrow window the panels begin folded.
Arrangement default_arrangement(int window_width);

/// For settings: with a version and the screen's size. Empty result of the second: another version or screen, or not
/// a usable layout.
QByteArray to_bytes(const Arrangement& arrangement, QSize screen);
std::optional<Arrangement> from_bytes(const QByteArray& bytes, QSize screen);

}  // namespace rankscope::app
