#include "engine/plan/schedule/schedule.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace rankscope {
namespace {

struct Entry {
  std::string_view name;
  ChunkSchedule (*build)(PipelineShape);
  int most_virtual_stages;  ///< 0: any number
};
constexpr std::array<Entry, 9> table{{
    {"naive", naive_schedule, 1},
    {"gpipe", gpipe_schedule, 1},
    {"1f1b", one_f_one_b_schedule, 1},
    {"interleaved", interleaved_schedule, 0},
    {"zb-h1", zb_h1_schedule, 1},
    {"zb-h2", zb_h2_schedule, 1},
    {"zb-2p", zb_2p_schedule, 1},
    {"zb-v", zb_v_schedule, 2},
    {"1f1b-async", one_f_one_b_async_schedule, 1},
}};

}  // namespace

std::vector<std::string_view> schedule_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : table) names.push_back(entry.name);
  return names;
}

ChunkSchedule make_schedule(std::string_view name, PipelineShape shape) {
  for (const Entry& entry : table)
    if (entry.name == name) {
      if (entry.most_virtual_stages > 0 && shape.virtual_stages > entry.most_virtual_stages)
        throw std::invalid_argument(
            fmt::format("'{}' runs at most {} chunks on a stage, not {}; 'interleaved' runs any number", name,
                        entry.most_virtual_stages, shape.virtual_stages));
      return entry.build(shape);
    }
  std::string known;
  for (const Entry& entry : table) known.append(known.empty() ? "" : ", ").append(entry.name);
  throw std::invalid_argument("unknown schedule '" + std::string(name) + "'; known: " + known);
}

}  // namespace rankscope
