#include "engine/explain/analyse/gap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

using Key = std::tuple<std::int32_t, TimeClass, BubbleCause, Purpose>;

/// Seconds by rank and reason; busy classes carry the cause `overhead` as a placeholder that explain_gap overwrites.
std::map<Key, double> seconds_by_reason(const StepAnalysis& analysis, std::size_t workers) {
  std::map<Key, double> seconds;
  for (std::size_t r = 0; r < workers; ++r)
    for (const TimeClass time : {TimeClass::compute, TimeClass::recompute, TimeClass::optimizer})
      seconds[{static_cast<std::int32_t>(r), time, BubbleCause::overhead, Purpose::none}] =
          analysis.ranks[r][time] * analysis.seconds();
  for (const BubbleStretch& s : analysis.stretches) {
    if (static_cast<std::size_t>(s.rank) >= workers) continue;
    if (s.time == TimeClass::optimizer) continue;  // offloaded: already part of the rank's optimizer time
    seconds[{s.rank, s.time, s.cause, s.purpose}] += static_cast<double>(s.length_ns()) * 1e-9;
  }
  return seconds;
}

std::string reason(TimeClass time, BubbleCause cause, Purpose purpose) {
  switch (time) {
    case TimeClass::compute:
    case TimeClass::recompute:
    case TimeClass::optimizer: return std::string(name_of(time));
    case TimeClass::bubble: {
      std::string text = "bubble, " + std::string(name_of(cause));
      if (purpose != Purpose::none) text.append(" of ").append(name_of(purpose));
      return text;
    }
    case TimeClass::tensor:
    case TimeClass::pipeline:
    case TimeClass::data:
    case TimeClass::zero: return "exposed communication of " + std::string(name_of(purpose));
    case TimeClass::other: return std::string(name_of(cause));
  }
  return "?";
}

std::string in_words(const GapItem& item) {
  const double ms = std::abs(item.seconds) * 1e3;
  return fmt::format("rank {}: {} {:.{}f} ms {}, {}{:.1f} points", item.rank,
                     reason(item.time, item.cause, item.purpose), ms, ms < 1 ? 3 : 2,
                     item.seconds < 0 ? "less" : "more", item.points < 0 ? "−" : "+", std::abs(item.points));
}

}  // namespace

std::vector<GapItem> explain_gap(const StepAnalysis& predicted, const StepAnalysis& measured) {
  std::vector<GapItem> items;
  if (predicted.ranks.empty() || predicted.ranks.size() != measured.ranks.size() || predicted.range.empty())
    return items;
  const std::size_t ranks = predicted.ranks.size();
  const std::size_t workers =
      measured.workers > 0 ? std::min(static_cast<std::size_t>(measured.workers), ranks) : ranks;
  std::map<Key, double> difference = seconds_by_reason(measured, workers);
  for (const auto& [key, seconds] : seconds_by_reason(predicted, workers)) difference[key] -= seconds;
  const double whole = predicted.seconds() * static_cast<double>(workers);
  for (const auto& [key, seconds] : difference) {
    if (seconds == 0) continue;
    GapItem item;
    std::tie(item.rank, item.time, item.cause, item.purpose) = key;
    item.seconds = seconds;
    item.points = 100.0 * seconds / whole;
    item.words = in_words(item);
    items.push_back(item);
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const GapItem& a, const GapItem& b) { return std::abs(a.seconds) > std::abs(b.seconds); });
  return items;
}

}  // namespace rankscope
