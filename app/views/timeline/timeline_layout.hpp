// SPDX-License-Identifier: GPL-3.0-or-later
// Positions of the parts of the time line in its widget, in logical pixels.
#pragma once
#include <QRect>
#include <QSize>

namespace rankscope::app {

struct TimelineLayout {
  QRect header;    ///< title, summary, and the legend if that has no line of its own
  QRect legend;    ///< empty: it is in the header
  QRect overview;  ///< the complete step or run, above the plot's columns
  QRect axis;      ///< ticks
  QRect labels;    ///< ranks, to the left of the plot
  QRect plot;      ///< rows
  QRect details;   ///< one or two lines about the selection

  /// `line`: height of a line of text. Parts without space are empty: first the details, then the overview, then
  /// the legend's own line, then the header.
  static TimelineLayout of(QSize widget, int line, int label_width, bool legend_line = false);
};

}  // namespace rankscope::app
