// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/share_guess.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double bar_height = 26, gap = 4, side = 2;

}  // namespace

std::optional<TimeClass> part_of_step(const QString& report_path) {
  if (report_path.startsWith(QLatin1String("bubble"))) return TimeClass::bubble;
  for (int i = 0; i < time_class_count; ++i) {
    const auto time = static_cast<TimeClass>(i);
    if (report_path == QStringLiteral("time.") + text::utf8(name_of(time))) return time;
  }
  return std::nullopt;
}

ShareGuess::ShareGuess(const Palette& colours, std::optional<TimeClass> part, QWidget* parent)
    : QWidget(parent), colours_(colours), part_(part) {
  setFocusPolicy(Qt::StrongFocus);
  setProperty(own_keys_property, true);
  setCursor(Qt::SizeHorCursor);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
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

void ShareGuess::set_kept(bool kept) {
  kept_ = kept;
  setCursor(kept ? Qt::ArrowCursor : Qt::SizeHorCursor);
  setFocusPolicy(kept ? Qt::NoFocus : Qt::StrongFocus);
  if (kept) setToolTip({});
  update();
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

}  // namespace rankscope::app
