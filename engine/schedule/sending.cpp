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

/// True when all messages of one direction from any stage go to one other stage.
bool is_straight(const ChunkSchedule& schedule) {
  for (int chunk = 0; chunk < schedule.shape.chunks(); ++chunk)
    if (schedule.stage_of_chunk[static_cast<std::size_t>(chunk)] != chunk % schedule.shape.stages) return false;
  return true;
}

}  // namespace

std::vector<Sending> sending_order(const ChunkSchedule& schedule, int stage) {
  const auto& order = schedule.order[static_cast<std::size_t>(stage)];
  // By direction, by the consumer's begin, by own position.
  std::vector<std::tuple<bool, std::int64_t, int>> messages;
  std::map<OpId, std::int64_t> begin;
  if (!is_straight(schedule)) {
    const UnitLayout layout = lay_out(schedule);
    for (std::size_t s = 0; s < schedule.order.size(); ++s)
      for (std::size_t i = 0; i < schedule.order[s].size(); ++i) begin[schedule.order[s][i]] = layout.begin[s][i];
  }
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    const OpFields f = order[static_cast<std::size_t>(i)].fields();
    if (const auto consumer = consumer_elsewhere(schedule, f))
      messages.emplace_back(f.kind != OpKind::forward, begin.empty() ? i : begin.at(*consumer), i);
  }
  std::sort(messages.begin(), messages.end());
  std::vector<Sending> sendings;
  bool backward = false;
  int after = 0;
  for (const auto& [is_backward, when, op] : messages) {
    after = is_backward == backward ? std::max(after, op) : op;
    backward = is_backward;
    sendings.push_back({op, after});
  }
  return sendings;
}

}  // namespace rankscope
