// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/importance_bars.hpp"

#include <QPainter>
#include <algorithm>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int title_height = 20, row_height = 19, bar_height = 11, bar_gap = 8;

}  // namespace

void ImportanceBars::show_bars(std::vector<ImportanceBar> bars, const QString& help) {
  bars_ = std::move(bars);
  std::stable_sort(bars_.begin(), bars_.end(),
                   [](const ImportanceBar& a, const ImportanceBar& b) { return a.share > b.share; });
  setToolTip(help);
  setAccessibleName(tr("Importance of each knob"));
  setAccessibleDescription(help);
  update();
}

void ImportanceBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  draw_line(painter, QRectF(8, 0, width() - 8, title_height), at_left,
            tr("Share of the time variance due to each knob alone"), colours().text);
  const QFontMetrics metrics(interface_font());
  int names = 0;
  for (const ImportanceBar& bar : bars_) names = std::max(names, metrics.horizontalAdvance(bar.knob));
  const int numbers = QFontMetrics(number_font()).horizontalAdvance(text::percent(1)) + bar_gap;
  const int left = 8 + names + bar_gap, room = std::max(10, width() - left - numbers - 4);
  const auto rows = static_cast<std::size_t>(std::max(0, (height() - title_height) / row_height));
  for (std::size_t i = 0; i < std::min(rows, bars_.size()); ++i) {
    const ImportanceBar& bar = bars_[i];
    const int y = title_height + static_cast<int>(i) * row_height;
    painter.setFont(interface_font());
    draw_text(painter, QRect(8, y, names, row_height), at_right, bar.knob, colours().dim);
    const double wide = std::clamp(bar.share, 0.0, 1.0) * room;
    painter.fillRect(QRectF(left, y + (row_height - bar_height) / 2.0, std::max(1.0, wide), bar_height),
                     color(colours().of(SpanClass::forward)));
    painter.setFont(number_font());
    draw_text(painter, QRectF(left + wide + bar_gap / 2.0, y, numbers, row_height), at_left, text::percent(bar.share),
              colours().text);
  }
}

}  // namespace rankscope::app
