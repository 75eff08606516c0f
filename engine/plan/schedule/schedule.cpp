#include "engine/plan/schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace rankscope {
namespace {

struct Entry {
  ScheduleKind kind;
  ChunkSchedule (*build)(PipelineShape);
  int most_virtual_stages;  ///< 0: any number
};
constexpr std::array<Entry, 9> table{{
    {ScheduleKind::naive, naive_schedule, 1},
    {ScheduleKind::gpipe, gpipe_schedule, 1},
    {ScheduleKind::one_f_one_b, one_f_one_b_schedule, 1},
    {ScheduleKind::interleaved, interleaved_schedule, 0},
    {ScheduleKind::zb_h1, zb_h1_schedule, 1},
    {ScheduleKind::zb_h2, zb_h2_schedule, 1},
    {ScheduleKind::zb_2p, zb_2p_schedule, 1},
    {ScheduleKind::zb_v, zb_v_schedule, 2},
    {ScheduleKind::one_f_one_b_async, one_f_one_b_async_schedule, 1},
}};
static_assert(table.size() + 1 == word_table<ScheduleKind>.size(), "all schedules but those written by hand");

}  // namespace

bool is_cyclic(const std::vector<int>& stage_of_chunk, int stages) {
  for (std::size_t chunk = 0; chunk < stage_of_chunk.size(); ++chunk)
    if (stage_of_chunk[chunk] != static_cast<int>(chunk) % stages) return false;
  return true;
}

ChunkSchedule make_schedule(Choice<ScheduleKind> kind, PipelineShape shape) {
  const auto entry = std::find_if(table.begin(), table.end(), [&](const Entry& one) { return kind == one.kind; });
  if (entry == table.end())
    throw std::invalid_argument("the schedule '" + kind.name() + "' is not made from a shape; give its order");
  if (entry->most_virtual_stages > 0 && shape.virtual_stages > entry->most_virtual_stages)
    throw std::invalid_argument(
        fmt::format("'{}' runs at most {} chunks on a stage, not {}; 'interleaved' runs any number", kind.name(),
                    entry->most_virtual_stages, shape.virtual_stages));
  return entry->build(shape);
}

}  // namespace rankscope
