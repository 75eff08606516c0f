#include "engine/plan/program/compile.hpp"

#include <algorithm>

#include "engine/op/words.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {

PipelineShape shape_of(const PlanSpec& plan) {
  PipelineShape shape{plan.pipeline, plan.virtual_stages, plan.micro_batches};
  if (const auto t = listed_times(plan.pass_times)) shape.times = {(*t)[0], (*t)[1], (*t)[2], (*t)[3], (*t)[4]};
  return shape;
}

ChunkSchedule schedule_of(const PlanSpec& plan) {
  return plan.schedule == ScheduleKind::by_hand ? by_hand_schedule(plan.order, shape_of(plan))
                                                : make_schedule(plan.schedule, shape_of(plan));
}

namespace {

/// An alternative to an invalid order by hand.
std::string without_order(const PlanSpec& plan) {
  const bool one_chunk = plan.virtual_stages == 1, in_groups = plan.micro_batches % plan.pipeline == 0;
  return std::string("; correct it, or remove order and give ") + (one_chunk   ? "schedule = \"1f1b\""
                                                                   : in_groups ? "schedule = \"interleaved\""
                                                                               : "schedule = \"1f1b\" and virtual = 1");
}

}  // namespace

StepProgram compile(const Scenario& scenario) {
  const PlanSpec& plan = scenario.plan;
  if (plan.chunks() > scenario.model.layers && !listed_layers(plan.stages))
    throw PlanError(fmt::format("plan.pipeline × plan.virtual is {} but the model has {}; each chunk needs one",
                                plan.chunks(), counted(scenario.model.layers, "layer")));
  if (plan.tensor > 1 && optimizer_rule(scenario.train.optimizer).grain != 1)
    throw PlanError(
        fmt::format("plan.tensor is {}, but {} updates elements of a tensor together, and tensor ranks have parts of "
                    "it; use plan.tensor = 1 or another optimizer",
                    plan.tensor, scenario.train.optimizer));
  if (plan.zero > 0 && optimizer_rule(scenario.train.optimizer).grain == 0)
    throw PlanError(
        fmt::format("plan.zero is {}, but {} updates a tensor only as a whole and ZeRO cuts tensors; use plan.zero = 0 "
                    "or another optimizer",
                    plan.zero, scenario.train.optimizer));
  StepProgram step;
  step.scenario = scenario;
  step.grid = plan.grid();
  bool is_order = false;
  const char* key = "plan.tensor: ";
  try {
    step.model = make_model(scenario);
    key = "plan.stages: ";
    step.first_segment = split_as_planned(step.model, plan);
    is_order = plan.schedule == ScheduleKind::by_hand;
    key = is_order ? "plan.order: " : "plan.schedule: ";
    step.schedule = schedule_of(plan);
  } catch (const std::invalid_argument& e) {
    throw PlanError(key + std::string(e.what()) + (is_order ? without_order(plan) : ""));
  }
  const bool embedding_alone = plan.chunks() > 1 && step.first_segment[1] <= step.model.segments_before_blocks();
  if (embedding_alone && splits_backward(step.schedule))
    throw PlanError(
        fmt::format("plan.stages: the first chunk has the embedding alone, and so no input gradient that the schedule "
                    "'{}' could order; give it a layer",
                    word_of(step.schedule.kind)));
  const int first_home = step.schedule.stage_of_chunk.front(), last_home = step.schedule.stage_of_chunk.back();
  if (step.model.spec.tied && first_home != last_home &&
      std::max(first_home, last_home) - std::min(first_home, last_home) != plan.pipeline - 1)
    throw PlanError(
        fmt::format("plan.order: first and last chunk are on stages {} and {}, but the gradient of a tied embedding is "
                    "summed between stages 0 and {}; put both there, or both on one stage, or tied = false",
                    first_home, last_home, plan.pipeline - 1));
  return step;
}

bool StepProgram::updates(int rank) const {
  if (grid.servers > 0) return grid.is_server(rank);
  return !scenario.plan.has_main_device() || grid.coordinates_of(rank).data == 0;
}

std::optional<int> StepProgram::arrivals_ahead() const {
  if (grid.servers == 0 || scenario.plan.staleness == 0) return std::nullopt;
  return scenario.plan.staleness - 1;
}

namespace {

RankProgram place_and_order(RankProgram program, const StepProgram& step) {
  program = add_checkpoint(std::move(program), step);
  program = plant_fault(std::move(program), step);
  program = place_buffers(std::move(program));
  return plant_missing_edge(add_edges(std::move(program)), step);
}

}  // namespace

RankProgram StepProgram::program_for(int rank) const {
  if (scenario.model.is_collective()) return place_and_order(collective_alone(*this, rank), *this);
  if (grid.is_server(rank))
    return place_and_order(answer_workers(add_optimizer(serve(*this, rank), *this), *this), *this);
  RankProgram program = expand(*this, rank);
  program = add_tensor_collectives(std::move(program), *this);
  program = add_batches(std::move(program), *this);
  program = scatter_batches(std::move(program), *this);
  program = add_pipeline_transfers(std::move(program), *this);
  program = add_gradient_reduction(std::move(program), *this);
  program = shard_gradients(std::move(program), *this);
  program = push_and_pull(std::move(program), *this);
  program = add_optimizer(std::move(program), *this);
  program = offload_optimizer(std::move(program), *this);
  program = replicate_parameters(std::move(program), *this);
  program = add_recomputation(std::move(program), *this);
  program = gather_parameters(std::move(program), *this);
  return place_and_order(stash_weights(std::move(program), *this), *this);
}

namespace {

/// For identical replicas: the program of a rank of the first one, converted to the same rank of replica `data`.
RankProgram as_in_replica(RankProgram program, int data, const RankGrid& grid) {
  const int shift = data * grid.tensor;  // data ranks of a stage are adjacent, tensor ranks within them
  program.rank += shift;
  for (Op& op : program.ops)
    if (op.peer >= 0) op.peer += shift;
  return program;
}

}  // namespace

std::vector<RankProgram> StepProgram::all_programs() const {
  const PlanSpec& plan = scenario.plan;
  // Shards, the ranks that write checkpoints, main devices, servers and roots make data ranks differ.
  const bool identical = grid.data > 1 && !scenario.model.is_collective() && grid.servers == 0 &&
                         plan.data_parallel == DataParallel::all_reduce && plan.zero == 0 &&
                         scenario.train.checkpoint_every == 0 && scenario.fault.plant == Plant::none;
  std::vector<RankProgram> programs;
  programs.reserve(static_cast<std::size_t>(grid.size()));
  for (int rank = 0; rank < grid.size(); ++rank) {
    const Coordinates at = grid.coordinates_of(rank);
    if (identical && at.data > 0)
      programs.push_back(as_in_replica(programs[grid.rank_of({at.tensor, 0, at.pipeline})], at.data, grid));
    else
      programs.push_back(program_for(rank));
  }
  return programs;
}

}  // namespace rankscope
