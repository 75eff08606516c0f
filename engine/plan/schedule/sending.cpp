#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "engine/plan/schedule/unit_layout.hpp"

namespace rankscope {
namespace {

/// The op that waits for the result of `f`, if it is on another stage.
std::optional<OpId> consumer_elsewhere(const ChunkSchedule& schedule, const OpFields& f) {
  OpFields consumer = f;
  consumer.chunk += f.kind == OpKind::forward ? 1 : -1;
  const auto stage_of = [&](int chunk) { return schedule.stage_of_chunk[static_cast<std::size_t>(chunk)]; };
  if (f.kind == OpKind::weight_gradient || consumer.chunk < 0 || consumer.chunk >= schedule.shape.chunks() ||
      stage_of(consumer.chunk) == stage_of(f.chunk))
    return std::nullopt;
  return OpId::of(consumer);
}

/// True if all messages of one direction from any stage are sent to one other stage, which receives them in the order
/// in which they are computed. For an order written by hand this is unknown.
bool is_straight(const ChunkSchedule& schedule) {
  return schedule.kind != ScheduleKind::by_hand && is_cyclic(schedule.stage_of_chunk, schedule.shape.stages);
}

/// The position of each op, and its begin on the schedule's own time line.
struct Begun {
  int stage = 0, position = 0;
  std::int64_t at = 0;
};

}  // namespace

// No plan with these orders deadlocks. Let ops begin as on the time line, and let a message be received between the end
// of the op that computes it and the begin of the op that needs it, when its receive is posted. In program order all
// ops before either end of it then happen earlier, and all ops after it happen later. Dependencies point forward in
// program order, so that the reuse of memory never makes an op wait for a later one, on any rank.
std::vector<Sending> sending_order(const ChunkSchedule& schedule, int stage) {
  const auto& order = schedule.order[static_cast<std::size_t>(stage)];
  const bool straight = is_straight(schedule);
  const UnitLayout layout = lay_out_in_pass_times(schedule);
  std::map<OpId, Begun> begun;
  for (std::size_t s = 0; s < schedule.order.size(); ++s)
    for (std::size_t i = 0; i < schedule.order[s].size(); ++i)
      begun[schedule.order[s][i]] = {static_cast<int>(s), static_cast<int>(i), layout.begin[s][i]};
  const auto& own = layout.begin[static_cast<std::size_t>(stage)];
  std::vector<std::tuple<bool, std::int64_t, Sending>> messages;  // direction, its order in the lane
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    const OpFields f = order[static_cast<std::size_t>(i)].fields();
    const auto consumer = consumer_elsewhere(schedule, f);
    if (!consumer) continue;
    const Begun& needed = begun.at(*consumer);
    // If a lane serves one neighbour, the message is received as soon as its receive is posted, one op ahead.
    std::int64_t taken = needed.at;
    if (straight && needed.position > 0)
      taken = layout.begin[static_cast<std::size_t>(needed.stage)][static_cast<std::size_t>(needed.position) - 1];
    const auto later = std::lower_bound(own.begin(), own.end(), taken);  // the first that does not begin before
    const int after = std::max(i, static_cast<int>(later - own.begin()) - 1);
    messages.emplace_back(f.kind != OpKind::forward, straight ? i : taken, Sending{i, after});
  }
  std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  std::vector<Sending> sendings;
  for (const auto& [backward, place, sending] : messages) sendings.push_back(sending);
  return sendings;
}

}  // namespace rankscope
