// The references for a puzzle's order: the known schedules, and a lower bound on every order's length.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/lesson/puzzle/puzzle.hpp"
#include "engine/op/contains.hpp"
#include "engine/plan/schedule/builder.hpp"

namespace rankscope {
namespace {

constexpr ScheduleKind whole_schedules[] = {ScheduleKind::one_f_one_b, ScheduleKind::gpipe, ScheduleKind::naive};
constexpr ScheduleKind split_schedules[] = {ScheduleKind::zb_h1, ScheduleKind::zb_h2, ScheduleKind::zb_2p};

PipelineShape shape_of(const PuzzleRules& rules) {
  return {.stages = rules.stages, .micro_batches = rules.micro_batches};
}

/// Splits every backward into its two halves, one directly after the other.
ChunkSchedule in_halves(ChunkSchedule schedule) {
  for (auto& order : schedule.order) {
    std::vector<OpId> split;
    for (const OpId op : order) {
      const OpFields f = op.fields();
      if (f.kind != OpKind::backward) {
        split.push_back(op);
        continue;
      }
      split.push_back(input_gradient_of(f.chunk, f.micro_batch));
      split.push_back(weight_gradient_of(f.chunk, f.micro_batch));
    }
    order = std::move(split);
  }
  return schedule;
}

}  // namespace

ChunkSchedule known_solution(ScheduleKind schedule, const PuzzleRules& rules) {
  const bool whole = contains(whole_schedules, schedule);
  ChunkSchedule known = make_schedule(schedule, shape_of(rules));
  if (rules.halves) return whole ? in_halves(std::move(known)) : known;
  if (splits_backward(known))
    throw std::invalid_argument(fmt::format("the schedule '{}' splits backwards", word_of(schedule)));
  return known;
}

std::vector<PuzzlePar> known_solutions(const PuzzleRules& rules) {
  std::vector<ScheduleKind> schedules(std::begin(whole_schedules), std::end(whole_schedules));
  if (rules.halves) schedules.insert(schedules.end(), std::begin(split_schedules), std::end(split_schedules));
  std::vector<PuzzlePar> known;
  for (const ScheduleKind schedule : schedules) {
    Puzzle board(rules);
    if (board.fill(known_solution(schedule, rules))) known.push_back({schedule, board.layout().end});
  }
  std::stable_sort(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.units < b.units; });
  return known;
}

std::int64_t least_units(const PuzzleRules& rules) {
  const std::int64_t m = rules.micro_batches, k = rules.kept > 0 ? std::min<std::int64_t>(rules.kept, m) : m;
  const std::int64_t turns = (m - 1) / k, together = (m - 1) % k;  // of the last turn, those beside its first one
  std::int64_t least = 0;
  for (std::int64_t s = 0; s < rules.stages; ++s) {
    const std::int64_t ahead = rules.stages - s;  // stages to the last one, including this one
    if (rules.halves) {
      // After its last input gradient stage s has at least one W, and the stages before it have an I each.
      const std::int64_t way = 2 * ahead, after = std::max<std::int64_t>(s, 1);
      least = std::max({least, s + 3 * m, s + turns * (way + 1) + way + 2 * together + after});
    } else {
      least = std::max(least, s + turns * 3 * ahead + 3 * ahead + 3 * together + 2 * s);
    }
  }
  return least;
}

}  // namespace rankscope
