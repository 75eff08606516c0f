#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/op/words.hpp"
#include "engine/predict/search/plan_search.hpp"
#include "engine/predict/search/second_text.hpp"

namespace rankscope {
namespace {

constexpr auto bubble_part = static_cast<std::size_t>(TimeClass::bubble);

/// "tensor=4 pipeline=2 …", but for knobs that have one value in all plans.
std::string words_of(const PlanSearchReport& report, const PlanPoint& point) {
  std::string words;
  for (std::size_t k = 0; k < report.knobs.size(); ++k) {
    const Knob& knob = report.knobs[k];
    if (knob.values.size() > 1)
      words += (words.empty() ? "" : " ") + knob.name + "=" + knob.values[static_cast<std::size_t>(point.values[k])];
  }
  return words;
}

std::string row(const PlanSearchReport& report, std::size_t at) {
  const PlanPoint& point = report.points[at];
  return fmt::format("  {:>9.4g} s {:>8.3g} GB  bubble {:>4.1f} %  {}\n", point.seconds, point.bytes * 1e-9,
                     100 * point.parts[bubble_part] / point.seconds, words_of(report, point));
}

std::string why_the_second_loses(const PlanSearchReport& report) {
  const PlanPoint &first = report.points[report.best[0]], &second = report.points[report.best[1]];
  std::string apart;
  for (std::size_t k = 0; k < report.knobs.size(); ++k) {
    const auto& values = report.knobs[k].values;
    if (first.values[k] != second.values[k])
      apart += (apart.empty() ? "" : ", ") + report.knobs[k].name + "=" +
               values[static_cast<std::size_t>(second.values[k])] + " in place of " +
               values[static_cast<std::size_t>(first.values[k])];
  }
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
  for (std::size_t k = 0; k < report.knobs.size(); ++k)
    text += fmt::format(" --set {}={}", report.knobs[k].name,
                        report.knobs[k].values[static_cast<std::size_t>(best.values[k])]);
  text += "\n\nbest so far, by number of tries\n";
  for (const Improvement& step : report.trajectory)
    text += fmt::format("  {:>7}  {:>9.4g} s\n", step.tried, report.points[step.point].seconds);
  if (!report.importance.empty()) text += importance_text(report);
  text += "\ntime against memory: each needs less than all faster ones\n";
  for (const std::size_t at : report.front) text += row(report, at);
  return text;
}

}  // namespace rankscope
