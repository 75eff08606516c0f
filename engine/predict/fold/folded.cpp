#include "engine/predict/fold/folded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/predict/fold/folded_costs.hpp"
#include "engine/predict/fold/plan_folder.hpp"

namespace rankscope {
namespace {

class Folded {
 public:
  Folded(const Scenario& scenario, FoldMemo& memo) : plan_(scenario, memo), costs_(plan_) {}

  /// The spans of one stage's ranks, all identical.
  std::vector<FoldedSpan> timeline(int stage) {
    drawn_stage_ = stage;
    lay_out_everybody();
    draw_end();
    return std::move(spans_);
  }

  FoldedStep run() {
    account_for_passes();
    lay_out_everybody();
    step_.seconds = step_seconds(plan_, costs_, end_);
    account_for_the_end();
    step_.memory = plan_.memory();
    return std::move(step_);
  }

  double bubble_of(const PassTimes& of_a_stage) {
    costs_.replace(of_a_stage);
    lay_out();
    double longest = 0;
    for (std::size_t s = 0; s < end_.size(); ++s) longest = std::max(longest, end_[s] - begin_[s]);
    const double work = of_a_stage.forward + of_a_stage.input_gradient + of_a_stage.weight_gradient;
    return 1 - schedule_.shape.micro_batches * work / longest;
  }

  PlanBound bound() {
    // Sums in another order may differ in their last digits.
    constexpr double rounding = 1e-12;
    PlanBound bound;
    bound.seconds = step_seconds(plan_, costs_, earliest_ends(plan_, costs_)) * (1 - rounding);
    bound.bytes = bytes_of_fullest(plan_.memory(), cluster_);
    return bound;
  }

 private:
  void draw(OpId op, double begin, double end) { spans_.push_back({op, begin, end}); }
  int stage_of(int chunk) const { return plan_.stage_of(chunk); }

  /// The straggler's replica determines when all the others' reductions begin. Its tensor group waits for it at every
  /// exchange, and so computes at its speed. The shares are those of the other replicas: their waiting is bubble.
  void lay_out_everybody() {
    if (scenario_.fault.slow_rank >= 0) {
      const int slow = plan_.grid.coordinates_of(scenario_.fault.slow_rank).pipeline;
      for (int c = 0; c < costs_.chunks(); ++c)
        if (stage_of(c) == slow) costs_.slow_down(c, scenario_.fault.slow_factor);
    }
    lay_out();
  }

  void lay_out() {
    const auto stages = schedule_.stages.size();
    const int chunks = plan_.chunks();
    const auto m = static_cast<std::size_t>(schedule_.shape.micro_batches);
    // When an op's input from another chunk is ready: [direction][chunk · m + micro-batch], negative until known.
    std::vector<double> there[2];
    for (auto& direction : there) direction.assign(static_cast<std::size_t>(chunks) * m, -1);
    struct Lanes {
      double send[2] = {0, 0}, receive[2] = {0, 0};
    };
    std::vector<Lanes> lanes(stages);
    std::vector<std::size_t> next(stages, 0);
    end_.assign(stages, 0);
    begin_.assign(stages, 0);
    const auto slot = [&](int chunk, const Pass& pass) {
      return static_cast<std::size_t>(chunk) * m + pass.micro_batch;
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 0; s < stages; ++s) {
        const bool drawn = static_cast<int>(s) == drawn_stage_;
        const std::vector<Pass>& passes = schedule_.stages[s].passes;
        for (; next[s] < passes.size(); ++next[s], moved = true) {
          const Pass pass = passes[next[s]];
          const auto chunk = static_cast<int>(pass.chunk);
          const bool forward = pass.op_kind() == OpKind::forward, halves = pass.op_kind() == OpKind::weight_gradient;
          const int source = forward ? chunk - 1 : chunk + 1, sink = forward ? chunk + 1 : chunk - 1;
          const bool waits = !halves && source >= 0 && source < chunks;
          double ready = end_[s];
          if (waits) {
            const double arrival = there[forward ? 0 : 1][slot(source, pass)];
            if (arrival < 0) break;
            ready = std::max(ready, arrival);
          }
          const double ahead = waits && !forward ? costs_.chunk(chunk).ahead : 0;
          const double begin = std::max(ready, end_[s] + ahead) - ahead;
          if (next[s] == 0) begin_[s] = begin;
          end_[s] = begin + costs_.seconds(pass);
          if (drawn) draw(pass.id(), begin, end_[s]);
          if (halves || sink < 0 || sink >= chunks) continue;
          const auto direction = static_cast<std::size_t>(forward ? 0 : 1);
          const double takes = costs_.message(forward, chunk);
          const bool leaves = stage_of(sink) != static_cast<int>(s);
          double arrival = end_[s] + takes;
          if (!cluster_.software.overlap) {
            end_[s] = arrival;
          } else if (leaves) {
            Lanes &here = lanes[s], &other = lanes[stage_of(sink)];
            arrival = std::max({end_[s], here.send[direction], other.receive[direction]}) + takes;
            here.send[direction] = other.receive[direction] = arrival;
          }
          if (drawn && (leaves || !cluster_.software.overlap))
            draw(OpId::of({OpKind::send, forward ? Purpose::pipeline_forward : Purpose::pipeline_backward, chunk,
                           static_cast<int>(pass.micro_batch)}),
                 arrival - takes, arrival);
          there[direction][slot(chunk, pass)] = arrival;
        }
      }
    }
    for (std::size_t s = 0; s < stages; ++s)
      if (const auto& passes = schedule_.stages[s].passes; next[s] < passes.size())
        throw std::invalid_argument(fmt::format("the schedule '{}' never gets to {}", scenario_.plan.schedule.name(),
                                                to_token(passes[next[s]].id())));
  }

  /// All passes of a chunk and kind take equally long, except the first micro-batch's.
  void account_for_passes() {
    const int m = schedule_.shape.micro_batches;
    const auto add = [&](OpKind kind, int chunk) {
      for (const bool is_first : {true, false}) {
        const int count = is_first ? 1 : m - 1;
        const PassSeconds pass = costs_.parts(kind, chunk, is_first);
        step_.compute += count * pass.compute;
        step_.recompute += count * pass.recompute;
        step_.tensor += count * pass.exchange;
        step_.zero += count * pass.exposed;
        step_.optimizer += count * (pass.adding + pass.copying);
        step_.ops += static_cast<std::size_t>(count);
      }
    };
    for (int c = 0; c < costs_.chunks(); ++c) {
      add(OpKind::forward, c);
      if (schedule_.splits) {
        add(OpKind::input_gradient, c);
        add(OpKind::weight_gradient, c);
      } else {
        add(OpKind::backward, c);
      }
      if (!cluster_.software.overlap) step_.pipeline += m * (costs_.message(true, c) + costs_.message(false, c));
      step_.hardware_flops += costs_.chunk(c).repeated_flops;  // of one rank of each stage and one micro-batch
    }
  }

  void account_for_the_end() {
    const auto stages = schedule_.stages.size();
    const StepEnd& behind = plan_.step_end();
    for (std::size_t s = 0; s < stages; ++s) {
      (plan_.shards() ? step_.zero : step_.data) +=
          costs_.exposed_reduction(static_cast<int>(s)) + costs_.exposed_gather(static_cast<int>(s));
      step_.optimizer += behind.stages[s].update;
    }
    for (std::size_t s = 0; s < stages; ++s)
      step_.longest_span = std::max(
          step_.longest_span, end_[s] - begin_[s] + costs_.exposed_reduction(static_cast<int>(s)) + behind.embedding +
                                  behind.stages[s].update + costs_.exposed_gather(static_cast<int>(s)));
    step_.pipeline += 2 * behind.embedding;  // of the first and of the last stage
    const auto count = static_cast<double>(stages);
    double rest = step_.seconds;
    for (double* part :
         {&step_.compute, &step_.recompute, &step_.tensor, &step_.pipeline, &step_.data, &step_.zero, &step_.optimizer})
      rest -= * part /= count;
    // Without a pipeline only the sums' rounding remains.
    step_.bubble = std::abs(rest) > 1e-9 * step_.seconds ? rest : 0;
    const PlanSpec& plan = scenario_.plan;
    step_.model_flops = plan_.model.model_flops_per_sample() * scenario_.train.global_batch;
    step_.hardware_flops = step_.model_flops + step_.hardware_flops * plan.tensor * plan.data * plan.micro_batches;
  }

  /// The requested stage's ops after its last pass.
  void draw_end() {
    const auto s = static_cast<std::size_t>(drawn_stage_);
    const StepEnd& behind = plan_.step_end();
    const bool shards = plan_.shards();
    const Purpose purpose = shards ? Purpose::zero_gradient : Purpose::data_gradient;
    const OpKind kind = shards && !cluster_.software.reduce_whole ? OpKind::reduce_scatter : OpKind::all_reduce;
    double updating = 0, gathering = 0;
    for (std::size_t i = 0; i < behind.stages.size(); ++i) {
      updating = std::max(updating, behind.stages[i].update);
      gathering = std::max(gathering, costs_.exposed_gather(static_cast<int>(i)));
    }
    const double whole = step_seconds(plan_, costs_, end_), update_begins = whole - gathering - updating;
    if (const double exposed = costs_.exposed_reduction(drawn_stage_); exposed > 0)
      draw(OpId::of({kind, purpose}), end_[s], end_[s] + exposed);
    draw(OpId::of({OpKind::optimizer, Purpose::none, -1, -1, -1, Segment::update}), update_begins,
         update_begins + behind.stages[s].update);
    if (const double gather = costs_.exposed_gather(drawn_stage_); gather > 0)
      draw(OpId::of({OpKind::all_gather, Purpose::zero_parameter}), whole - gathering, whole - gathering + gather);
  }

  FoldedPlan plan_;
  const Scenario& scenario_ = plan_.scenario;
  const ClusterSpec& cluster_ = plan_.cluster;
  const FoldedSchedule& schedule_ = plan_.schedule;
  FoldedCosts costs_;
  std::vector<double> begin_, end_;  ///< [stage]: of its first and last pass
  int drawn_stage_ = -1;
  std::vector<FoldedSpan> spans_;
  FoldedStep step_;
};

Coordinates coordinates_in(const RankGrid& grid, int rank) {
  if (rank >= 0 && rank < grid.size()) return grid.coordinates_of(rank);
  throw std::invalid_argument(fmt::format("the plan has ranks 0 to {}, and no rank {}", grid.size() - 1, rank));
}

}  // namespace

double FoldedStep::mfu(const ClusterSpec& cluster, DType type, int ranks) const {
  return model_flops / (seconds * ranks * cluster.peak_flops(type));
}

double FoldedStep::hfu(const ClusterSpec& cluster, DType type, int ranks) const {
  return hardware_flops / (seconds * ranks * cluster.peak_flops(type));
}

FoldedStep fold_step(const Scenario& scenario) {
  Schedules schedules;
  FoldMemo memo(schedules);
  return Folded(scenario, memo).run();
}

double fold_bubble_of_times(const Scenario& scenario) {
  Schedules schedules;
  FoldMemo memo(schedules);
  const std::array<double, 5> times = listed_times(scenario.plan.pass_times).value();  // checked when it was read
  return Folded(scenario, memo).bubble_of({times[0], times[1], times[2], times[3], times[4]});
}

std::vector<FoldedSpan> fold_timeline(const Scenario& scenario, int rank) {
  const RankGrid grid = scenario.plan.grid();
  const Coordinates at = coordinates_in(grid, rank);
  Scenario drawn = scenario;
  // The straggler's replica has its own time line; all others have a common one.
  const int slow = scenario.fault.slow_rank;
  if (slow >= 0 && grid.coordinates_of(slow).data != at.data) drawn.fault.slow_rank = -1;
  Schedules schedules;
  FoldMemo memo(schedules);
  return Folded(drawn, memo).timeline(at.pipeline);
}

std::vector<MemoryLevel> fold_levels(const Scenario& scenario, int rank) {
  const int stage = coordinates_in(scenario.plan.grid(), rank).pipeline;
  Schedules schedules;
  FoldMemo memo(schedules);
  return FoldedPlan(scenario, memo).memory_levels(stage);
}

PlanFolder::PlanFolder(const Scenario& scenario, Schedules& schedules)
    : scenario_(scenario), memo_(std::make_unique<FoldMemo>(schedules)) {}
PlanFolder::~PlanFolder() = default;
PlanFolder::PlanFolder(PlanFolder&&) noexcept = default;

PlanBound PlanFolder::bound(const PlanSpec& plan) {
  scenario_.plan = plan;
  return Folded(scenario_, *memo_).bound();
}

FoldedStep PlanFolder::fold(const PlanSpec& plan) {
  scenario_.plan = plan;
  return Folded(scenario_, *memo_).run();
}

double bytes_of_fullest(const std::vector<StageMemory>& stages, const ClusterSpec& cluster,
                        std::int64_t (StageMemory::*of_stage)() const) {
  double most = 0;
  for (const StageMemory& stage : stages) most = std::max(most, static_cast<double>((stage.*of_stage)()));
  return most * (1 + cluster.allocator_slack) + cluster.context_bytes;
}

}  // namespace rankscope
