// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of the search view as values.
#include <algorithm>

#include "app/views/common/text.hpp"
#include "app/views/search/search_view.hpp"

namespace rankscope::app {
namespace {

using Mark = PlotSeries::Mark;

constexpr double small_dot = 3, front_dot = 6, ring = 13;
constexpr double most_times_fastest = 8, most_times_device = 4;  ///< of the drawn part of the plane

QString tip_of(const FoundPlans& found, std::size_t at) {
  const PlanPoint& point = found.points[at];
  const bool fits = point.fate == Fate::fits;
  QString words = plan_name(found, point) + QLatin1Char('\n') +
                  (fits ? text::tr("step %1, memory %2") : text::tr("step at least %1, needs %2: out of memory"))
                      .arg(text::seconds(point.seconds), text::bytes(point.bytes));
  if (point.together > 1)
    words += QLatin1Char('\n') + text::tr("represents %1 plans that are nearly the same")
                                     .arg(text::count(static_cast<std::int64_t>(point.together)));
  return words + QLatin1Char('\n') + text::tr("Click: show its numbers");
}

/// The part of the plane that is drawn: the front and its surroundings. Distant plans would make that too small.
struct Shown {
  double least_seconds = 1e300, most_seconds = 0, least_bytes = 1e300, most_bytes = 0;
  bool holds(const PlanPoint& point) const { return point.seconds <= most_seconds && point.bytes <= most_bytes; }
};

Shown shown_of(const FoundPlans& found) {
  Shown shown;
  for (const PlanPoint& point : found.points) {
    shown.least_seconds = std::min(shown.least_seconds, point.seconds);
    shown.most_seconds = std::max(shown.most_seconds, point.seconds);
    shown.least_bytes = std::min(shown.least_bytes, point.bytes);
    shown.most_bytes = std::max(shown.most_bytes, point.bytes);
  }
  if (const PlanPoint* fastest = found.fastest())
    shown.most_seconds = std::min(shown.most_seconds, most_times_fastest * fastest->seconds);
  if (found.device_bytes > 0)
    shown.most_bytes =
        std::min(shown.most_bytes, std::max(most_times_device * found.device_bytes, 2 * shown.least_bytes));
  return shown;
}

/// 1, 2, 5, 10, … of a binary unit.
std::vector<double> byte_ticks(double low, double high) {
  std::vector<double> ticks;
  for (double unit = 1; unit < 1e16; unit *= 1024)
    for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0})
      if (factor * unit >= low * 0.8 && factor * unit <= high * 1.2) ticks.push_back(factor * unit);
  return ticks;
}

PlotPoint point_at(const FoundPlans& found, std::size_t at) {
  const PlanPoint& point = found.points[at];
  return {point.seconds, point.bytes, 0, 0, tip_of(found, at), static_cast<int>(at)};
}

}  // namespace

Plot SearchView::plans_plot() const {
  Plot plot;
  plot.title = tr("Plans: memory against step time");
  plot.x = {true, {}, {}, text::seconds, {}, tr("step time")};
  plot.y = {true, {}, {}, text::bytes, {}, tr("memory per device")};
  PlotSeries lost{tr("out of memory"), Mark::dots, mixed(colours().ground, colours().bad, 0.75F), {}, small_dot};
  PlotSeries fits{
      tr("fits"), Mark::dots, mixed(colours().ground, colours().of(SpanClass::forward), 0.8F), {}, small_dot};
  const Shown shown = shown_of(found_);
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < found_.points.size(); ++i) {
    const PlanPoint& point = found_.points[i];
    if (!shown.holds(point)) {
      beyond += point.together;
      continue;
    }
    (point.fate == Fate::fits ? fits : lost).points.push_back(point_at(found_, i));
  }
  if (beyond > 0)
    plot.title =
        tr("Plans: memory against step time; %1 outside the axes").arg(text::count(static_cast<std::int64_t>(beyond)));
  plot.y.ticks = byte_ticks(shown.least_bytes, shown.most_bytes);
  const bool some_lost = !lost.points.empty();
  plot.series.push_back(std::move(fits));
  plot.series.push_back(std::move(lost));
  if (found_.device_bytes > 0 && some_lost)
    plot.series.push_back(
        {tr("limit"),
         Mark::dashed,
         colours().bad,
         {{shown.least_seconds, found_.device_bytes, 0, 0, {}}, {shown.most_seconds, found_.device_bytes, 0, 0, {}}}});
  PlotSeries line{{}, Mark::line, colours().accent, {}},
      front{tr("front"), Mark::dots, colours().accent, {}, front_dot};
  for (const std::size_t i : found_.front) {
    if (!shown.holds(found_.points[i])) continue;
    // A vertical line from one plan to the next: the front is a staircase.
    if (!line.points.empty()) line.points.push_back({found_.points[i].seconds, line.points.back().y, 0, 0, {}});
    line.points.push_back({found_.points[i].seconds, found_.points[i].bytes, 0, 0, {}});
    front.points.push_back(point_at(found_, i));
  }
  plot.series.push_back(std::move(line));
  plot.series.push_back(std::move(front));
  if (const auto& now = searcher_.now(); now && now->fate != Fate::refused)
    plot.series.push_back({tr("open"),
                           Mark::rings,
                           colours().text,
                           {{now->seconds, now->bytes, 0, 0,
                             tr("The plan that was open when the search began:\nstep %1, memory %2")
                                 .arg(text::seconds(now->seconds), text::bytes(now->bytes))}},
                           ring - 3});
  if (chosen_) {
    PlotPoint point = point_at(found_, *chosen_);
    plot.series.push_back({tr("chosen"), Mark::rings, colours().of(SpanClass::backward), {point}, ring});
    point.help.clear();
    plot.series.push_back({{}, Mark::dots, colours().of(SpanClass::backward), {point}, front_dot});
  }
  return plot;
}

Plot SearchView::tries_plot() const {
  Plot plot;
  plot.title = tr("Best so far, by plans tried");
  plot.x = {true, {}, {}, text::short_number, {}, tr("plans tried")};
  plot.y = {false, {}, {}, text::seconds, {}, {}};
  const std::pair<Strategy, Argb> looks[] = {{Strategy::random, colours().of(SpanClass::transfer)},
                                             {Strategy::bayes, colours().accent},
                                             {Strategy::exhaustive, colours().dim}};
  for (const auto& [strategy, colour] : looks) {
    const auto at = reports_.find(strategy);
    if (at == reports_.end()) continue;
    const PlanSearchReport& report = *at->second;
    PlotSeries series{name_for_people(strategy), Mark::line, colour, {}};
    for (const Improvement& step : report.trajectory) {
      const double seconds = report.points[step.point].seconds, tried = static_cast<double>(step.tried);
      if (!series.points.empty()) series.points.push_back({tried, series.points.back().y, 0, 0, {}});
      series.points.push_back({tried, seconds, 0, 0, {}});
    }
    if (!series.points.empty())
      series.points.push_back({static_cast<double>(report.tried), series.points.back().y, 0, 0, {}});
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace rankscope::app
