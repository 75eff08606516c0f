#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/op/words.hpp"
#include "engine/predict/search/plan_search.hpp"
#include "engine/predict/search/second_text.hpp"

namespace rankscope {
namespace {

constexpr auto bubble_part = static_cast<std::size_t>(TimeClass::bubble);

const std::string& value_of(const Knob& knob, int value) { return knob.values[static_cast<std::size_t>(value)]; }

std::string setting(const Knob& knob, int value) { return knob.name + "=" + value_of(knob, value); }

/// "tensor=4 pipeline=2 …", without knobs that have one value in all plans.
std::string words_of(const PlanSearchReport& report, const PlanPoint& point) {
  std::vector<std::string> words;
  for (std::size_t k = 0; k < report.knobs.size(); ++k)
    if (report.knobs[k].values.size() > 1) words.push_back(setting(report.knobs[k], point.values[k]));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string row(const PlanSearchReport& report, std::size_t at) {
  const PlanPoint& point = report.points[at];
  return plan_row(point.seconds, point.bytes, point.parts[bubble_part], words_of(report, point));
}

std::string why_the_second_loses(const PlanSearchReport& report) {
  const PlanPoint &first = report.points[report.best[0]], &second = report.points[report.best[1]];
  std::vector<std::string> apart;
  for (std::size_t k = 0; k < report.knobs.size(); ++k)
    if (first.values[k] != second.values[k])
      apart.push_back(setting(report.knobs[k], second.values[k]) + " in place of " +
                      value_of(report.knobs[k], first.values[k]));
  return second_text(apart, first.seconds, second.seconds, why_slower(first.parts, second.parts));
}

std::string importance_text(const PlanSearchReport& report) {
  std::vector<std::size_t> order(report.importance.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return report.importance[a] > report.importance[b]; });
  std::string text = fmt::format(
      "\nshare of the time variance between plans due to each knob alone (first-order Sobol' index, {})\n",
      report.importance_is_exact ? "exact: over all plans that fit" : "estimated from the plans that were tried");
  for (const std::size_t k : order)
    if (report.knobs[k].values.size() > 1)
      text += fmt::format("  {:>5.1f} %  {}\n", 100 * report.importance[k], report.knobs[k].name);
  return text;
}

}  // namespace

std::string to_text(const PlanSearchReport& report) {
  std::string text =
      fmt::format("{} search{}: {} of {} of {} tried in {:.2f} s, {} out of memory", name_of(report.strategy),
                  report.strategy == Strategy::exhaustive ? "" : fmt::format(" (seed {})", report.seed), report.tried,
                  counted(report.plans, "plan"), counted(report.ranks, "rank"), report.seconds, report.out_of_memory);
  if (report.refused > 0) text += fmt::format(", {} refused", report.refused);
  text += "; " + report.judged + "\n";
  if (report.best.empty()) return text + "No plan that was tried fits into device memory.\n";
  text += "\nfastest\n";
  for (const std::size_t at : report.best) text += row(report, at);
  if (report.best.size() > 1) text += why_the_second_loses(report);
  text += "\nto simulate the fastest, add after the scenario's name:\n ";
  const PlanPoint& best = report.points[report.best.front()];
  for (std::size_t k = 0; k < report.knobs.size(); ++k) text += " --set " + setting(report.knobs[k], best.values[k]);
  text += "\n\nbest so far, by number of tries\n";
  for (const Improvement& step : report.trajectory)
    text += fmt::format("  {:>7}  {:>9.4g} s\n", step.tried, report.points[step.point].seconds);
  if (!report.importance.empty()) text += importance_text(report);
  text += "\ntime against memory: each needs less than all faster ones\n";
  for (const std::size_t at : report.front) text += row(report, at);
  return text;
}

}  // namespace rankscope
