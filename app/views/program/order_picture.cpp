// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/program/order_picture.hpp"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "app/views/common/axis.hpp"
#include "app/views/common/style.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {
namespace {

constexpr double row_most = 60, row_least = 4, gap = 3, title_height = 22, axis_height = 22, right_margin = 12;
constexpr double named_row = 12;  ///< from this height on rows have names and boxes numbers

}  // namespace

OrderPicture::OrderPicture(QWidget* parent) : PaintedWidget(parent) { setAccessibleName(tr("The order as a picture")); }

void OrderPicture::set_order(std::vector<UnitOp> ops) {
  ops_ = std::move(ops);
  stages_ = 0;
  end_ = 0;
  for (const UnitOp& op : ops_) {
    stages_ = std::max(stages_, op.stage + 1);
    end_ = std::max(end_, op.end);
  }
  update();
}

void OrderPicture::set_stale(bool stale) {
  if (stale == stale_) return;
  stale_ = stale;
  update();
}

int OrderPicture::preferred_height() const {
  return stages_ == 0 ? 0 : static_cast<int>(title_height + stages_ * (row_most + gap) + axis_height);
}

OrderPicture::Place OrderPicture::place() const {
  const double room = (height() - title_height - axis_height) / std::max(stages_, 1) - gap;
  const double row = std::clamp(room, row_least, row_most);
  const QFontMetricsF metrics(interface_font());
  const double names = row >= named_row ? metrics.horizontalAdvance(tr("stage %1").arg(stages_ - 1)) + 12 : 8;
  return {{names, title_height, width() - names - right_margin, stages_ * (row + gap)}, row + gap, row};
}

QRectF OrderPicture::box_of(const UnitOp& op, const Place& place) const {
  const double unit = end_ > 0 ? place.area.width() / static_cast<double>(end_) : 0;
  const double x0 = std::round(place.area.left() + unit * static_cast<double>(op.begin));
  const double x1 = std::round(place.area.left() + unit * static_cast<double>(op.end));
  const double seam = unit >= 4 ? 1 : 0;
  return {x0, place.area.top() + op.stage * place.pitch, std::max(x1 - x0 - seam, 1.0), place.height};
}

QRectF OrderPicture::box_of(const UnitOp& op) const { return box_of(op, place()); }

const UnitOp* OrderPicture::op_at(QPointF at) const {
  const Place where = place();
  const auto hit = [&](const UnitOp& op) { return box_of(op, where).contains(at); };
  const auto found = std::find_if(ops_.begin(), ops_.end(), hit);
  return found == ops_.end() ? nullptr : &*found;
}

void OrderPicture::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  const Palette& p = colours();
  painter.fillRect(rect(), color(p.ground));
  if (ops_.empty()) return;
  const Place where = place();
  const QRectF& area = where.area;
  const double row = where.height;
  const QString what = tr("with equal stages and no communication cost, in units of a forward pass");
  draw_line(painter, QRectF(0, 0, width(), title_height - 4), at_left,
            stale_ ? tr("the last valid order, ") + what : what, p.dim);
  for (int stage = 0; stage < stages_; ++stage) {
    const QRectF lane(area.left(), area.top() + stage * where.pitch, area.width(), row);
    painter.fillRect(lane, QBrush(color(p.hatch), Qt::BDiagPattern));
    if (row >= named_row)
      painter.drawText(QRectF(0, lane.top(), area.left() - 8, row), at_right, tr("stage %1").arg(stage));
  }
  if (stale_) painter.setOpacity(0.45);
  for (const UnitOp& op : ops_) {
    const QRectF box = box_of(op, where);
    Argb fill = p.of(class_of(op.op));
    // Every second chunk of a stage is lighter, as in the papers.
    if (op.round % 2 == 1) fill = mixed(p.ground, fill, 0.6F);
    painter.fillRect(box, color(fill));
    const QString number = QString::number(op.op.fields().micro_batch);
    if (row < named_row || painter.fontMetrics().horizontalAdvance(number) + 2 > box.width()) continue;
    draw_text(painter, box, Qt::AlignCenter, number, p.ink_on(fill));
  }
  painter.setOpacity(1);
  painter.setPen(color(p.dim));
  const double unit = area.width() / static_cast<double>(end_);
  for (const double tick :
       round_ticks(0, static_cast<double>(end_), std::max(2, static_cast<int>(area.width() / 80)))) {
    if (tick != std::floor(tick)) continue;
    const double x = area.left() + unit * tick;
    painter.drawText(QRectF(x - 40, area.bottom() + 2, 80, axis_height - 4), Qt::AlignHCenter | Qt::AlignTop,
                     QString::number(tick));
  }
}

void OrderPicture::mousePressEvent(QMouseEvent* event) {
  if (const UnitOp* op = event->button() == Qt::LeftButton ? op_at(event->position()) : nullptr) emit chosen(op->op);
}

QString OrderPicture::tip_at(QPoint at) const {
  const UnitOp* op = op_at(at);
  if (op == nullptr) return {};
  return tr("%1, units %2 to %3 of %4. Click: show it in the text.")
      .arg(QString::fromStdString(to_token(op->op)))
      .arg(op->begin)
      .arg(op->end)
      .arg(end_);
}

}  // namespace rankscope::app
