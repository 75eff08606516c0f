#include "engine/plan/schedule/unit_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace rankscope {
namespace {

constexpr std::int64_t pending = -1;

/// Ends of forwards and of input gradients (or whole backwards), by chunk and micro-batch.
class Ends {
 public:
  explicit Ends(PipelineShape shape) : shape_(shape) {
    const auto cells = static_cast<std::size_t>(shape.chunks()) * static_cast<std::size_t>(shape.micro_batches);
    forward_.assign(cells, pending);
    gradient_.assign(cells, pending);
  }

  /// The time when all inputs of the op are ready; or pending.
  std::int64_t ready(const OpFields& f) {
    std::int64_t latest = 0;
    const NeededPasses needs = needs_of(f, shape_.chunks());
    for (const NeededPass& need : needs.list()) {
      latest = at(need.is_forward ? forward_ : gradient_, need.chunk, need.micro_batch);
      if (latest == pending) return pending;
    }
    return latest;
  }
  void set(const OpFields& f, std::int64_t end) {
    if (f.kind == OpKind::weight_gradient) return;
    at(f.kind == OpKind::forward ? forward_ : gradient_, f.chunk, f.micro_batch) = end;
  }

 private:
  std::int64_t& at(std::vector<std::int64_t>& ends, int chunk, int micro_batch) {
    return ends.at(static_cast<std::size_t>(chunk) * static_cast<std::size_t>(shape_.micro_batches) +
                   static_cast<std::size_t>(micro_batch));
  }
  PipelineShape shape_;
  std::vector<std::int64_t> forward_, gradient_;
};

/// `units(kind)`: the duration of an op of that kind, at least 1.
template <class Units>
UnitLayout lay_out_in(const ChunkSchedule& schedule, Units units) {
  const std::size_t stages = schedule.order.size();
  Ends ends(schedule.shape);
  UnitLayout layout;
  layout.begin.resize(stages);
  std::vector<std::int64_t> free(stages, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < stages; ++s)
      while (layout.begin[s].size() < schedule.order[s].size()) {
        const OpFields f = schedule.order[s][layout.begin[s].size()].fields();
        const std::int64_t ready = ends.ready(f);
        if (ready == pending) break;
        layout.begin[s].push_back(std::max(free[s], ready));
        free[s] = layout.begin[s].back() + units(f.kind);
        ends.set(f, free[s]);
        moved = true;
      }
  }
  for (std::size_t s = 0; s < stages; ++s)
    if (layout.begin[s].size() < schedule.order[s].size())
      throw std::invalid_argument(fmt::format("the schedule '{}' never gets to {}", word_of(schedule.kind),
                                              to_token(schedule.order[s][layout.begin[s].size()])));
  if (stages > 0) layout.end = *std::max_element(free.begin(), free.end());
  return layout;
}

constexpr double units_of_longest = 1 << 20;

}  // namespace

NeededPasses needs_of(const OpFields& op, int chunks) {
  NeededPasses needs;
  if (op.kind == OpKind::forward) {
    if (op.chunk > 0) needs.add({true, op.chunk - 1, op.micro_batch});
  } else if (op.kind == OpKind::weight_gradient) {
    needs.add({false, op.chunk, op.micro_batch});
  } else {
    needs.add({true, op.chunk, op.micro_batch});
    if (op.chunk + 1 < chunks) needs.add({false, op.chunk + 1, op.micro_batch});
  }
  return needs;
}

UnitLayout lay_out(const ChunkSchedule& schedule) { return lay_out_in(schedule, units_of); }

UnitLayout lay_out_in_pass_times(const ChunkSchedule& schedule) {
  const PassTimes& times = schedule.shape.times;
  const double longest = std::max({times.forward, times.input_gradient, times.weight_gradient});
  const auto units = [&](double time) {
    return std::max<std::int64_t>(1, std::llround(time / longest * units_of_longest));
  };
  const std::int64_t forward = units(times.forward), input = units(times.input_gradient),
                     weight = units(times.weight_gradient);
  return lay_out_in(schedule, [&](OpKind kind) {
    return kind == OpKind::forward           ? forward
           : kind == OpKind::input_gradient  ? input
           : kind == OpKind::weight_gradient ? weight
                                             : input + weight;
  });
}

std::vector<UnitOp> unit_ops(const ChunkSchedule& schedule) {
  const UnitLayout layout = lay_out(schedule);
  std::vector<int> rounds, chunks_on(schedule.order.size(), 0);  // [chunk], [stage]
  for (const int stage : schedule.stage_of_chunk) rounds.push_back(chunks_on[static_cast<std::size_t>(stage)]++);
  std::vector<UnitOp> ops;
  for (std::size_t s = 0; s < schedule.order.size(); ++s)
    for (std::size_t i = 0; i < schedule.order[s].size(); ++i) {
      const OpId op = schedule.order[s][i];
      const std::int64_t begin = layout.begin[s][i];
      ops.push_back({op, static_cast<int>(s), rounds[static_cast<std::size_t>(op.fields().chunk)], begin,
                     begin + units_of(op.kind())});
    }
  return ops;
}

double ideal_bubble(const ChunkSchedule& schedule) {
  std::int64_t work = 0;
  for (const auto& order : schedule.order)
    for (const OpId id : order) work += units_of(id.kind());
  const std::int64_t capacity = lay_out(schedule).end * static_cast<std::int64_t>(schedule.order.size());
  return capacity > 0 ? static_cast<double>(capacity - work) / static_cast<double>(capacity) : 0.0;
}

}  // namespace rankscope
