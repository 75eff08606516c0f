// SPDX-License-Identifier: GPL-3.0-or-later
// The textbook picture of an order: stages over units of time, without communication cost. Updated while typing.
#pragma once
#include <vector>

#include "app/views/common/painted_widget.hpp"
#include "engine/plan/schedule/unit_layout.hpp"

namespace rankscope::app {

class OrderPicture : public PaintedWidget {
  Q_OBJECT
 public:
  explicit OrderPicture(QWidget* parent = nullptr);
  void set_order(std::vector<UnitOp> ops);
  /// The text has changed since, and is not yet a valid order.
  void set_stale(bool stale);
  /// The height for rows of a comfortable height.
  int preferred_height() const;

  // The content of the screen.
  QRectF box_of(const UnitOp& op) const;
  const UnitOp* op_at(QPointF at) const;
  QString tip_at(QPoint at) const override;

 signals:
  void chosen(OpId op);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  /// The distance from row to row, and the height of a row.
  struct Place {
    QRectF area;
    double pitch = 0, height = 0;
  };
  Place place() const;
  QRectF box_of(const UnitOp& op, const Place& place) const;
  std::vector<UnitOp> ops_;
  int stages_ = 0;
  std::int64_t end_ = 0;
  bool stale_ = false;
};

}  // namespace rankscope::app
