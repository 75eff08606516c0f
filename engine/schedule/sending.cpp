#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "engine/schedule/unit_layout.hpp"

namespace rankscope {
namespace {

/// The op that waits for what `f` computes, if it is on another stage.
std::optional<OpId> consumer_elsewhere(const ChunkSchedule& schedule, const OpFields& f) {
  OpFields consumer = f;
  consumer.chunk += f.kind == OpKind::forward ? 1 : -1;
  const auto stage_of = [&](int chunk) { return schedule.stage_of_chunk[static_cast<std::size_t>(chunk)]; };
  if (f.kind == OpKind::weight_gradient || consumer.chunk < 0 || consumer.chunk >= schedule.shape.chunks() ||
      stage_of(consumer.chunk) == stage_of(f.chunk))
    return std::nullopt;
  return OpId::of(consumer);
}

/// True when all messages of one direction from any stage go to one other stage, which takes them in the order in which
/// they are computed. Of an order written by hand nobody knows.
bool is_straight(const ChunkSchedule& schedule) {
  if (schedule.name == "by-hand") return false;
  for (int chunk = 0; chunk < schedule.shape.chunks(); ++chunk)
    if (schedule.stage_of_chunk[static_cast<std::size_t>(chunk)] != chunk % schedule.shape.stages) return false;
  return true;
}

}  // namespace

std::vector<Sending> sending_order(const ChunkSchedule& schedule, int stage) {
  const auto& order = schedule.order[static_cast<std::size_t>(stage)];
  const bool straight = is_straight(schedule);
  UnitLayout layout;
  std::map<OpId, std::int64_t> begin;
  if (!straight) {
    layout = lay_out(schedule);
    for (std::size_t s = 0; s < schedule.order.size(); ++s)
      for (std::size_t i = 0; i < schedule.order[s].size(); ++i) begin[schedule.order[s][i]] = layout.begin[s][i];
  }
  std::vector<std::tuple<bool, std::int64_t, Sending>> messages;  // direction, when it is taken
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    const OpFields f = order[static_cast<std::size_t>(i)].fields();
    const auto consumer = consumer_elsewhere(schedule, f);
    if (!consumer) continue;
    std::int64_t taken = i;
    int after = i;
    if (!straight) {
      taken = begin.at(*consumer);
      const auto& own = layout.begin[static_cast<std::size_t>(stage)];
      const auto later = std::lower_bound(own.begin(), own.end(), taken);  // the first that does not begin before
      after = std::max(i, static_cast<int>(later - own.begin()) - 1);
    }
    messages.emplace_back(f.kind != OpKind::forward, taken, Sending{i, after});
  }
  std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  std::vector<Sending> sendings;
  for (const auto& [backward, taken, sending] : messages) sendings.push_back(sending);
  return sendings;
}

}  // namespace rankscope
