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

ImportanceBars::ImportanceBars(QWidget* parent) : QWidget(parent), colours_(&palette_of(Theme::dark)) {}

void ImportanceBars::show_bars(std::vector<ImportanceBar> bars, const QString& help, const Palette& colours) {
  bars_ = std::move(bars);
  std::stable_sort(bars_.begin(), bars_.end(),
                   [](const ImportanceBar& a, const ImportanceBar& b) { return a.share > b.share; });
  colours_ = &colours;
  setToolTip(help);
  setAccessibleName(tr("Importance of each knob"));
  setAccessibleDescription(help);
  update();
}

void ImportanceBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.setPen(color(colours_->text));
  painter.drawText(QRect(8, 0, width() - 8, title_height), Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(tr("Share of the time variance due to each knob alone"),
                                                    Qt::ElideRight, width() - 8));
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
    painter.setPen(color(colours_->dim));
    painter.drawText(QRect(8, y, names, row_height), Qt::AlignRight | Qt::AlignVCenter, bar.knob);
    const double wide = std::clamp(bar.share, 0.0, 1.0) * room;
    painter.fillRect(QRectF(left, y + (row_height - bar_height) / 2.0, std::max(1.0, wide), bar_height),
                     color(colours_->of(SpanClass::forward)));
    painter.setFont(number_font());
    painter.setPen(color(colours_->text));
    painter.drawText(QRectF(left + wide + bar_gap / 2.0, y, numbers, row_height), Qt::AlignLeft | Qt::AlignVCenter,
                     text::percent(bar.share));
  }
}

}  // namespace rankscope::app
