// SPDX-License-Identifier: GPL-3.0-or-later
// The board of a puzzle: a row for each stage on an axis of units, and below it the boxes that are not yet placed.
// A box is clicked or dragged into its row, moved within it, and dragged out of it again; keys do the same.
#pragma once

#include "app/views/common/painted_widget.hpp"
#include "engine/lesson/puzzle/puzzle.hpp"

namespace rankscope::app {

class PuzzleBoard : public PaintedWidget {
  Q_OBJECT
 public:
  explicit PuzzleBoard(QWidget* parent);
  const Puzzle& puzzle() const { return puzzle_; }
  /// Why the last move was refused, or a dragged box cannot be placed there; nullopt: no fault.
  const std::optional<PuzzleFault>& fault() const { return fault_; }
  /// The known schedules that its rules allow, shortest first; the shortest is par.
  const std::vector<PuzzlePar>& known() const { return known_; }
  /// An empty board with these rules.
  void restart(const PuzzleRules& rules);
  void undo();
  void clear();
  void fill(const ChunkSchedule& schedule);
  /// Par on the axis: only after a student requests it.
  void show_par(bool shown);
  bool shows_par() const { return shows_par_; }

  /// Where a box is drawn: on the board, else among the boxes to place.
  QRectF box_rect(OpId box) const;
  QRectF row_rect(int stage) const;
  QString tip_at(QPoint at) const override;
  static int least_width() { return 440; }

 signals:
  /// The boxes on it, or fault().
  void changed();
  /// The box with the keyboard focus.
  void moved(const QRect& box);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Drag {
    OpId box;
    QPointF from, at;
    bool moved = false;  ///< too far to be a click
  };
  struct Place {
    int stage = 0, position = 0;
  };
  std::optional<OpId> box_at(QPointF at) const;
  /// The position in a row under a dragged box; nullopt: none.
  std::optional<Place> place_at(QPointF at) const;
  std::int64_t par() const { return known_.empty() ? 0 : known_.front().units; }  ///< 0: none
  double unit_width() const;
  double x_of(std::int64_t units) const;
  std::int64_t units_shown() const;
  QRectF tray_rect(OpId box) const;
  double row_height() const;   ///< of the board and of the boxes to place
  double rows_bottom() const;  ///< of the board
  void place(OpId box, int stage, int position);
  void take_back(OpId box);
  void after_change();
  void move_along(int by);
  void move_cursor(int stages, int boxes);
  void fit();

  void paint_rows(QPainter& painter) const;
  void paint_axis(QPainter& painter) const;
  void paint_tray(QPainter& painter) const;
  void paint_box(QPainter& painter, OpId box, const QRectF& rect, bool solid) const;
  void paint_drag(QPainter& painter) const;
  Argb colour_of(OpId box) const;

  Puzzle puzzle_{PuzzleRules{}};
  UnitLayout layout_;
  std::vector<PuzzlePar> known_;
  bool shows_par_ = false;
  std::optional<PuzzleFault> fault_;
  std::optional<Drag> drag_;
  OpId at_;  ///< of the keys
};

}  // namespace rankscope::app
