// SPDX-License-Identifier: GPL-3.0-or-later
// A step's gradients by magnitude, and under them each format's range on the same axis: numbers left of it become
// zero, numbers right of it overflow. A scale moves the range against the gradients.
#pragma once

#include "app/session/figures.hpp"
#include "app/views/common/painted_widget.hpp"
#include "app/views/common/view_table.hpp"
#include "engine/lesson/formats/shares.hpp"

namespace rankscope::app {

/// How much of the gradients a format can represent when they are multiplied by 2^shift.
struct FormatFit {
  NumberFormat format = NumberFormat::fp32;
  int shift = 0;
  bool shift_known = true;  ///< false: the largest is unknown, and nothing is multiplied
  FormatShares shares{};
};
/// `shift` for all formats; nullopt: for each format the largest without overflow. Empty without counts.
std::vector<FormatFit> fits_of(const MagnitudeData& data, std::optional<int> shift);
ViewTable table_of(const std::vector<FormatFit>& fits);

class FormatRanges : public PaintedWidget {
  Q_OBJECT
 public:
  explicit FormatRanges(QWidget* parent);
  void show_fits(const MagnitudeData& counted, std::vector<FormatFit> fits);
  const std::vector<FormatFit>& fits() const { return fits_; }
  static constexpr int first_shown = -44, last_shown = 17;  ///< powers of two that are counted separately
  static constexpr int least_height() { return 330; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QRectF plot() const;
  double x_of(double exponent) const;
  void paint_counts(QPainter& painter) const;
  void paint_range(QPainter& painter, const FormatFit& fit, double y) const;
  QString tip_at(QPoint at) const override;

  MagnitudeData data_;
  std::vector<FormatFit> fits_;
};

}  // namespace rankscope::app
