// SPDX-License-Identifier: GPL-3.0-or-later
// The sentences around the time line's rows: header and legend above, the selection's line below, the card at the
// pointer.
#include <QFontMetricsF>
#include <algorithm>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/timeline/timeline_painter.hpp"

namespace rankscope::app {
void TimelinePainter::header() {
  const QRect area = s_.layout.header;
  if (area.isEmpty()) return;
  const QString title = app::text::tr("Time line");
  text(fonts_.title, area, at_left, title, s_.colours->text);
  const double summary_left = area.left() + fonts_.title.width(title) + 16;
  const double summary_width = s_.summary.isEmpty() ? 0 : fonts_.text.width(s_.summary) + 24;
  double right = area.right();
  if (s_.layout.legend.isEmpty())
    right -= legend(area, summary_left + summary_width, area.right());
  else
    legend(s_.layout.legend, s_.layout.legend.left(), -1);
  const double room = right - summary_left;
  if (s_.summary.isEmpty() || room <= 40) return;
  // If the space is too small, the part in brackets is omitted first.
  QString summary = s_.summary;
  if (fonts_.text.width(summary) > room) summary = summary.section(QStringLiteral(" ("), 0, 0);
  text(fonts_.text, {summary_left, double(area.top()), room, double(area.height())}, at_left,
       QFontMetricsF(fonts_.text.font()).elidedText(summary, Qt::ElideRight, room), s_.colours->dim);
}

// Right-aligned: between `from` and `right`, where it ends; left-aligned if `right` < 0. Returns its width.
double TimelinePainter::legend(QRect area, double from, double right) {
  constexpr double square = 10, gap = 5, between = 16;
  std::vector<std::pair<LegendEntry, QString>> entries;
  double width = 0;
  for (const LegendEntry& entry : s_.legend) {
    const QString name = app::text::words(rankscope::name_of(entry.kind, entry.lane));
    const double more = square + gap + fonts_.small.width(name) + between;
    if (from + width + more - between > area.right() + 1) break;
    width += more;
    entries.emplace_back(entry, name);
  }
  double x = right < 0 ? from : right + 1 - width + between;
  for (const auto& [entry, name] : entries) {
    p_.fillRect(QRectF(x, area.center().y() - square / 2 + 1, square, square),
                color(s_.colours->of(entry.kind, entry.lane)));
    x += square + gap;
    text(fonts_.small, {x, double(area.top()), fonts_.small.width(name), double(area.height())}, at_left, name,
         s_.colours->text);
    x += fonts_.small.width(name) + between;
  }
  return width;
}

// If nothing is selected: an explanation of what is drawn, then the keys.
QString TimelinePainter::hint() const {
  const QString keys = app::text::tr(
      "W S zoom · A D move · F fit · . , next and previous op · [ ] step · shift-drag selects a range · G groups");
  if (!s_.rows->groups.empty()) return app::text::tr("a group's row: heights are shares of its ranks · ") + keys;
  const bool communicates = std::any_of(s_.legend.begin(), s_.legend.end(), [](const LegendEntry& entry) {
    return entry.kind == SpanClass::transfer || entry.kind == SpanClass::collective;
  });
  const bool shown = std::any_of(s_.rows->rows.begin(), s_.rows->rows.end(),
                                 [](const TimelineRow& row) { return row.kind == RowKind::communication; });
  return communicates && !shown ? app::text::tr("communication is hidden: make the time line higher (F9) · ") + keys
                                : keys;
}

void TimelinePainter::details() {
  const QRect area = s_.layout.details;
  if (area.isEmpty()) return;
  p_.setPen(color(s_.colours->line));
  p_.drawLine(QPointF(0, area.top() - 4.5), QPointF(area.right() + 17, area.top() - 4.5));
  // Line breaks are between its parts; a last line that is too long ends in an ellipsis.
  const QFontMetricsF metrics(fonts_.small.font());
  const double height = fonts_.text.font().pixelSize() + 5.0;
  const int lines = std::max(1, static_cast<int>(area.height() / height));
  const QString between = QStringLiteral(" · ");
  QStringList parts = (s_.details.isEmpty() ? hint() : s_.details).split(between);
  for (int i = 0; i < lines && !parts.isEmpty(); ++i) {
    QString line = parts.takeFirst();
    if (i + 1 == lines) {
      line = (QStringList{line} + parts).join(between);
      parts.clear();
    }
    while (!parts.isEmpty() && metrics.horizontalAdvance(line + between + parts.front()) <= area.width())
      line += between + parts.takeFirst();
    text(fonts_.small, {double(area.left()), area.top() + i * height, double(area.width()), height}, at_left,
         metrics.elidedText(line, Qt::ElideRight, area.width()), s_.colours->dim);
  }
}

void TimelinePainter::card() {
  if (!s_.hover || s_.hover->details.title.empty()) return;
  constexpr double padding = 10, away = 14;
  const double line = fonts_.text.font().pixelSize() + 5.0;
  const QString title = QString::fromStdString(s_.hover->details.title);
  double width = fonts_.title.width(title);
  for (const std::string& text_line : s_.hover->details.lines)
    width = std::max(width, fonts_.text.width(QString::fromStdString(text_line)));
  width += 2 * padding;
  const double height = line * (1 + double(s_.hover->details.lines.size())) + 2 * padding - 4;
  const double right = s_.layout.header.isEmpty() ? s_.layout.plot.right() + 17 : s_.layout.header.right() + 17;
  // Above the rows, so that it covers no rank; lower if there is too little space. At the right of the pointer, or at
  // its left if the card would be cut.
  QPointF at(s_.hover->at.x() + away, std::max(s_.layout.plot.top() - height - 2, 4.0));
  if (at.x() + width > right - 4) at.setX(s_.hover->at.x() - away - width);
  at.setX(std::max(at.x(), 4.0));
  const QRectF card(at, QSizeF(width, height));
  p_.setRenderHint(QPainter::Antialiasing);
  p_.setPen(QPen(color(s_.colours->accent), 1));
  p_.setBrush(color(s_.colours->panel));
  p_.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
  p_.setRenderHint(QPainter::Antialiasing, false);
  double y = card.top() + padding - 2;
  text(fonts_.title, {card.left() + padding, y, width - 2 * padding, line}, at_left, title, s_.colours->text);
  for (const std::string& text_line : s_.hover->details.lines) {
    y += line;
    text(fonts_.text, {card.left() + padding, y, width - 2 * padding, line}, at_left, QString::fromStdString(text_line),
         s_.colours->dim);
  }
}

}  // namespace rankscope::app
