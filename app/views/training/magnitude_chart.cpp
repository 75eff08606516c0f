// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/magnitude_chart.hpp"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/views/common/axis.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/training/chart_labels.hpp"
#include "engine/explain/analyse/magnitudes.hpp"
#include "kernels/tensor/magnitude.hpp"

namespace rankscope::app {
namespace {

constexpr int tick_every = 8, tick_width = 44;  // in powers of two, and pixels
constexpr double share_tick_height = 36;

using text::power_of_two;
using text::share;

}  // namespace

/// The plot itself.
class MagnitudeChart::Bars : public QWidget {
 public:
  explicit Bars(MagnitudeChart& chart) : QWidget(&chart), chart_(chart) { setMinimumSize(120, 80); }
  /// Within its axes.
  QRectF inner() const {
    const QFontMetricsF metrics(number_font());
    const double left = metrics.horizontalAdvance(QStringLiteral("100 %")) + 12, below = 2 * metrics.height() + 12,
                 above = metrics.height() + 6;
    return {left, above, std::max(10.0, width() - left - 10), std::max(10.0, height() - above - below)};
  }
  int exponent_at(double x) const {
    const QRectF area = inner();
    return first_shown +
           static_cast<int>(std::floor((x - area.left()) / area.width() * (last_shown + 1 - first_shown)));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    if (!chart_.filled()) return;
    QPainter painter(this);
    const QRectF area = inner();
    const auto x = [&](int exponent) { return area.left() + place_of(exponent, area.width()); };
    const std::vector<double> shares = chart_.shares();
    const double most = std::max(0.01, *std::max_element(shares.begin(), shares.end()) * 1.1);
    paint_range(painter, area, x);
    painter.setFont(number_font());
    const QFontMetricsF metrics(painter.font());
    for (const double tick :
         round_ticks(0, 100 * most, std::max(2, static_cast<int>(area.height() / share_tick_height)))) {
      const double y = area.bottom() - area.height() * tick / (100 * most);
      painter.setPen(color(chart_.colours().line));
      painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
      draw_text(painter, QRectF(0, y - 10, area.left() - 6, 20), at_right, QStringLiteral("%1 %").arg(tick),
                chart_.colours().dim);
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i] <= 0) continue;
      const double left = x(first_shown + static_cast<int>(i)), right = x(first_shown + static_cast<int>(i) + 1);
      const double high = std::max(1.0, area.height() * shares[i] / most);
      painter.fillRect(QRectF(left + 0.5, area.bottom() - high, right - left - 1, high),
                       color(chart_.colours().of(SpanClass::weight_gradient)));
    }
    painter.setPen(color(chart_.colours().dim));
    const int every = tick_every * std::max(1, static_cast<int>(std::ceil(tick_width * 7.25 / area.width())));
    for (int exponent = first_shown; exponent <= last_shown; exponent += every)
      painter.drawText(QRectF(x(exponent) - tick_width / 2.0, area.bottom() + 4, tick_width, metrics.height()),
                       Qt::AlignHCenter, power_of_two(exponent));
    painter.setFont(interface_font());
    painter.drawText(QRectF(area.left(), area.bottom() + 6 + metrics.height(), area.width(), metrics.height() + 4),
                     Qt::AlignHCenter,
                     chart_.data().loss_scale > 0 ? tr("magnitude, times the loss scale") : tr("magnitude"));
  }

 private:
  /// The range of fp16, and the part of it with fewer digits.
  template <class Place>
  void paint_range(QPainter& painter, const QRectF& area, const Place& x) const {
    const double least = x(fp16_least_exponent), normal = x(fp16_least_normal_exponent),
                 end = x(fp16_last_exponent + 1);
    painter.fillRect(QRectF(least, area.top(), normal - least, area.height()), faded(chart_.colours().accent, 0.07));
    painter.fillRect(QRectF(normal, area.top(), end - normal, area.height()), faded(chart_.colours().accent, 0.16));
    painter.setFont(interface_font());
    painter.setPen(color(chart_.colours().dim));
    const QFontMetricsF metrics(painter.font());
    const auto name = [&](const QString& words, double from, double to) {
      if (metrics.horizontalAdvance(words) + 8 <= to - from)
        painter.drawText(QRectF(from, 2, to - from, area.top() - 2), Qt::AlignHCenter | Qt::AlignVCenter, words);
    };
    name(tr("fp16"), normal, end);
    name(tr("subnormal"), least, normal);
  }

  MagnitudeChart& chart_;
};

MagnitudeChart::MagnitudeChart(QWidget* parent)
    : PaintedWidget(parent),
      bars_(new Bars(*this)),
      note_(add_chart_labels(*this, tr("Gradients by magnitude"), bars_).note) {}

void MagnitudeChart::show_data(const MagnitudeData& shown) {
  data_ = shown;
  if (filled()) {
    const FormatShares fp16 = fp16_shares(*data_.counts);
    note_->setText(
        tr("step %1: %2 below the fp16 range, %3 above it").arg(data_.step).arg(share(fp16.below), share(fp16.beyond)));
  }
  bars_->update();
}

std::vector<double> MagnitudeChart::shares() const {
  std::vector<double> shares(last_shown - first_shown + 1, 0.0);
  if (!filled()) return shares;
  const std::vector<std::int64_t>& counts = *data_.counts;
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  if (all <= 0) return shares;
  // Values outside the shown range are counted in the outermost bars.
  for (int bin = zero_bin + 1; bin < std::min<int>(not_finite_bin, static_cast<int>(counts.size())); ++bin)
    shares[static_cast<std::size_t>(std::clamp(exponent_of_bin(bin), first_shown, last_shown) - first_shown)] +=
        static_cast<double>(counts[static_cast<std::size_t>(bin)]) / all;
  return shares;
}

QString MagnitudeChart::tip_at(QPoint at) const {
  const QPoint over_bars = bars_->mapFrom(this, at);
  const int exponent = bars_->exponent_at(over_bars.x());
  if (!filled() || !bars_->rect().contains(over_bars) || exponent < first_shown || exponent > last_shown) return {};
  return tr("from %1 to %2: %3 of all")
      .arg(power_of_two(exponent), power_of_two(exponent + 1),
           share(shares()[static_cast<std::size_t>(exponent - first_shown)]));
}

}  // namespace rankscope::app
