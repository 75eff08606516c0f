// SPDX-License-Identifier: GPL-3.0-or-later
// A number in every format, as rows of bits that a click or a key flips, with the resulting value beside them.
#pragma once

#include "app/views/common/painted_widget.hpp"
#include "app/views/formats/format_number.hpp"

namespace rankscope::app {

enum class BitField : std::uint8_t { sign, exponent, mantissa };
/// Which part of the number a bit is; bits are numbered from the lowest, 0.
BitField field_of(NumberFormat format, int bit);

class FormatRows : public PaintedWidget {
  Q_OBJECT
 public:
  explicit FormatRows(QWidget* parent);
  void show_number(const FormatNumber& number);
  /// Where a bit is drawn.
  QRectF box_of(NumberFormat format, int bit) const;
  QString tip_at(QPoint at) const override;
  static int least_width() { return 440; }

 signals:
  /// The user flips one bit: the number in the form of an input, "bf16:0x3f81".
  void number_wanted(const QString& typed);
  /// The bit that keys change.
  void moved(const QRect& box);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Place {
    NumberFormat format = NumberFormat::fp32;
    int bit = 0;
  };
  std::optional<Place> place_at(QPointF at) const;
  void paint_bits(QPainter& painter, NumberFormat format, double y) const;
  void paint_words(QPainter& painter, NumberFormat format, double y) const;
  bool is_wide() const;
  int lines() const { return is_wide() ? 3 : 6; }
  double row_height() const;
  double cell_width() const;
  double words_left() const;
  Argb colour_of(BitField field) const;
  void fit();

  FormatNumber number_;
  Place at_;  ///< of the keys
};

}  // namespace rankscope::app
