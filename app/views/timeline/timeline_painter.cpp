// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/timeline_painter.hpp"

#include <QImage>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/views/common/data_view.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

QString words(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

}  // namespace

TimelinePainter::TimelinePainter(QPainter& painter, const TimelineScene& scene, TimelineFonts& fonts)
    : p_(painter), s_(scene), fonts_(fonts), scale_(scene.scale()) {}

void TimelinePainter::text(TextWidths& font, const QRectF& place, int flags, const QString& text, Argb colour) {
  font.draw(p_, place, flags, text, color(colour));
}

void TimelinePainter::paint() {
  header();
  if (!s_.rows || s_.rows->bands.empty() || s_.visible.empty()) return;
  overview();
  axis();
  bands();
  p_.save();
  p_.setClipRect(s_.layout.plot);
  if (s_.frame) {
    frame();
    grid();
    box_labels();
    bubble_labels();
  }
  range();
  links();
  selection();
  scroll_bar();
  p_.restore();
  cursor();
  details();
  card();
}

void TimelinePainter::header() {
  const QRect area = s_.layout.header;
  if (area.isEmpty()) return;
  const QString title = QStringLiteral("Time line");
  text(fonts_.title, area, Qt::AlignLeft | Qt::AlignVCenter, title, s_.colours->text);
  const double summary_left = area.left() + fonts_.title.width(title) + 16;

  // The legend stands at the right as far as the summary leaves room; it yields from its end.
  constexpr double square = 10, gap = 5, between = 16;
  const double summary_width = s_.summary.isEmpty() ? 0 : fonts_.text.width(s_.summary) + 24;
  std::vector<std::pair<LegendEntry, QString>> entries;
  double width = 0;
  for (const LegendEntry& entry : s_.legend) {
    const QString name = words(rankscope::name_of(entry.kind, entry.lane));
    const double more = square + gap + fonts_.small.width(name) + between;
    if (summary_left + summary_width + width + more > area.right()) break;
    width += more;
    entries.emplace_back(entry, name);
  }
  double x = area.right() + 1 - width + between;
  for (const auto& [entry, name] : entries) {
    p_.fillRect(QRectF(x, area.center().y() - square / 2 + 1, square, square),
                color(s_.colours->of(entry.kind, entry.lane)));
    x += square + gap;
    text(fonts_.small, {x, double(area.top()), fonts_.small.width(name), double(area.height())},
         Qt::AlignLeft | Qt::AlignVCenter, name, s_.colours->text);
    x += fonts_.small.width(name) + between;
  }
  const double room = area.right() - summary_left - (entries.empty() ? 0 : width);
  if (!s_.summary.isEmpty() && room > 40)
    text(fonts_.text, {summary_left, double(area.top()), room, double(area.height())}, Qt::AlignLeft | Qt::AlignVCenter,
         QFontMetricsF(fonts_.text.font()).elidedText(s_.summary, Qt::ElideRight, room), s_.colours->dim);
}

void TimelinePainter::image(const Frame& frame, QRect place, TimeRange shown) {
  const FrameRequest& r = frame.request;
  if (frame.pixels.empty()) return;
  const QImage picture(reinterpret_cast<const uchar*>(frame.pixels.data()), r.width, r.height,
                       static_cast<qsizetype>(r.width) * 4, QImage::Format_RGB32);
  const double height = r.height / r.device_scale;
  if (r.range == shown && r.width == std::lround(place.width() * r.device_scale)) {
    // The exact picture: pixels are copied, not scaled.
    QImage exact = picture;
    exact.setDevicePixelRatio(r.device_scale);
    p_.drawImage(place.topLeft(), exact);
    return;
  }
  // An older picture, shifted or stretched to the present range until the new one is there.
  const PixelScale now{shown, static_cast<double>(place.width())};
  const double x0 = now.x_of(r.range.begin_ns), x1 = now.x_of(r.range.end_ns);
  const double from = std::max(x0, 0.0), to = std::min<double>(x1, place.width());
  if (to <= from) return;
  const double per_pixel = r.width / (x1 - x0);
  p_.drawImage(QRectF(place.left() + from, place.top(), to - from, height), picture,
               QRectF((from - x0) * per_pixel, 0, (to - from) * per_pixel, r.height));
}

void TimelinePainter::overview() {
  const QRect area = s_.layout.overview;
  if (area.isEmpty()) return;
  if (s_.overview) image(*s_.overview, area.adjusted(0, 1, 0, -1), s_.overview_range);
  p_.setPen(color(s_.colours->line));
  p_.setBrush(Qt::NoBrush);
  p_.drawRect(QRectF(area).adjusted(-0.5, -0.5, 0.5, 0.5));
  const PixelScale scale{s_.overview_range, static_cast<double>(area.width())};
  const double x0 = std::clamp(scale.x_of(s_.visible.begin_ns), 0.0, double(area.width()));
  const double x1 = std::clamp(scale.x_of(s_.visible.end_ns), 0.0, double(area.width()));
  if (x1 - x0 >= area.width() - 1) return;
  // What is not on the screen steps back; what is has a frame.
  p_.fillRect(QRectF(area.left(), area.top(), x0, area.height()), faded(s_.colours->ground, 0.6));
  p_.fillRect(QRectF(area.left() + x1, area.top(), area.width() - x1, area.height()), faded(s_.colours->ground, 0.6));
  p_.setPen(color(s_.colours->accent));
  p_.drawRect(QRectF(area.left() + x0, area.top() - 1, std::max(x1 - x0, 2.0), area.height() + 1));
}

void TimelinePainter::axis() {
  const QRect area = s_.layout.axis;
  const double digits = fonts_.number.width(QStringLiteral("00000.0"));
  const int most = std::max(static_cast<int>(area.width() / (digits + 28)), 2);
  const TimeTicks ticks = time_ticks(s_.visible, s_.origin_ns, most);
  const QString unit = QString::fromStdString(ticks.unit);
  const double unit_width = fonts_.number.width(unit);
  const double unit_left = area.right() + 1 - unit_width;
  const auto flag = cursor_flag();
  double free_from = area.left() - 40.0;
  for (const TimeTick& tick : ticks.ticks) {
    const double x = area.left() + scale_.x_of(tick.time_ns);
    const QString label = QString::fromStdString(tick.label);
    const double half = fonts_.number.width(label) / 2;
    p_.setPen(color(s_.colours->faint));
    p_.drawLine(QPointF(x, area.bottom() - 3), QPointF(x, area.bottom()));
    const bool under_flag = flag && x + half > flag->left() - 4 && x - half < flag->right() + 4;
    if (under_flag || x - half < free_from || x + half > unit_left - 6) continue;
    text(fonts_.number, {x - half, double(area.top()), 2 * half, area.height() - 4.0}, Qt::AlignCenter, label,
         s_.colours->dim);
    free_from = x + half + 6;
  }
  text(fonts_.number, {unit_left, double(area.top()), unit_width, area.height() - 4.0}, Qt::AlignCenter, unit,
       s_.colours->dim);
}

void TimelinePainter::frame() {
  // Rows that have changed since the frame was composed are not drawn into the wrong place.
  if (s_.frame->request.rows != s_.rows && s_.frame->request.rows->rows != s_.rows->rows) return;
  QRect place = s_.layout.plot;
  place.translate(0, s_.frame->request.scroll - s_.scroll);
  image(*s_.frame, place, s_.visible);
}

void TimelinePainter::grid() {
  // Between the bands only: behind the boxes, not over them.
  const QRect area = s_.layout.plot;
  const double digits = fonts_.number.width(QStringLiteral("00000.0"));
  const int most = std::max(static_cast<int>(area.width() / (digits + 28)), 2);
  const TimeTicks ticks = time_ticks(s_.visible, s_.origin_ns, most);
  p_.setPen(color(s_.colours->line));
  QVector<QLineF> lines;
  for (const TimeTick& tick : ticks.ticks) {
    const double x = std::round(area.left() + scale_.x_of(tick.time_ns)) + 0.5;
    double free_from = area.top();
    for (const RankBand& band : s_.rows->bands) {
      const double top = area.top() + band.y - s_.scroll;
      if (top - free_from >= 2) lines.append({x, free_from, x, top});
      free_from = top + band.height;
    }
    if (free_from < area.bottom()) lines.append({x, free_from, x, double(area.bottom())});
  }
  p_.drawLines(lines);
}

QRectF TimelinePainter::row_rect(std::size_t row) const {
  const TimelineRow& r = s_.rows->rows[row];
  return {double(s_.layout.plot.left()), double(s_.layout.plot.top() + r.y - s_.scroll), double(s_.layout.plot.width()),
          double(r.height)};
}

std::optional<QRectF> TimelinePainter::box_rect(const ShownBox& box) const {
  auto row = s_.rows->find(box.lane.rank, box.row, box.lane.lane);
  if (!row) return std::nullopt;
  QRectF rect = row_rect(*row);
  const double left = s_.layout.plot.left();
  const double x0 = std::clamp(scale_.x_of(box.box.begin_ns), -50.0, s_.layout.plot.width() + 50.0);
  const double x1 = std::clamp(scale_.x_of(box.box.end_ns), -50.0, s_.layout.plot.width() + 50.0);
  rect.setLeft(left + std::round(x0));
  rect.setRight(left + std::max(std::round(x1), std::round(x0) + 2));
  return rect;
}

void TimelinePainter::selection() {
  for (const bool selected : {false, true}) {
    const ShownBox* box = selected                    ? (s_.selected ? &*s_.selected : nullptr)
                          : s_.hover && s_.hover->box ? &*s_.hover->box
                                                      : nullptr;
    if (!box) continue;
    const auto rect = box_rect(*box);
    if (!rect) continue;
    p_.setBrush(Qt::NoBrush);
    QPen pen(color(selected ? s_.colours->accent : s_.colours->text), selected ? 2 : 1);
    pen.setJoinStyle(Qt::MiterJoin);
    p_.setPen(pen);
    // A light line outside and a dark one inside are seen on any box.
    p_.drawRect(selected ? rect->adjusted(-1, -1, 1, 1) : rect->adjusted(-0.5, -0.5, -0.5, -0.5));
    if (selected) {
      p_.setPen(QPen(color(s_.colours->ground), 1));
      p_.drawRect(rect->adjusted(0.5, 0.5, -0.5, -0.5));
    }
  }
}

QPointF TimelinePainter::end_point(const MessageEnd& end, bool arrives) const {
  auto row = s_.rows->find(end.rank, RowKind::communication, end.span.op.lane());
  if (!row) row = s_.rows->find(end.rank, RowKind::compute, Lane::compute);
  if (!row) return {};
  const QRectF rect = row_rect(*row);
  return {s_.layout.plot.left() + scale_.x_of(arrives ? end.span.end_ns : end.span.active_ns), rect.center().y()};
}

void TimelinePainter::links() {
  if (s_.links.empty()) return;
  p_.setRenderHint(QPainter::Antialiasing);
  for (const MessageLink& link : s_.links) {
    const bool collective = is_collective(link.from.span.op.kind());
    const QPointF from = end_point(link.from, collective), to = end_point(link.to, true);
    if (from.isNull() || to.isNull()) continue;
    QPainterPath path(from);
    const double bend = std::min(std::max(std::fabs(to.x() - from.x()) * 0.5, 14.0), 90.0);
    path.cubicTo(from + QPointF(collective ? 0 : bend, 0), to - QPointF(collective ? 0 : bend, 0), to);
    p_.setBrush(Qt::NoBrush);
    p_.setPen(QPen(color(s_.colours->ground), 4));
    p_.drawPath(path);
    p_.setPen(QPen(color(s_.colours->text), 1.5));
    p_.drawPath(path);
    p_.setPen(Qt::NoPen);
    p_.setBrush(color(s_.colours->text));
    if (collective) {
      p_.drawEllipse(from, 2.5, 2.5);
      p_.drawEllipse(to, 2.5, 2.5);
    } else {
      p_.drawPolygon(QPolygonF({to, to + QPointF(-7, -3.5), to + QPointF(-7, 3.5)}));
    }
  }
  p_.setRenderHint(QPainter::Antialiasing, false);
}

void TimelinePainter::range() {
  const QRect area = s_.layout.plot;
  if (s_.playing && s_.cursor) {  // what has not happened yet, in slow motion
    const double x = std::clamp(scale_.x_of(*s_.cursor), 0.0, double(area.width()));
    p_.fillRect(QRectF(area.left() + x, area.top(), area.width() - x, area.height()), faded(s_.colours->ground, 0.72));
  }
  if (s_.selected_range.empty()) return;
  const double x0 = area.left() + std::clamp(scale_.x_of(s_.selected_range.begin_ns), -2.0, area.width() + 2.0);
  const double x1 = area.left() + std::clamp(scale_.x_of(s_.selected_range.end_ns), -2.0, area.width() + 2.0);
  p_.fillRect(QRectF(x0, area.top(), x1 - x0, area.height()), faded(s_.colours->accent, 0.13));
  p_.setPen(color(s_.colours->accent));
  p_.drawLine(QPointF(x0, area.top()), QPointF(x0, area.bottom()));
  p_.drawLine(QPointF(x1, area.top()), QPointF(x1, area.bottom()));
}

QString TimelinePainter::cursor_label() const {
  const auto resolution = std::max<std::int64_t>(static_cast<std::int64_t>(scale_.ns_per_pixel()), 1);
  return QString::fromStdString(position_text(*s_.cursor - s_.origin_ns, resolution));
}

// Where the cursor's time stands, on the axis.
std::optional<QRectF> TimelinePainter::cursor_flag() const {
  if (!s_.cursor) return std::nullopt;
  const QRect area = s_.layout.plot;
  const double x = scale_.x_of(*s_.cursor);
  if (x < 0 || x > area.width()) return std::nullopt;
  const double width = fonts_.number.width(cursor_label()) + 12;
  const double last = std::max(area.right() + 1 - width, static_cast<double>(area.left()));
  const double left = std::clamp(area.left() + x - width / 2, static_cast<double>(area.left()), last);
  return QRectF(left, s_.layout.axis.top() - 1, width, s_.layout.axis.height() - 3);
}

void TimelinePainter::cursor() {
  if (!s_.cursor) return;
  const QRect area = s_.layout.plot;
  const double x = scale_.x_of(*s_.cursor);
  if (x < 0 || x > area.width()) return;
  const double at = std::round(area.left() + x) + 0.5;
  p_.setPen(QPen(color(s_.colours->accent), 1));
  p_.drawLine(QPointF(at, s_.layout.axis.bottom() - 3), QPointF(at, area.bottom()));
  const auto flag = cursor_flag();
  if (!flag) return;
  p_.setRenderHint(QPainter::Antialiasing);
  p_.setPen(Qt::NoPen);
  p_.setBrush(color(s_.colours->accent));
  p_.drawRoundedRect(*flag, 3, 3);
  p_.setRenderHint(QPainter::Antialiasing, false);
  text(fonts_.number, *flag, Qt::AlignCenter, cursor_label(), s_.colours->on_accent);
}

void TimelinePainter::details() {
  const QRect area = s_.layout.details;
  if (area.isEmpty()) return;
  p_.setPen(color(s_.colours->line));
  p_.drawLine(QPointF(0, area.top() - 4.5), QPointF(area.right() + 17, area.top() - 4.5));
  const QString line = QFontMetricsF(fonts_.small.font()).elidedText(s_.details, Qt::ElideRight, area.width());
  text(fonts_.small, area, Qt::AlignLeft | Qt::AlignVCenter, line, s_.colours->dim);
}

void TimelinePainter::scroll_bar() {
  const QRect area = s_.layout.plot;
  if (s_.rows->height <= area.height()) return;
  const double share = double(area.height()) / s_.rows->height;
  const double length = std::max(area.height() * share, 24.0);
  const double top = area.top() + (area.height() - length) * s_.scroll / std::max(s_.rows->height - area.height(), 1);
  p_.setRenderHint(QPainter::Antialiasing);
  p_.setPen(Qt::NoPen);
  p_.setBrush(faded(s_.colours->dim, 0.7));
  p_.drawRoundedRect(QRectF(area.right() - 5, top + 2, 5, length - 4), 2.5, 2.5);
  p_.setRenderHint(QPainter::Antialiasing, false);
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
  const QRectF window(0, 0, s_.layout.header.isEmpty() ? s_.layout.plot.right() + 17 : s_.layout.header.right() + 17,
                      s_.layout.plot.bottom() + 1);
  // Below and right of the pointer, on its other side where there is no room.
  QPointF at(s_.hover->at.x() + away, s_.hover->at.y() + away);
  if (at.x() + width > window.right() - 4) at.setX(s_.hover->at.x() - away - width);
  if (at.y() + height > window.bottom() - 4) at.setY(s_.hover->at.y() - away - height);
  at.setX(std::max(at.x(), 4.0));
  at.setY(std::max(at.y(), 4.0));
  const QRectF card(at, QSizeF(width, height));
  p_.setRenderHint(QPainter::Antialiasing);
  p_.setPen(QPen(color(s_.colours->accent), 1));
  p_.setBrush(color(s_.colours->panel));
  p_.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
  p_.setRenderHint(QPainter::Antialiasing, false);
  double y = card.top() + padding - 2;
  text(fonts_.title, {card.left() + padding, y, width - 2 * padding, line}, Qt::AlignLeft | Qt::AlignVCenter, title,
       s_.colours->text);
  for (const std::string& text_line : s_.hover->details.lines) {
    y += line;
    text(fonts_.text, {card.left() + padding, y, width - 2 * padding, line}, Qt::AlignLeft | Qt::AlignVCenter,
         QString::fromStdString(text_line), s_.colours->dim);
  }
}

}  // namespace rankscope::app
