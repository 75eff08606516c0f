// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes for both the layout and the painting of an exchange. Only for this folder.
#pragma once
#include <QFontMetricsF>
#include <QString>
#include <cmath>

#include "app/views/common/style.hpp"

namespace rankscope::app::exchange {

inline constexpr int between = 14;     ///< two parts, one under the other
inline constexpr int most_boxes = 64;  ///< above this number, boxes of members would not be readable
inline constexpr int times_head = 24, times_row = 26, times_foot = 20;
inline constexpr int most_opaque_row = 44;                ///< of times without other parts beside them
inline constexpr int rank_width = 54, spans_width = 132;  ///< before and after the bars
inline constexpr int wrapped = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;

inline double height_of(const QString& text, bool heading, double width) {
  const QFontMetricsF metrics(heading ? bold_font() : interface_font());
  return std::ceil(metrics.boundingRect(QRectF(0, 0, width, 1e5), wrapped, text).height());
}

}  // namespace rankscope::app::exchange
