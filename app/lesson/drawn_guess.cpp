// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/drawn_guess.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double bar_height = 26, gap = 4, side = 2;  ///< of a share
constexpr std::size_t most_bars = 32;                 ///< of a series: above this number it is a curve

}  // namespace

DrawnGuess::DrawnGuess(const Palette& colours, Qt::CursorShape cursor, QWidget* parent)
    : QWidget(parent), colours_(colours), cursor_(cursor) {
  setProperty(own_keys_property, true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  set_kept(false);
}

void DrawnGuess::set_kept(bool kept) {
  kept_ = kept;
  setCursor(kept ? Qt::ArrowCursor : cursor_);
  setFocusPolicy(kept ? Qt::NoFocus : Qt::StrongFocus);
  if (kept) setToolTip({});
  update();
}

std::optional<TimeClass> part_of_step(const QString& report_path) {
  if (report_path.startsWith(QLatin1String("bubble"))) return TimeClass::bubble;
  for (int i = 0; i < time_class_count; ++i) {
    const auto time = static_cast<TimeClass>(i);
    if (report_path == QStringLiteral("time.") + text::utf8(name_of(time))) return time;
  }
  return std::nullopt;
}

ShareGuess::ShareGuess(const Palette& colours, std::optional<TimeClass> part, QWidget* parent)
    : DrawnGuess(colours, Qt::SizeHorCursor, parent), part_(part) {
  setToolTip(at_end() ? tr("Drag the edge: the hatched part is your guess")
                      : tr("Drag the edge: the coloured part is your guess"));
}

QSize ShareGuess::sizeHint() const {
  return {200, static_cast<int>(measured_ ? 2 * bar_height + gap + 2 : bar_height + 2)};
}

double ShareGuess::x_of(double percent) const {
  return side + (width() - 2 * side) * (at_end() ? 1 - percent / 100 : percent / 100);
}

void ShareGuess::set_value(double percent) {
  const double now = std::clamp(std::round(percent), 0.0, 100.0);
  if (now == value_) return;
  value_ = now;
  update();
  emit value_changed(value_);
}

void ShareGuess::set_measured(std::optional<double> percent, const QString& name) {
  measured_ = percent;
  measured_name_ = name;
  updateGeometry();
  update();
}

void ShareGuess::drag(double x) {
  const double share = (x - side) / (width() - 2 * side);
  if (!kept_) set_value(100 * (at_end() ? 1 - share : share));
}

void ShareGuess::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) drag(event->position().x());
}

void ShareGuess::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) drag(event->position().x());
}

void ShareGuess::keyPressEvent(QKeyEvent* event) {
  const int by = event->modifiers() & Qt::ShiftModifier ? 10 : 1;
  if (!kept_ && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) return emit submitted();
  if (kept_ || (event->key() != Qt::Key_Left && event->key() != Qt::Key_Right)) return QWidget::keyPressEvent(event);
  const bool more = (event->key() == Qt::Key_Left) == at_end();  // the edge moves in the direction of the key
  set_value(value_ + (more ? by : -by));
}

void ShareGuess::paint_share(QPainter& painter, const QRectF& bar, double percent, double strength) const {
  const double edge = x_of(percent);
  const QRectF left(bar.left(), bar.top(), edge - bar.left(), bar.height());
  const QRectF right(edge, bar.top(), bar.right() - edge, bar.height());
  painter.fillRect(bar, color(colours_.ground));
  if (at_end()) {
    painter.fillRect(left, faded(colours_.of(SpanClass::forward), strength));
    painter.fillRect(right, QBrush(color(colours_.hatch), Qt::BDiagPattern));
  } else {
    painter.fillRect(left, faded(part_ ? color_of(*part_, colours_) : colours_.accent, strength));
  }
  painter.setPen(QPen(color(colours_.line), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(bar);
}

void ShareGuess::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  const QRectF bar(side, 1, width() - 2 * side, bar_height);
  paint_share(painter, bar, value_, 0.75);
  if (measured_) {
    const QRectF below = bar.translated(0, bar_height + gap);
    paint_share(painter, below, *measured_, 0.4);
    draw_text(painter, below.adjusted(6, 0, -6, 0), at_left, measured_name_, colours_.text);
    painter.drawText(bar.adjusted(6, 0, -6, 0), at_left, tr("your guess"));
  } else if (!kept_) {
    painter.setPen(QPen(color(hasFocus() ? colours_.accent : colours_.text), 3));
    painter.drawLine(QPointF(x_of(value_), 1), QPointF(x_of(value_), bar_height + 1));
  }
}

Sketch::Sketch(const Palette& colours, std::size_t count, double most, const QString& unit, const QString& each,
               QWidget* parent)
    : DrawnGuess(colours, Qt::CrossCursor, parent),
      most_(most),
      unit_(unit),
      each_(each),
      values_(std::max<std::size_t>(count, 1), 0.0) {
  setToolTip(tr("Draw with the pointer, or select a %1 with ← and → and change its value with ↑ and ↓").arg(each_));
}

QRectF Sketch::inner() const { return {4, 18, width() - 8.0, height() - 38.0}; }

QPointF Sketch::at(std::size_t index, double value) const {
  const QRectF area = inner();
  const double each = area.width() / static_cast<double>(values_.size());
  return {area.left() + each * (static_cast<double>(index) + 0.5),
          area.bottom() - area.height() * std::clamp(value / most_, 0.0, 1.0)};
}

std::size_t Sketch::index_at(double x) const {
  const QRectF area = inner();
  const double share = std::clamp((x - area.left()) / area.width(), 0.0, 1.0);
  return std::min(static_cast<std::size_t>(share * static_cast<double>(values_.size())), values_.size() - 1);
}

void Sketch::set_values(const std::vector<double>& values) {
  if (values.size() != values_.size()) return;
  values_ = values;
  update();
}

void Sketch::set_measured(std::vector<double> values, const QString& name) {
  measured_ = std::move(values);
  measured_name_ = name;
  update();
}

// A quick stroke skips places: these get interpolated values.
void Sketch::stroke(QPointF from, QPointF to) {
  if (kept_) return;
  const QRectF area = inner();
  const std::size_t first = index_at(std::min(from.x(), to.x())), last = index_at(std::max(from.x(), to.x()));
  chosen_ = index_at(to.x());
  for (std::size_t i = first; i <= last; ++i) {
    const double x = at(i, 0).x(), run = to.x() - from.x();
    const double along = std::fabs(run) < 1e-9 ? 1 : std::clamp((x - from.x()) / run, 0.0, 1.0);
    const double y = from.y() + along * (to.y() - from.y());
    values_[i] = most_ * std::clamp((area.bottom() - y) / area.height(), 0.0, 1.0);
  }
  update();
  emit drawn();
}

void Sketch::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  last_ = event->position();
  stroke(last_, last_);
}

void Sketch::mouseMoveEvent(QMouseEvent* event) {
  if (!(event->buttons() & Qt::LeftButton)) return;
  stroke(last_, event->position());
  last_ = event->position();
}

std::size_t Sketch::stride() const { return (values_.size() + most_bars - 1) / most_bars; }

// For a curve, the values between the chosen place and the next ones that keys reach are interpolated linearly.
void Sketch::set_chosen(double value) {
  values_[chosen_] = std::clamp(value, 0.0, most_);
  const auto lay_line = [&](std::size_t a, std::size_t b) {
    for (std::size_t i = a + 1; i < b; ++i)
      values_[i] = values_[a] + (values_[b] - values_[a]) * static_cast<double>(i - a) / static_cast<double>(b - a);
  };
  lay_line(chosen_ - std::min(chosen_, stride()), chosen_);
  lay_line(chosen_, std::min(chosen_ + stride(), values_.size() - 1));
}

void Sketch::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!kept_ && enter && std::any_of(values_.begin(), values_.end(), [](double v) { return v > 0; }))
    return emit submitted();
  const double by = most_ / (event->modifiers() & Qt::ShiftModifier ? 10 : 50);
  switch (kept_ ? 0 : event->key()) {
    case Qt::Key_Left: chosen_ -= std::min(chosen_, stride()); break;
    case Qt::Key_Right: chosen_ = std::min(chosen_ + stride(), values_.size() - 1); break;
    case Qt::Key_Up: set_chosen(values_[chosen_] + by); break;
    case Qt::Key_Down: set_chosen(values_[chosen_] - by); break;
    default: return QWidget::keyPressEvent(event);
  }
  update();
  emit drawn();
}

void Sketch::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(interface_font());
  const QRectF area = inner();
  painter.fillRect(area, color(colours_.ground));
  painter.setPen(QPen(color(hasFocus() ? colours_.accent : colours_.line), 1));
  painter.drawRect(area);
  if (!kept_ && measured_.empty() && std::all_of(values_.begin(), values_.end(), [](double v) { return v <= 0; })) {
    draw_text(painter, area, Qt::AlignCenter, tr("draw here"), colours_.dim);
  }
  const bool bars = values_.size() <= most_bars;
  const double wide = area.width() / static_cast<double>(values_.size()) * 0.7;
  QPainterPath guess, measured;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const QPointF top = at(i, values_[i]);
    if (bars)
      painter.fillRect(QRectF(top.x() - wide / 2, top.y(), wide, area.bottom() - top.y()),
                       faded(colours_.accent, 0.55));
    if (i == 0)
      guess.moveTo(top);
    else
      guess.lineTo(top);
    if (i >= measured_.size() || !std::isfinite(measured_[i])) continue;
    const QPointF real = at(i, measured_[i]);
    if (bars) {
      painter.setPen(QPen(color(colours_.good), 3));
      painter.drawLine(real - QPointF(wide / 2, 0), real + QPointF(wide / 2, 0));
    } else if (measured.isEmpty()) {
      measured.moveTo(real);
    } else {
      measured.lineTo(real);
    }
  }
  if (!bars) {
    painter.setPen(QPen(color(colours_.accent), 2));
    painter.drawPath(guess);
    painter.setPen(QPen(color(colours_.good), 2));
    painter.drawPath(measured);
  }
  painter.setPen(color(colours_.dim));
  const QString unit = unit_.isEmpty() ? QString() : QChar(0xA0) + unit_;
  painter.drawText(QRectF(area.left(), 0, area.width(), 16), Qt::AlignLeft, text::number(most_) + unit);
  if (!kept_ && hasFocus())
    painter.drawText(QRectF(area.left(), 0, area.width(), 16), Qt::AlignRight,
                     QStringLiteral("%1 %2: %3").arg(each_).arg(chosen_).arg(text::number(values_[chosen_]) + unit));
  else if (!measured_.empty())
    painter.drawText(QRectF(area.left(), 0, area.width(), 16), Qt::AlignRight, tr("line = %1").arg(measured_name_));
  const QRectF below(area.left(), area.bottom() + 3, area.width(), 16);
  if (bars && wide > 18) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      painter.drawText(QRectF(at(i, 0).x() - 20, below.top(), 40, 16), Qt::AlignHCenter, QString::number(i));
  } else {
    painter.drawText(below, Qt::AlignLeft, QStringLiteral("%1 0").arg(each_));
    painter.drawText(below, Qt::AlignRight, QString::number(values_.size() - 1));
  }
}

}  // namespace rankscope::app
