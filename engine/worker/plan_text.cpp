#include "engine/worker/plan_text.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "engine/base/host/memory.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/program/dry_run.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

/// "embedding, blocks 0–1" for the segments of a chunk; for a resnet "stem, blocks 0–7".
std::string chunk_words(const StepProgram& step, int chunk) {
  const auto begin = static_cast<std::size_t>(step.first_segment[chunk]);
  const auto end = static_cast<std::size_t>(step.first_segment[chunk + 1]);
  std::vector<std::string> words;
  int first = -1, last = -1;
  for (std::size_t s = begin; s < end; ++s)
    if (const int block = step.model.segments[s].block; block >= 0) {
      if (first < 0) first = block;
      last = block;
    }
  if (begin == 0) words.push_back(step.model.spec.front_word());
  if (first >= 0)
    words.push_back(first == last ? fmt::format("block {}", first) : fmt::format("blocks {}–{}", first, last));
  if (end == step.model.segments.size()) words.push_back(step.model.spec.end_word());
  return fmt::format("{}", fmt::join(words, ", "));
}

/// The optimizer, its description, and the bytes of its states.
std::string optimizer_words(const StepProgram& step) {
  const OptimizerRule& rule = optimizer_rule(step.scenario.train.optimizer);
  const DType type = step.model.type;
  std::int64_t bytes = 0;
  for (const ParameterSpec& parameter : step.model.parameters)
    for (const StateSpec& state : states_of(rule, UpdateTarget::whole(type, accumulation_type(type), parameter.whole)))
      bytes += state.shape.elements() * bytes_of(state.type);
  return fmt::format("  optimizer {}: {}; its states take {:.3g} bytes a parameter\n", rule.name, rule.what,
                     static_cast<double>(bytes) / static_cast<double>(step.model.parameter_count()));
}

}  // namespace

std::string plan_text(const StepProgram& step) {
  const PlanSpec& plan = step.scenario.plan;
  if (step.scenario.model.is_collective())
    return fmt::format("{}: {}\n", counted(step.grid.size(), "rank"), task_words(step));
  std::string text = fmt::format("{}: data {} × tensor {} × pipeline {}; schedule {}, {} of {} a rank\n",
                                 counted(step.grid.size(), "rank"), plan.data, plan.tensor, plan.pipeline,
                                 plan.schedule.name(), counted(plan.micro_batches, "micro-batch", ending_es),
                                 counted(step.model.micro_batch_size, "sample"));
  text += optimizer_words(step);
  const bool counts = !is_folded(step);  // else the programs are too long to be built only for this
  for (int stage = 0; stage < step.schedule.shape.stages; ++stage) {
    std::string chunks;
    for (int chunk = 0; chunk < step.schedule.shape.chunks(); ++chunk)
      if (step.schedule.stage_of_chunk[chunk] == stage)
        chunks += (chunks.empty() ? "" : " and ") + chunk_words(step, chunk);
    text += fmt::format("  stage {}: {}", stage, chunks);
    if (counts) {
      const auto lanes = step.program_for(step.grid.rank_of({0, 0, stage})).lanes();
      text += "; ops:";
      for (std::size_t lane = 0; lane < lane_count; ++lane)
        if (!lanes[lane].empty()) text += fmt::format(" {} {}", name_of(static_cast<Lane>(lane)), lanes[lane].size());
    }
    text += "\n";
  }
  return text;
}

double memory_for_ops() {
  const AvailableMemory available = available_memory();
  return available.limited_by.empty() ? std::numeric_limits<double>::infinity() : static_cast<double>(available.bytes);
}

void check_runs(const StepProgram& step, double most_bytes) {
  check_size(step, most_bytes);
  if (const auto deadlock = find_deadlock(step.all_programs(), step.grid))
    throw PlanError(step.scenario.plan.schedule == ScheduleKind::by_hand
                        ? "plan.order: " + *deadlock + "; choose an order of the lanes without a circular wait"
                        : "plan.schedule: " + *deadlock + "; schedule = \"1f1b\" runs");
}

}  // namespace rankscope
