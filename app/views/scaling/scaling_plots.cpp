// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of the scaling view as values.
#include <algorithm>
#include <cmath>

#include "app/views/common/axis.hpp"
#include "app/views/common/text.hpp"
#include "app/views/scaling/scaling_view.hpp"

namespace rankscope::app {
namespace {

constexpr int most_share_ticks = 6;

PlotSeries series_of(const ScalingCurves& curves, const QString& name, PlotSeries::Mark mark, Argb colour,
                     double ScalingSide::*value, const ScalingSide ScalingAt::*side, bool with_help) {
  PlotSeries series{name, mark, colour, {}};
  for (const ScalingAt& at : curves.points) {
    const double y = (at.*side).*value;
    if (!std::isfinite(y)) continue;
    PlotPoint point{at.ranks, y, 0, 0, {}};
    if (with_help) {
      point.help = QObject::tr("%1 · %2 ranks\nstep %3, predicted %4\n%5 %6, predicted %7")
                       .arg(at.name)
                       .arg(at.ranks)
                       .arg(text::seconds(at.run.step_seconds), text::seconds(at.predicted.step_seconds),
                            text::number(at.run.rate), curves.rate_name, text::number(at.predicted.rate));
      if (value == &ScalingSide::rate) {
        point.low = at.rate_low;
        point.high = at.rate_high;
      }
    }
    series.points.push_back(point);
  }
  return series;
}

/// Ideal rates: each rank contributes as much as at the first point. If more than one point was measured, that is the
/// first measured one.
PlotSeries ideal_of(const ScalingCurves& curves, Argb colour) {
  PlotSeries series{QObject::tr("ideal"), PlotSeries::Mark::dashed, colour, {}};
  const bool ran = std::count_if(curves.points.begin(), curves.points.end(),
                                 [](const ScalingAt& at) { return std::isfinite(at.run.rate); }) > 1;
  double rate = std::nan(""), ranks = 1;
  for (const ScalingAt& at : curves.points) {
    if (!std::isfinite(rate)) {
      rate = ran && std::isfinite(at.run.rate) ? at.run.rate : at.predicted.rate;
      ranks = at.ranks;
    }
    if (std::isfinite(at.run.rate) || std::isfinite(at.predicted.rate))
      series.points.push_back({at.ranks, rate * at.ranks / ranks, 0, 0, {}});
  }
  return series;
}

}  // namespace

std::array<Plot, 2> ScalingView::plots() const {
  const Argb ran = colours().accent, predicted = colours().of(SpanClass::transfer);
  const bool published = !curves_.has_efficiency && !curves_.run_name.isEmpty();
  using Mark = PlotSeries::Mark;
  const auto both = [&](Plot& plot, double ScalingSide::*value) {
    const bool alone = std::any_of(curves_.points.begin(), curves_.points.end(), [](const ScalingAt& at) {
      return std::isfinite(at.predicted.rate) && !std::isfinite(at.run.rate);
    });
    plot.series.push_back(
        series_of(curves_, tr("predicted"), Mark::line, predicted, value, &ScalingAt::predicted, false));
    if (alone || published)
      plot.series.push_back(series_of(curves_, {}, Mark::rings, predicted, value, &ScalingAt::predicted, true));
    if (!curves_.run_name.isEmpty())
      plot.series.push_back(series_of(curves_, curves_.run_name, Mark::dots, ran, value, &ScalingAt::run, true));
  };
  Plot rate, share;
  rate.title = tr("%1 by ranks").arg(curves_.rate_name);
  rate.x = {true, {}, {}, text::short_number, {}, tr("ranks")};
  for (const ScalingAt& at : curves_.points)
    if (std::isfinite(at.run.rate) || std::isfinite(at.predicted.rate)) rate.x.ticks.push_back(at.ranks);
  rate.y = {!published, published ? std::optional(0.0) : std::nullopt, {}, text::short_number, {}};
  if (!published) rate.series.push_back(ideal_of(curves_, colours().dim));
  both(rate, &ScalingSide::rate);
  share.x = rate.x;
  if (curves_.has_efficiency) {
    share.title = tr("Efficiency by ranks");
    // An efficiency may be above 100 %: ranks that do not compute are counted, or caches help. The frame includes it.
    double most = 1.05;
    for (const ScalingAt& at : curves_.points)
      for (const ScalingSide* side : {&at.predicted, &at.run})
        if (std::isfinite(side->efficiency)) most = std::max(most, side->efficiency * 1.05);
    share.y = {false, 0.0, most, [](double y) { return QString::number(y * 100) + QStringLiteral(" %"); }, {}};
    share.y.ticks = round_ticks(0, most, most_share_ticks);  // steps of 20 %: no ticks in the margin above
    both(share, &ScalingSide::efficiency);
  } else {
    share.title = tr("Step by ranks");
    share.y = {true, {}, {}, text::seconds, {}};
    both(share, &ScalingSide::step_seconds);
  }
  return {rate, share};
}

}  // namespace rankscope::app
