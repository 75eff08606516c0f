// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/found_plans.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/session/plan_searcher.hpp"
#include "app/views/common/text.hpp"
#include "engine/predict/search/plan_space.hpp"
#include "engine/predict/strategy/front.hpp"

namespace rankscope::app {
namespace {

constexpr double least_share = 0.02;  ///< of a plan's extra time: smaller parts are not listed
constexpr std::size_t most_reasons = 3;

void add_best_and_front(FoundPlans& found) {
  std::vector<TwoCosts> costs;
  for (std::size_t i = 0; i < found.points.size(); ++i) {
    if (found.points[i].fate != Fate::fits) continue;
    found.best.push_back(i);
    costs.push_back({found.points[i].seconds, found.points[i].bytes});
  }
  for (const std::size_t at : pareto_front(costs)) found.front.push_back(found.best[at]);
  std::sort(found.best.begin(), found.best.end(), [&](std::size_t a, std::size_t b) {
    const PlanPoint &one = found.points[a], &other = found.points[b];
    return std::tuple(one.seconds, one.bytes, one.number) < std::tuple(other.seconds, other.bytes, other.number);
  });
}

const std::string& value_of(const FoundPlans& found, const PlanPoint& point, std::size_t knob) {
  return found.knobs[knob].values[static_cast<std::size_t>(point.values[knob])];
}

QString signed_seconds(double seconds) {
  return (seconds < 0 ? QStringLiteral("−") : QStringLiteral("+")) + text::seconds(std::fabs(seconds));
}

QString part_name(TimeClass part) { return text::utf8(part == TimeClass::zero ? "ZeRO" : name_of(part)); }

}  // namespace

std::optional<std::size_t> FoundPlans::point_of(std::size_t number) const {
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i].number == number) return i;
  return std::nullopt;
}

FoundPlans merged(const SearchReports& reports) {
  FoundPlans found;
  const auto report_of = [&](Strategy strategy) {
    const auto at = reports.find(strategy);
    return at == reports.end() ? nullptr : at->second.get();
  };
  const PlanSearchReport* all = report_of(Strategy::exhaustive);
  // A guided search tries many similar plans; a random sample represents all plans better.
  const PlanSearchReport* some = report_of(Strategy::random) ? report_of(Strategy::random) : report_of(Strategy::bayes);
  const PlanSearchReport* any = all != nullptr ? all : some;
  if (any == nullptr) return found;
  found.knobs = any->knobs;
  found.device_bytes = any->device_bytes;
  found.global_batch = any->global_batch;
  found.importance = any->importance;
  found.importance_words =
      all != nullptr ? text::tr("First-order Sobol' index of log(step time): exact, over the %1 plans that fit")
                           .arg(text::count(static_cast<std::int64_t>(all->tried - all->out_of_memory - all->refused)))
                     : text::tr("First-order Sobol' index of log(step time): guessed by a forest from %1 random tries")
                           .arg(any->tried);
  if (all != nullptr) {
    found.points = all->points;
    found.best = all->best;
    found.front = all->front;
    return found;
  }
  for (const auto& [strategy, report] : reports)
    for (const PlanPoint& point : report->points)
      if (!found.point_of(point.number)) found.points.push_back(point);
  add_best_and_front(found);
  return found;
}

QString plan_name(const FoundPlans& found, const PlanPoint& point) {
  return QString::fromStdString(short_name(with_values({}, found.knobs, point.values), found.global_batch));
}

QString why_not_fastest(const FoundPlans& found, std::size_t at) {
  const PlanPoint& point = found.points[at];
  if (point.fate == Fate::out_of_memory)
    return text::tr("Out of memory: it needs %1, a device has %2.")
        .arg(text::bytes(point.bytes), text::bytes(found.device_bytes));
  const PlanPoint* fastest = found.fastest();
  if (fastest == nullptr || point.number == fastest->number) return text::tr("The fastest tried plan that fits.");
  const double behind = point.seconds - fastest->seconds;
  QString words = found.best.size() > 1 && at == found.best[1] ? text::tr("The runner-up: ") : QString();
  if (!(behind > 0)) return words + text::tr("as fast as the fastest.");
  words +=
      text::tr("%1 (%2) slower than the fastest").arg(text::seconds(behind), text::percent(behind / fastest->seconds));
  QStringList parts;
  for (const LostTime& lost : why_slower(fastest->parts, point.parts))
    if (std::fabs(lost.seconds) > least_share * behind && static_cast<std::size_t>(parts.size()) < most_reasons)
      parts << QStringLiteral("%1 %2").arg(part_name(lost.part), signed_seconds(lost.seconds));
  return words + (parts.isEmpty() ? QString() : text::tr(": ") + parts.join(QStringLiteral(", "))) + QLatin1Char('.');
}

std::vector<std::vector<Cell>> plan_rows(const FoundPlans& found, std::size_t at) {
  const PlanPoint& point = found.points[at];
  const PlanPoint* fastest = found.fastest();
  std::vector<std::vector<Cell>> rows;
  const auto add = [&](const QString& name, auto words) {
    const QString here = words(point), best = fastest != nullptr ? words(*fastest) : text::unknown();
    rows.push_back({{name, Tone::dim}, {here, here == best ? Tone::dim : Tone::text}, {best, Tone::dim}});
  };
  const bool fits = point.fate == Fate::fits;
  add(fits ? text::tr("step") : text::tr("step, lower bound"),
      [](const PlanPoint& p) { return text::seconds(p.seconds); });
  add(text::tr("memory"), [](const PlanPoint& p) { return text::bytes(p.bytes); });
  // The differing keys first.
  for (const bool apart : {true, false})
    for (std::size_t k = 0; k < found.knobs.size(); ++k) {
      if (found.knobs[k].values.size() < 2) continue;
      if ((fastest != nullptr && point.values[k] != fastest->values[k]) != apart) continue;
      add(QString::fromStdString(found.knobs[k].name).replace(QLatin1Char('_'), QLatin1Char(' ')),
          [&](const PlanPoint& p) {
            const std::string& value = value_of(found, p, k);
            return value == "true"    ? text::tr("yes")
                   : value == "false" ? text::tr("no")
                                      : QString::fromStdString(value);
          });
    }
  for (std::size_t i = 0; i < point.parts.size(); ++i) {
    const auto words = [&](const PlanPoint& p) {
      return p.fate == Fate::fits ? text::seconds(p.parts[i]) : text::unknown();
    };
    if (point.parts[i] > 0 || (fastest != nullptr && fastest->parts[i] > 0))
      add(text::tr("in it: %1").arg(part_name(static_cast<TimeClass>(i))), words);
  }
  return rows;
}

ViewTable plans_table(const FoundPlans& found) {
  ViewTable table{{text::tr("plan"), text::tr("fate"), text::tr("step, s"), text::tr("memory, bytes"),
                   text::tr("plans that it represents"), text::tr("on the Pareto front")},
                  {}};
  for (const Knob& knob : found.knobs) table.titles << QString::fromStdString(knob.name);
  for (int i = 0; i < time_class_count; ++i)
    table.titles << text::tr("%1, s").arg(text::utf8(name_of(static_cast<TimeClass>(i))));
  std::vector<bool> on_front(found.points.size(), false);
  for (const std::size_t i : found.front) on_front[i] = true;
  for (std::size_t i = 0; i < found.points.size(); ++i) {
    const PlanPoint& point = found.points[i];
    QStringList row{plan_name(found, point),
                    text::utf8(name_of(point.fate)),
                    plain(point.seconds),
                    plain(point.bytes),
                    plain(static_cast<std::int64_t>(point.together)),
                    on_front[i] ? text::tr("yes") : text::tr("no")};
    for (std::size_t k = 0; k < found.knobs.size(); ++k) row << QString::fromStdString(value_of(found, point, k));
    for (const double part : point.parts) row << (point.fate == Fate::fits ? plain(part) : QString());
    table.rows.push_back(std::move(row));
  }
  return table;
}

QString result_words(const SearchReports& reports) {
  QStringList all;
  for (const Strategy strategy : {Strategy::random, Strategy::bayes, Strategy::exhaustive}) {
    const auto found = reports.find(strategy);
    if (found == reports.end()) continue;
    const PlanSearchReport& report = *found->second;
    QString words = text::tr("%1: %2 of %3 plans tried, %4 out of memory")
                        .arg(name_for_people(strategy), text::count(static_cast<std::int64_t>(report.tried)),
                             text::count(static_cast<std::int64_t>(report.plans)),
                             text::count(static_cast<std::int64_t>(report.out_of_memory)));
    if (report.refused > 0) words += text::tr(", %1 refused").arg(report.refused);
    words += report.best.empty() ? text::tr(", none fits")
                                 : text::tr(", best %1").arg(text::seconds(report.points[report.best.front()].seconds));
    all << words;
  }
  return all.join(QStringLiteral("  ·  "));
}

}  // namespace rankscope::app
