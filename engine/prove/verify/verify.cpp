#include "engine/prove/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/op/words.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/prove/verify/judgement.hpp"
#include "engine/prove/verify/parity.hpp"
#include "engine/prove/verify/verify_arrivals.hpp"
#include "engine/prove/verify/verify_contents.hpp"

namespace rankscope {
namespace {

constexpr double parity_rate = 0.1;  // large enough to move every tensor, so that a wrong scale is visible

struct RankRecording {
  parity::BufferHistories parameters, gradients;
};
struct Recording {
  std::vector<RankRecording> ranks;
  parity::Losses losses;
};

/// Counts the steps of all runs of a verification.
class Count {
 public:
  Count(const Progress& progress, std::size_t runs) : progress_(progress), runs_(runs) {}
  void begin(std::string run) {
    name_ = std::move(run);
    runs_ = std::max(runs_, ++begun_);
    step_done(0);
  }
  void step_done(std::uint32_t steps) const {
    if (progress_)
      progress_(
          fmt::format("{}: step {} of {}", name_, steps, parity::steps),
          (static_cast<double>(begun_ - 1) + static_cast<double>(steps) / parity::steps) / static_cast<double>(runs_));
  }

 private:
  const Progress& progress_;
  std::size_t runs_, begun_ = 0;
  std::string name_;
};

/// `twin`: 0, or a twin's number (parity::change_roundings).
void record(const StepProgram& step, RunSettings settings, Recording& recording, const Count& count, int twin = 0) {
  recording.ranks.resize(step.grid.size());
  settings.steps = parity::steps;
  run_loopback(
      step, settings, [&](int) { return &recording.losses; },
      [&](RankRun& run, int rank) {
        RankRecording& recorded = recording.ranks[rank];
        recorded = {parity::compared_parameters(step, run.program()), parity::compared_gradients(run.program())};
        if (twin > 0) parity::change_roundings(run, step.model, twin);
        parity::record_values(recorded.parameters, run);
        for (std::uint32_t s = 0; s < parity::steps; ++s) {
          run.run(s, 1);
          parity::record_values(recorded.gradients, run);
          if (s == 0) parity::record_values(recorded.parameters, run);
          if (rank == 0) count.step_done(s + 1);
        }
        parity::record_values(recorded.parameters, run);
      });
}

/// The state of each parameter on one rank that trains the whole model.
class Truth {
 public:
  explicit Truth(const Recording& reference) {
    for (const auto& [buffer, history] : reference.ranks.front().parameters)
      (history.is_rounded ? rounded_ : parameters_)[history.parameter] = &history;
    for (const auto& [buffer, history] : reference.ranks.front().gradients) gradients_[history.parameter] = &history;
  }
  /// With the precision of `held`.
  const parity::ValueHistory& parameter(const parity::ValueHistory& history) const {
    return *(history.is_rounded ? rounded_ : parameters_).at(history.parameter);
  }
  const parity::Values& gradient(int parameter, std::uint32_t step) const { return gradients_.at(parameter)->at[step]; }
  parity::GradientNorms norms(const Model& model, std::uint32_t step) const {
    parity::GradientNorms norms;
    for (const auto& [parameter, history] : gradients_) norms.add(model.parameters[parameter].name, history->at[step]);
    return norms;
  }

 private:
  std::map<int, const parity::ValueHistory*> parameters_, rounded_, gradients_;
};

/// `step` is the plan's.
ParityErrors compare(const Recording& run, const Recording& reference, const StepProgram& step,
                     std::uint32_t gradient_steps) {
  const Model& model = step.model;
  parity::Judge judge(model);
  for (std::uint32_t s = 0; s < parity::steps; ++s) judge.loss(s, run.losses.mean(s), reference.losses.mean(s));
  const Truth truth(reference);
  std::vector<parity::GradientNorms> norms;
  for (std::uint32_t s = 0; s < gradient_steps; ++s) norms.push_back(truth.norms(model, s));
  for (int rank = 0; rank < step.grid.size(); ++rank) {
    const RankRecording& recording = run.ranks[rank];
    const int tensor = step.grid.coordinates_of(rank).tensor;
    const auto spec_of = [&](const parity::ValueHistory& history) -> const ParameterSpec& {
      return model.parameters[history.parameter];
    };
    for (const auto& [buffer, history] : recording.gradients) {
      const std::string& name = spec_of(history).name;
      const parity::Share share(spec_of(history), history, tensor);
      for (std::uint32_t s = 0; s < gradient_steps; ++s)
        judge.gradient(s, history.at[s], share.of(truth.gradient(history.parameter, s)),
                       share.root() * norms[s].of(name), fmt::format("{} on rank {}, step {}", name, rank, s));
    }
    for (const auto& [buffer, history] : recording.parameters) {
      const parity::ValueHistory& whole = truth.parameter(history);
      const parity::Share share(spec_of(history), history, tensor);
      const std::string where = fmt::format("{} on rank {}", spec_of(history).name, rank);
      judge.first_update(history, share, whole.at.front(), whole.at[1], where);
      judge.parameter(history, share, whole.at.front(), whole.at.back(), where);
    }
  }
  return judge.errors();
}

/// In 16-bit types with tensor parallelism, partial results are rounded again before they are summed. A batch
/// norm's gradient is a difference from means over all rows, which loses a digit if it is small, and Adam then
/// divides by it.
double tolerance_of(DType type, const Scenario& scenario) {
  const int tensor = scenario.plan.tensor;
  switch (type) {
    case DType::f64: return scenario.model.is_resnet() ? 1e-11 : 1e-12;
    case DType::f32: return 1e-5;
    case DType::bf16:
    case DType::f16: return tensor > 1 ? 3e-2 : 2e-2;
    case DType::i32:
    case DType::u8: break;
  }
  throw std::invalid_argument("verify: unknown precision");
}

/// One twin shows the growth of errors if it is even. If they grow by jumps (Sophia's clipped step changes its
/// sign if a momentum is close to zero) it may have none: before a run is called different, up to `most` are made.
void judge_by_twins(ParityRun& run, int most, const std::function<ParityErrors(int)>& errors_of_twin) {
  std::optional<ParityErrors> twins;
  parity::judge(run, twins);
  if (parity::is_within_tolerance(run)) return;
  do {
    const ParityErrors another = errors_of_twin(++run.twins);
    twins = twins ? parity::worst_of(*twins, another) : another;
    parity::judge(run, twins);
  } while (run.outcome == Outcome::different && run.twins < most);
}

bool is_sgd(const OptimizerRule& rule) { return rule.kernel == kernels::UpdateRule::sgd; }

ParityRun run_parity(Scenario scenario, const RunSettings& settings, std::string optimizer, bool judges_parameters,
                     Count& count) {
  // The rate depends only on the step, not on the plan: a constant one moves more in five steps than a warm-up.
  TrainSpec& train = scenario.train;
  train.optimizer = optimizer;
  train.warmup_steps = 0;
  train.decay = Decay::none;
  const OptimizerRule& rule = optimizer_rule(optimizer);
  if (is_sgd(rule)) train.learning_rate = parity_rate;
  if (rule.defaults.epsilon)
    train.hyper.epsilon = std::max(train.hyper.epsilon.value_or(*rule.defaults.epsilon), rule.parity_epsilon);
  ParityRun result;
  result.optimizer = std::move(optimizer);
  result.tolerance = tolerance_of(scenario.compute_type(), scenario);
  result.judges_parameters = judges_parameters;
  const StepProgram step = compile(scenario);
  // With stale weights it is a different training in any case.
  const int most_twins = scenario.plan.has_stale_weights() ? 1 : ParityRun::most_twins;
  const std::uint32_t gradient_steps = judges_parameters ? parity::steps : 1;
  if (step.arrivals_ahead()) {
    count.begin(result.optimizer + ", the plan and a replay of its arrivals");
    const ComparedArrivals compared(step, settings, gradient_steps);
    result.errors = compared.errors();
    result.summaries = compared.summaries();
    judge_by_twins(result, most_twins, [&](int twin) { return compared.twin_errors(twin); });
  } else {
    const StepProgram alone = compile(reference_of(scenario));
    RunSettings undisturbed = settings;
    undisturbed.stress = {};  // delays are for ranks that wait for others
    Recording reference, run;
    count.begin(result.optimizer + ", one rank");
    record(alone, undisturbed, reference, count);
    count.begin(result.optimizer + ", the plan");
    record(step, settings, run, count);
    result.errors = compare(run, reference, step, gradient_steps);
    result.summaries = run.losses.summaries();
    judge_by_twins(result, most_twins, [&](int twin) {
      Recording changed;
      count.begin(result.optimizer + ", one rank with weights changed by one rounding");
      record(alone, undisturbed, changed, count, twin);
      return compare(changed, reference, alone, gradient_steps);
    });
  }
  return result;
}

/// As one sentence.
std::string why_stale(const PlanSpec& plan) {
  if (!plan.has_stale_weights()) return {};
  return fmt::format(
      "stale weights: stage 0 goes forward with weights that lack up to {}, which one rank has made by then{}; "
      "schedule = \"1f1b\" trains what one rank trains",
      counted(std::min(plan.pipeline, plan.micro_batches) - 1, "update"),
      plan.weight_stashing ? ", and weight stashing only has its backward use the same old ones"
                           : ", and backward with newer ones than it went forward with");
}

}  // namespace

Scenario reference_of(const Scenario& scenario) {
  Scenario reference = scenario;
  reference.plan.micro_batches *= scenario.plan.data;
  reference.plan.data = reference.plan.tensor = reference.plan.pipeline = reference.plan.virtual_stages = 1;
  if (!scenario.plan.updates_each_micro_batch()) reference.plan.schedule = ScheduleKind::one_f_one_b;
  reference.plan.weight_stashing = false;
  reference.plan.zero = 0;
  reference.plan.offload = Offload::none;
  reference.plan.data_parallel = DataParallel::all_reduce;
  reference.plan.servers = 1;
  reference.plan.staleness = 0;
  reference.plan.recompute = Recompute::none;
  reference.plan.sequence_parallel = false;
  reference.fault = {};
  return reference;
}

VerifyResult verify(const Scenario& scenario, const RunSettings& settings, const Progress& progress) {
  if (scenario.model.is_collective()) return verify_contents(scenario, settings, progress);
  VerifyResult result;
  const bool is_replayed = compile(scenario).arrivals_ahead().has_value();
  const bool own_too = !is_sgd(optimizer_rule(scenario.train.optimizer));
  Count count(progress, (own_too ? 2 : 1) * (is_replayed ? 1 : 2));
  result.replayed = scenario.plan.has_servers() && scenario.plan.staleness > 0;
  result.runs.push_back(run_parity(scenario, settings, "sgd", true, count));
  if (own_too)
    result.runs.push_back(
        run_parity(scenario, settings, scenario.train.optimizer, scenario.compute_type() == DType::f64, count));
  result.by_micro_batch = scenario.plan.updates_a_step() > 1;
  result.stale_weights = why_stale(scenario.plan);
  result.outcome = result.stale_weights.empty() ? parity::outcome_of(result.runs) : Outcome::different;
  result.passed = result.outcome == Outcome::equal;
  return result;
}

}  // namespace rankscope
