#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/plan/schedule/builder.hpp"

namespace rankscope {

ChunkSchedule interleaved_schedule(PipelineShape shape) {
  const int p = shape.stages, v = shape.virtual_stages, m = shape.micro_batches;
  if (m % p != 0)
    throw std::invalid_argument(fmt::format(
        "interleaved takes micro-batches in groups as large as the pipeline, and {} is no multiple of {}", m, p));
  ChunkSchedule schedule = empty_schedule(ScheduleKind::interleaved, shape);
  for (int stage = 0; stage < p; ++stage) {
    auto& order = schedule.order[stage];
    // A group of p micro-batches passes all of the stage's chunks before the next group begins; backwards use the
    // chunks in reverse order.
    const auto micro_batch_at = [&](int i) { return i / (p * v) * p + i % p; };
    const auto level_at = [&](int i) { return i / p % v; };
    int forward = 0, backward = 0;
    const auto run_forward = [&] {
      order.push_back(forward_of(level_at(forward) * p + stage, micro_batch_at(forward)));
      ++forward;
    };
    const auto run_backward = [&] {
      order.push_back(backward_of((v - 1 - level_at(backward)) * p + stage, micro_batch_at(backward)));
      ++backward;
    };
    // With one chunk a stage this is 1F1B, which needs only half as many warm-up forwards.
    const int ahead = v == 1 ? p - stage - 1 : 2 * (p - stage - 1) + (v - 1) * p;
    const int warm_up = std::min(ahead, m * v);
    while (forward < warm_up) run_forward();
    while (forward < m * v) {
      run_forward();
      run_backward();
    }
    while (backward < m * v) run_backward();
  }
  return schedule;
}

}  // namespace rankscope
