// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/timeline_layout.hpp"

#include <algorithm>

namespace rankscope::app {

TimelineLayout TimelineLayout::of(QSize widget, int line, int label_width, bool legend_line) {
  constexpr int margin = 16, gap = 8;
  const int overview_height = 20, least_plot = 4 * line;
  TimelineLayout result;
  const int left = std::min(margin + label_width, widget.width() / 3);
  const int width = std::max(widget.width() - left - margin, 1);
  int rest = widget.height() - (line + 6) - least_plot;  // the axis and a small plot are always visible
  const auto takes = [&](int height) {
    if (rest < height) return false;
    rest -= height;
    return true;
  };
  const bool header = takes(line + 2 * gap), legend = header && legend_line && takes(line + 2);
  const bool overview = takes(overview_height + gap), details = takes(line + 12);
  // A second line if enough height remains for the rows.
  const int details_lines = details && rest >= 6 * line && takes(line) ? 2 : details ? 1 : 0;
  int y = header ? gap : 2;
  if (header) {
    result.header = {margin, y, std::max(widget.width() - 2 * margin, 1), line};
    y += line + gap;
  }
  if (legend) {
    result.legend = {margin, y - gap / 2, std::max(widget.width() - 2 * margin, 1), line};
    y += line + 2;
  }
  if (overview) {
    result.overview = {left, y, width, overview_height};
    y += overview_height + gap;
  }
  result.axis = {left, y, width, line + 4};
  y += line + 4;
  const int bottom = widget.height() - (details ? details_lines * line + 12 : 0);
  result.plot = {left, y, width, std::max(bottom - y, 1)};
  result.labels = {margin, y, std::max(left - margin, 1), std::max(bottom - y, 1)};
  if (details)
    result.details = {margin, bottom + 5, std::max(widget.width() - 2 * margin, 1), details_lines * line + 2};
  return result;
}

}  // namespace rankscope::app
