#include "engine/schedule/schedule.hpp"

#include <array>
#include <stdexcept>

namespace rankscope {
namespace {

struct Entry {
  std::string_view name;
  ChunkSchedule (*build)(PipelineShape);
};
constexpr std::array<Entry, 3> table{{
    {"naive", naive_schedule},
    {"gpipe", gpipe_schedule},
    {"1f1b", one_f_one_b_schedule},
}};

}  // namespace

std::vector<std::string_view> schedule_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : table) names.push_back(entry.name);
  return names;
}

ChunkSchedule make_schedule(std::string_view name, PipelineShape shape) {
  for (const Entry& entry : table)
    if (entry.name == name) return entry.build(shape);
  std::string known;
  for (const Entry& entry : table) known.append(known.empty() ? "" : ", ").append(entry.name);
  throw std::invalid_argument("unknown schedule '" + std::string(name) + "'; known: " + known);
}

}  // namespace rankscope
