// Small scenarios for tests of programs.
#pragma once
#include "engine/program/compile.hpp"

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
  return s;
}

}  // namespace rankscope
