#include <algorithm>
#include <thread>

#include "engine/base/host/provenance.hpp"
#include "engine/execute/run/platform.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/stage_split.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/stages.hpp"
#include "engine/worker/sweep.hpp"

namespace rankscope {
namespace {

constexpr std::size_t most_points = 1000;
constexpr std::int64_t most_ranks = 1 << 20;

bool has(const std::vector<Axis>& axes, const std::string& key) {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.key == key; });
}

std::vector<Axis> checked_axes(const SweepRequest& request) {
  if (request.over.empty())
    throw ScenarioError(
        "sweep: no values to sweep over; add --over key=value,value,…, such as --over "
        "plan.data=1,2,4");
  std::vector<Axis> axes = parse_axes(request.over);
  std::size_t points = 1;
  for (const Axis& axis : axes) {
    points *= axis.values.size();
    if (points > most_points)
      throw ScenarioError(
          fmt::format("--over: there are more than {} combinations; leave some values out", most_points));
  }
  for (const Override& given : request.set)
    if (given.key != "title" && has(axes, full_key(given.key, "--set " + given.key + "=" + given.value)))
      throw ScenarioError("--set " + given.key + "=" + given.value + ": --over also sets this key; remove one of them");
  if (has(axes, "train.steps")) throw ScenarioError("--over train.steps: use --steps for the length of every run");
  if (has(axes, "train.checkpoint_every"))
    throw ScenarioError("--over train.checkpoint_every: a sweep writes no checkpoints");
  if (request.weak && has(axes, "train.global_batch"))
    throw ScenarioError("--weak: train.global_batch grows with the ranks; remove that key from --over");
  return axes;
}

/// Ranks of a plan; 0 if it is invalid.
std::int64_t ranks_of(const PlanSpec& plan) {
  std::int64_t ranks = 1;
  for (const int size : {plan.data, plan.tensor, plan.pipeline}) {
    if (size <= 0) return 0;
    ranks *= size;
    if (ranks > most_ranks) return 0;
  }
  return ranks;
}

std::vector<Override> common_overrides(const SweepRequest& request) {
  std::vector<Override> overrides = request.set;
  const bool set_steps = std::ranges::any_of(
      overrides, [](const Override& given) { return given.key == "train.steps" || given.key == "steps"; });
  if (request.steps || !set_steps)
    overrides.push_back({"train.steps", std::to_string(request.steps.value_or(sweep_steps))});
  return overrides;
}

/// The text was not typed after --set, so "--set " in front of it would be wrong here.
std::string without_option(const std::string& message) {
  constexpr std::string_view option = "--set ";
  return message.starts_with(option) ? message.substr(option.size()) : message;
}

/// Creates the points, one by one.
class Points {
 public:
  Points(const SweepRequest& request, const ExtraCheck& extra_check)
      : request_(request),
        extra_check_(extra_check),
        common_(common_overrides(request)),
        base_(read_unchecked(request.scenario, common_)) {}

  const Scenario& base() const { return base_; }

  void add(const std::vector<Override>& keys, SweepPlan& plan) {
    SweepPoint point;
    point.keys = keys;
    Scenario unchecked = base_;
    for (const Override& given : keys) set_known(unchecked, given);
    const std::int64_t ranks = ranks_of(unchecked.plan);
    if (first_ranks_ == 0) first_ranks_ = ranks;
    point.ranks = static_cast<std::int32_t>(ranks);
    std::vector<Override> overrides = common_;
    overrides.insert(overrides.end(), keys.begin(), keys.end());
    std::optional<Scenario> scenario;
    if (request_.weak && !grow_batch(ranks, overrides, point)) {
      // `point` contains the reason.
    } else {
      scenario = checked(overrides, point);
    }
    if (scenario) {
      point.global_batch = scenario->train.global_batch;
      point.tokens_per_step = std::int64_t{scenario->train.global_batch} * scenario->model.tokens_per_sample();
    }
    plan.sweep.points.push_back(std::move(point));
    plan.scenarios.push_back(std::move(scenario));
  }

 private:
  /// An unknown name changes nothing here: it is rejected with the point.
  static void set_known(Scenario& scenario, const Override& given) {
    try {
      set_value(scenario, given, "--over " + given.key + "=" + given.value);
    } catch (const ScenarioError&) {
      if (choices(given.key).empty()) throw;
    }
  }

  bool grow_batch(std::int64_t ranks, std::vector<Override>& overrides, SweepPoint& point) const {
    const int first = base_.train.global_batch;
    const std::int64_t batch = weak_batch(first, ranks, first_ranks_);
    if (ranks > 0 && batch < 0) {
      point.refused = fmt::format("weak scaling: {} on {}, as at the first point, would be no whole number on {}",
                                  counted(first, "sample"), counted(first_ranks_, "rank"), ranks);
      return false;
    }
    if (batch > 0) overrides.push_back({"train.global_batch", std::to_string(batch)});
    return true;
  }

  std::optional<Scenario> checked(const std::vector<Override>& overrides, SweepPoint& point) const {
    try {
      Scenario scenario = read_scenario(request_.scenario, overrides, extra_check_);
      if (stage_split(scenario.plan) == StageSplit::measured) {
        scenario = with_stages(scenario, computes(request_.run.device), request_.run.device, request_.run.threads);
        point.stages = scenario.plan.stages;
      }
      scenario.train.checkpoint_every = 0;  // steps are measured, no checkpoints are kept
      check_runs(compile(scenario));
      return scenario;
    } catch (const ScenarioError& error) {
      point.refused = without_option(error.what());
    } catch (const PlanError& error) {
      point.refused = error.what();
    }
    return std::nullopt;
  }

  const SweepRequest& request_;
  const ExtraCheck& extra_check_;
  std::vector<Override> common_;
  Scenario base_;
  std::int64_t first_ranks_ = 0;
};

ClockDomain clock_of(const SweepRequest& request, const SweepPlan& plan) {
  if (request.run.clock == ClockChoice::wall || !computes(request.run.device)) return ClockDomain::wall;
  if (request.run.clock == ClockChoice::device) return ClockDomain::device;
  for (const std::optional<Scenario>& scenario : plan.scenarios)
    if (scenario && scenario->plan.ranks() * request.run.threads > plan.sweep.cores) return ClockDomain::device;
  return ClockDomain::wall;
}

}  // namespace

SweepPlan plan_sweep(const SweepRequest& request, const ExtraCheck& extra_check) {
  SweepPlan plan;
  Sweep& sweep = plan.sweep;
  sweep.axes = checked_axes(request);
  Points points(request, extra_check);
  for (const std::vector<Override>& keys : combinations(sweep.axes)) points.add(keys, plan);
  const auto first = std::find_if(plan.scenarios.begin(), plan.scenarios.end(),
                                  [](const std::optional<Scenario>& scenario) { return scenario.has_value(); });
  if (first == plan.scenarios.end()) {
    const SweepPoint& point = sweep.points.front();
    throw ScenarioError("--over: " +
                        (sweep.points.size() == 1
                             ? std::string("the only point cannot run")
                             : "none of the " + counted(sweep.points.size(), "point") + " can run") +
                        "; " + (sweep.points.size() == 1 ? "" : "the first: ") + point.refused);
  }
  sweep.title = (*first)->title;
  sweep.file = request.scenario;
  sweep.scenario_toml = to_toml(**first);
  sweep.host = host_name();
  sweep.started_utc = utc_now();
  sweep.scaling = request.weak ? Scaling::weak : Scaling::strong;
  sweep.steps = (*first)->train.steps;
  sweep.repeats = request.repeats;
  sweep.communicator = request.run.communicator.name();
  sweep.device = request.run.device.name();
  sweep.threads = request.run.threads;
  sweep.cores = static_cast<std::int32_t>(std::thread::hardware_concurrency());
  sweep.clock = clock_of(request, plan);
  return plan;
}

}  // namespace rankscope
