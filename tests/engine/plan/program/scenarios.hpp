// Small scenarios for tests of programs.
#pragma once
#include <algorithm>

#include "engine/plan/program/compile.hpp"

namespace rankscope {

inline Scenario small_scenario(std::string schedule, int data, int pipeline, int micro_batches, bool tied = true) {
  Scenario s;
  s.title = "small";
  s.model = {"gpt", 4, 16, 2, 8, 32, tied, 0.0};
  s.plan.data = data;
  s.plan.pipeline = pipeline;
  s.plan.schedule = std::move(schedule);
  s.plan.micro_batches = micro_batches;
  s.train.global_batch = 2 * data * micro_batches;
  s.train.clip = 1.0;
  if (s.plan.updates_each_micro_batch()) {  // it cannot be combined with a tied embedding or clipping
    s.model.tied = false;
    s.train.clip = 0;
    s.plan.weight_stashing = true;
  }
  return s;
}

/// The same with any schedule: two chunks per stage if it supports several, and at least one block for each chunk.
inline Scenario chunked_scenario(std::string schedule, int data, int pipeline, int micro_batches, bool tied = true,
                                 int virtual_stages = 2) {
  const bool several = schedule == "interleaved" || schedule == "zb-v";
  Scenario s = small_scenario(std::move(schedule), data, pipeline, micro_batches, tied);
  s.plan.virtual_stages = several ? virtual_stages : 1;
  s.model.layers = std::max(s.model.layers, s.plan.chunks());
  return s;
}

}  // namespace rankscope
