// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/formats/format_ranges.hpp"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/views/common/data_view.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "kernels/tensor/magnitude.hpp"

namespace rankscope::app {
namespace {

constexpr double label_width = 52, words_width = 300, least_plot_for_words = 300, range_row = 24, axis_height = 22,
                 tick_width = 44, title_height = 24, bar_height = 12;
constexpr int tick_every = 4;

/// "21.3 % below, 0.0 % beyond, 4.0 % with fewer digits".
QString fit_words(const FormatFit& fit) {
  const FormatShares& s = fit.shares;
  const QString beyond = s.edge > 0 ? text::tr("%1 to %2").arg(text::share(s.beyond), text::share(s.beyond + s.edge))
                                    : text::share(s.beyond);
  return text::tr("%1 below, %2 beyond, %3 with fewer digits")
      .arg(text::share(s.below), beyond, text::share(s.subnormal));
}

}  // namespace

std::vector<FormatFit> fits_of(const MagnitudeData& data, std::optional<int> shift) {
  std::vector<FormatFit> fits;
  if (!data.counts) return fits;
  for (const NumberFormat format : every_number_format) {
    const ExponentRange range = exponents_of(format);
    const std::optional<int> largest = shift ? shift : largest_shift(range, *data.counts);
    FormatFit fit{format, largest.value_or(0), largest.has_value(), {}};
    fit.shares = shares_in(range, *data.counts, fit.shift);
    fits.push_back(fit);
  }
  return fits;
}

ViewTable table_of(const std::vector<FormatFit>& fits) {
  ViewTable table{
      {text::tr("format"), text::tr("multiplied by 2^"), text::tr("zero, %"), text::tr("below, %"),
       text::tr("fewer digits, %"), text::tr("normal, %"), text::tr("at the upper end, %"), text::tr("beyond, %")},
      {}};
  for (const FormatFit& fit : fits) {
    const FormatShares& s = fit.shares;
    QStringList cells{text::utf8(facts_of(fit.format).name), QString::number(fit.shift)};
    for (const double share : {s.zero, s.below, s.subnormal, s.normal, s.edge, s.beyond}) cells << plain(100 * share);
    table.rows.push_back(cells);
  }
  return table;
}

FormatRanges::FormatRanges(QWidget* parent) : PaintedWidget(parent) {
  setMinimumSize(300, least_height());
  setAccessibleName(tr("Gradients over the range of each format"));
}

void FormatRanges::show_fits(const MagnitudeData& counted, std::vector<FormatFit> fits) {
  data_ = counted;
  fits_ = std::move(fits);
  update();
}

QRectF FormatRanges::plot() const {
  const double left = view_margin + label_width;
  double right = width() - view_margin;
  if (right - left - words_width >= least_plot_for_words) right -= words_width;
  return {left, title_height, right - left,
          height() - title_height - axis_height - static_cast<double>(fits_.size()) * range_row - 8};
}

double FormatRanges::x_of(double exponent) const {
  const QRectF area = plot();
  return area.left() + area.width() * (exponent - first_shown) / (last_shown + 1 - first_shown);
}

void FormatRanges::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours().ground));
  if (fits_.empty())
    return paint_empty(painter, rect(), colours(), tr("No gradients are counted"),
                       tr("A run counts its gradients by magnitude where its file has magnitudes_every = 1 under "
                          "[train]. The lesson Precision has it: open it and press Run, or open a recording of it."));
  paint_counts(painter);
  double y = plot().bottom() + axis_height + 4;
  for (const FormatFit& fit : fits_) {
    paint_range(painter, fit, y);
    y += range_row;
  }
}

void FormatRanges::paint_counts(QPainter& painter) const {
  const QRectF area = plot();
  const std::vector<std::int64_t>& counts = *data_.counts;
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  const std::int64_t most = *std::max_element(counts.begin() + zero_bin + 1, counts.begin() + not_finite_bin);
  const QString of_scale =
      data_.loss_scale > 0 ? tr(", times the loss scale %1").arg(text::number(data_.loss_scale)) : QString();
  draw_line(painter, QRectF(view_margin, 0, width() - 2 * view_margin, title_height), at_left,
            tr("Gradients of step %1 by magnitude%2; the highest bar is %3 of all, %4 are zero")
                .arg(data_.step)
                .arg(of_scale, text::share(all > 0 ? static_cast<double>(most) / all : 0),
                     text::share(fits_.front().shares.zero)),
            colours().dim);
  for (int exponent = first_shown; exponent <= last_shown; ++exponent) {
    const std::int64_t count = counts[static_cast<std::size_t>(bin_of_exponent(exponent))];
    if (count == 0 || most == 0) continue;
    const double high = std::max(1.0, area.height() * static_cast<double>(count) / static_cast<double>(most));
    const double left = x_of(exponent), right = x_of(exponent + 1);
    painter.fillRect(QRectF(left + 0.5, area.bottom() - high, right - left - 1, high),
                     color(colours().of(SpanClass::weight_gradient)));
  }
  painter.setPen(color(colours().line));
  painter.drawLine(area.bottomLeft(), area.bottomRight());
  painter.setFont(number_font());
  painter.setPen(color(colours().dim));
  int every = tick_every;
  while (x_of(every) - x_of(0) < tick_width) every *= 2;
  for (int exponent = first_shown; exponent <= last_shown; exponent += every)
    painter.drawText(QRectF(x_of(exponent) - tick_width / 2, area.bottom() + 2, tick_width, axis_height - 4),
                     Qt::AlignCenter, text::power_of_two(exponent));
}

// If gradients are scaled, the range is drawn before the scaling: it is then under the bars that fit into it.
void FormatRanges::paint_range(QPainter& painter, const FormatFit& fit, double y) const {
  const ExponentRange range = exponents_of(fit.format);
  const QRectF area = plot();
  const auto span = [&](int from, int to) {
    const double left = std::clamp(x_of(from - fit.shift), area.left(), area.right());
    const double right = std::clamp(x_of(to - fit.shift), area.left(), area.right());
    return QRectF(left, y + (range_row - bar_height) / 2, right - left, bar_height);
  };
  const Argb colour = colours().of(SpanClass::forward);
  painter.fillRect(span(range.least, range.least_normal), color(mixed(colours().ground, colour, 0.35F)));
  painter.fillRect(span(range.least_normal, range.last + (range.last_is_whole ? 1 : 0)), color(colour));
  if (!range.last_is_whole)
    painter.fillRect(span(range.last, range.last + 1), color(mixed(colours().ground, colour, 0.65F)));
  painter.setFont(interface_font());
  draw_text(painter, QRectF(view_margin, y, label_width, range_row), at_left, text::utf8(facts_of(fit.format).name),
            colours().text);
  const double left = area.right() + 14, room = width() - view_margin - left;
  if (room < words_width / 2) return;
  const FormatShares& s = fit.shares;
  const QString scale = !fit.shift_known ? tr("largest not known: ")
                        : fit.shift == 0 ? QString()
                                         : tr("× %1: ").arg(text::power_of_two(fit.shift));
  draw_line(painter, QRectF(left, y, room, range_row), at_left, scale + fit_words(fit),
            s.below + s.beyond + s.edge > 0.01 ? colours().bad : colours().dim);
}

QString FormatRanges::tip_at(QPoint at) const {
  if (fits_.empty()) return {};
  const QRectF area = plot();
  const double from = area.bottom() + axis_height + 4;
  if (at.y() >= from) {
    const auto index = static_cast<std::size_t>((at.y() - from) / range_row);
    if (index >= fits_.size()) return {};
    const FormatFit& fit = fits_[index];
    const ExponentRange range = exponents_of(fit.format);
    return tr("%1, gradients times %2\nfrom %3, with all digits from %4, below %5\n%6")
        .arg(text::utf8(facts_of(fit.format).name), text::power_of_two(fit.shift), text::power_of_two(range.least),
             text::power_of_two(range.least_normal),
             range.last_is_whole ? text::power_of_two(range.last + 1)
                                 : QString::number(range_of(fit.format).largest, 'g', 6),
             fit_words(fit));
  }
  const int exponent = static_cast<int>(
      std::floor(first_shown + (at.x() - area.left()) / area.width() * (last_shown + 1 - first_shown)));
  if (!area.contains(at) || exponent < first_shown || exponent > last_shown) return {};
  const std::vector<std::int64_t>& counts = *data_.counts;
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  const auto there = static_cast<double>(counts[static_cast<std::size_t>(bin_of_exponent(exponent))]);
  return exponent == first_shown
             ? tr("below %1: %2 of all").arg(text::power_of_two(exponent + 1), text::share(there / all))
         : exponent == last_shown
             ? tr("from %1 up: %2 of all").arg(text::power_of_two(exponent), text::share(there / all))
             : tr("from %1 up to %2: %3 of all")
                   .arg(text::power_of_two(exponent), text::power_of_two(exponent + 1), text::share(there / all));
}

}  // namespace rankscope::app
