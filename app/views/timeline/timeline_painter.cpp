// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/timeline_painter.hpp"

#include <QImage>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/views/common/save_view.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

/// The x of the begin and the end of a frame's range in a place of that width that shows another range.
std::pair<double, double> ends_of(const FrameRequest& request, QRect place, TimeRange shown) {
  const PixelScale scale{shown, static_cast<double>(place.width())};
  return {scale.x_of(request.range.begin_ns), scale.x_of(request.range.end_ns)};
}

bool is_exact(const FrameRequest& request, QRect place, TimeRange shown) {
  return request.range == shown && request.width == std::lround(place.width() * request.device_scale);
}

}  // namespace

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

QRect covered_by(const Frame& frame, QRect place, TimeRange shown) {
  if (frame.pixels.empty() || shown.empty()) return {};
  const FrameRequest& r = frame.request;
  if (is_exact(r, place, shown)) return place;
  const auto [x0, x1] = ends_of(r, place, shown);
  const int from = static_cast<int>(std::ceil(std::clamp(x0, 0.0, double(place.width())))),
            to = static_cast<int>(std::floor(std::clamp(x1, 0.0, double(place.width())))),
            height = static_cast<int>(std::floor(r.height / r.device_scale));
  return to > from ? QRect(place.left() + from, place.top(), to - from, std::min(height, place.height())) : QRect();
}

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
  p_.restore();
  scroll_bar();
  marks();
  cursor();
  details();
  card();
}

void TimelinePainter::image(const Frame& frame, QRect place, TimeRange shown) {
  const FrameRequest& r = frame.request;
  if (frame.pixels.empty()) return;
  const QImage picture(reinterpret_cast<const uchar*>(frame.pixels.data()), r.width, r.height,
                       static_cast<qsizetype>(r.width) * 4, QImage::Format_RGB32);
  const double height = r.height / r.device_scale;
  if (is_exact(r, place, shown)) {
    // The exact picture: pixels are copied, not scaled.
    QImage exact = picture;
    exact.setDevicePixelRatio(r.device_scale);
    p_.drawImage(place.topLeft(), exact);
    return;
  }
  // An older picture, shifted or stretched to the current range until the new one is ready.
  const auto [x0, x1] = ends_of(r, place, shown);
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
  // The part that is not visible is dimmed; the visible part has a frame.
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
  // If the rows have changed since the frame was composed, its boxes would be in the wrong place: they are not drawn.
  if (s_.frame->request.rows != s_.rows && s_.frame->request.rows->rows != s_.rows->rows) return;
  const QRect plot = s_.layout.plot;
  const int by = s_.frame->request.scroll - s_.scroll, pinned = s_.rows->pinned_height;
  if (by == 0 || pinned == 0) {
    image(*s_.frame, plot.translated(0, by), s_.visible);
  } else {
    p_.save();
    p_.setClipRect(QRect(plot.left(), plot.top(), plot.width(), pinned));
    image(*s_.frame, plot, s_.visible);
    p_.setClipRect(plot.adjusted(0, pinned, 0, 0));
    image(*s_.frame, plot.translated(0, by), s_.visible);
    p_.restore();
  }
  if (pinned > 0) {
    p_.setPen(color(s_.colours->line));
    p_.drawLine(QPointF(s_.layout.labels.left(), plot.top() + pinned - 4.5),
                QPointF(plot.right(), plot.top() + pinned - 4.5));
  }
  if (paints_shapes(p_)) shapes();
}

// Boxes as shapes over the same boxes as pixels: sharp at any size.
void TimelinePainter::shapes() {
  for (const FrameBox& box : s_.frame->boxes) {
    const TimelineRow& row = s_.rows->rows[box.row];
    if (under_pinned(box.row)) continue;
    const Argb fill = s_.colours->of(box.kind, row.lane);
    QRectF rect = row_rect(box.row);
    const double x0 = s_.frame->request.scale().x_of(std::max(box.box.begin_ns, box.box.active_ns));
    const double per_pixel = s_.frame->request.device_scale;
    const double left = row.kind == RowKind::ghost ? box.x0 : x0;
    rect.setLeft(s_.layout.plot.left() + std::max(left / per_pixel, 0.0));
    rect.setRight(s_.layout.plot.left() + std::min<double>(box.x1 / per_pixel, s_.layout.plot.width()));
    if (rect.width() <= 0) continue;
    if (row.kind == RowKind::ghost) {
      p_.fillRect(rect, color(s_.colours->ground));
      p_.setPen(color(mixed(s_.colours->ground, fill, 0.72f)));
      p_.setBrush(Qt::NoBrush);
      p_.drawRect(rect.adjusted(0.5, 0.5, -1.5, -0.5));
    } else {
      p_.fillRect(rect.adjusted(0, 0, -0.5, 0), color(fill));
    }
  }
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
      const double top = area.top() + s_.rows->view_y(band, s_.scroll);
      if (!band.pinned) free_from = std::max(free_from, double(area.top() + s_.rows->pinned_height));
      if (top - free_from >= 2) lines.append({x, free_from, x, top});
      free_from = std::max(free_from, top + band.height);
    }
    if (free_from < area.bottom()) lines.append({x, free_from, x, double(area.bottom())});
  }
  p_.drawLines(lines);
}

QRectF TimelinePainter::row_rect(std::size_t row) const {
  const TimelineRow& r = s_.rows->rows[row];
  return {double(s_.layout.plot.left()), double(s_.layout.plot.top() + s_.rows->view_y(r, s_.scroll)),
          double(s_.layout.plot.width()), double(r.height)};
}

bool TimelinePainter::under_pinned(std::size_t row) const {
  const TimelineRow& r = s_.rows->rows[row];
  return !r.pinned && s_.rows->view_y(r, s_.scroll) + r.height / 2 < s_.rows->pinned_height;
}

std::optional<QRectF> TimelinePainter::box_rect(const ShownBox& box) const {
  auto row = s_.rows->find(box.lane.rank, box.row, box.lane.lane);
  if (!row || under_pinned(*row)) return std::nullopt;
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
    // A light line outside and a dark line inside are visible on any colour.
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

// The cursor's time, on the axis.
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

void TimelinePainter::scroll_bar() {
  const QRect area = s_.layout.plot;
  if (s_.rows->height <= area.height()) return;
  const double share = double(area.height()) / s_.rows->height;
  const double length = std::max(area.height() * share, 24.0);
  const double top = area.top() + (area.height() - length) * s_.scroll / std::max(s_.rows->height - area.height(), 1);
  p_.setRenderHint(QPainter::Antialiasing);
  p_.setPen(Qt::NoPen);
  p_.setBrush(faded(s_.colours->dim, 0.7));
  p_.drawRoundedRect(QRectF(area.right() + 6, top + 2, 5, length - 4), 2.5, 2.5);  // in the margin: it hides no op
  p_.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace rankscope::app
