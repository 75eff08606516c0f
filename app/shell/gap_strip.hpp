// SPDX-License-Identifier: GPL-3.0-or-later
// "Where the step goes": the shares of the selected step as a bar above the prediction's; a click expands it, with
// all names and the gap in a sentence.
#pragma once

#include "app/session/figures.hpp"
#include "app/views/common/painted_widget.hpp"

class QPushButton;

namespace rankscope::app {

class GapStrip : public PaintedWidget {
  Q_OBJECT
 public:
  explicit GapStrip(FiguresModel& figures, QWidget* parent = nullptr);
  /// Hides everything and shows this sentence (the condition to show it); empty: nothing is hidden.
  void set_veil(const QString& until);
  /// The text after "Prediction only" if nothing ran, as a sentence.
  void set_next(const QString& sentence);
  /// Opened, with legend and sentence.
  QSize sizeHint() const override;
  /// Closed at the height of one bar, open above it.
  bool open() const;
  QString tip_at(QPoint at) const override;

 signals:
  /// A click requests to open or to close it.
  void open_wanted(bool open);
  /// Requests to show the question that it waits for.
  void question_wanted();
  /// Requests to show the hidden content without an answer.
  void show_anyway_wanted();

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Piece {
    QRectF area;
    TimeClass time = TimeClass::other;
    double share = 0;
    bool unknown = false;
  };
  std::vector<Piece> pieces(const StepShares& shares, const QRectF& bar) const;
  /// The text on a piece: its name with its share, only the share, or nothing, depending on the space.
  QString words_on(const Piece& piece) const;
  QString name_of_piece(const Piece& piece) const;
  /// Below the bars, the pieces that are too narrow for their names.
  void paint_names(QPainter& painter) const;
  /// The bars, from the top: the step's, then the prediction's.
  std::vector<const StepAnalysis*> bars() const;
  void paint_bar(QPainter& painter, const QString& name, const StepShares& shares, const QRectF& bar, bool ghost) const;
  QRectF bar_area(int row) const;
  QString heading() const;
  int left_width() const;  ///< before the bars
  /// Whether the plan has parameter servers, which are not included in the shares.
  bool serves() const;

  void place_button();

  FiguresModel& figures_;
  QPushButton* show_anyway_;
  QString veil_, next_;
};

/// `serves`: with parameter servers.
QString label_of(TimeClass time, bool serves);

}  // namespace rankscope::app
