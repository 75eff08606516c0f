#include "engine/run/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "engine/model/part.hpp"
#include "engine/optimizer/rule/rule.hpp"
#include "kernels/tensor/element.hpp"

namespace rankscope {
namespace {

constexpr std::uint32_t parity_steps = 5;
constexpr double parity_rate = 0.1;  // large enough to move every tensor, so that a wrong scale cannot hide
constexpr double least_digits = 10;  // an update must be so many times what rounding hides of it

using Values = std::vector<double>;

Values values_of(View view) {
  Values values(static_cast<std::size_t>(view.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(view, static_cast<std::int64_t>(i));
  return values;
}

/// What one rank held of one parameter, or of its gradient, at several times.
struct Held {
  int parameter = 0;
  bool is_rounded = false;  ///< a 16-bit copy of a master
  std::int64_t first = 0;   ///< Buffer::first
  std::vector<Values> at;   ///< parameters: before the first and after the last step; gradients: by step
};
struct RankRecording {
  std::map<BufferIndex, Held> parameters, gradients;
};
struct Recording {
  std::vector<RankRecording> ranks;
  std::vector<double> loss_sum = std::vector<double>(parity_steps, 0.0);
  std::vector<std::int64_t> tokens = std::vector<std::int64_t>(parity_steps, 0);
};

/// The parameters that the rank computes with or keeps, and the gradients that its optimizer reads. A main device's
/// replicas have the parameters of the step before when a step is over.
RankRecording empty_recording(const StepProgram& step, const RankProgram& program) {
  RankRecording recording;
  const auto hold = [&](std::map<BufferIndex, Held>& held, BufferIndex b) {
    const Buffer& buffer = program.buffers[b];
    const bool is_rounded = buffer.memory == MemoryClass::parameters && accumulation_type(buffer.type) != buffer.type;
    held[b] = {buffer.parameter, is_rounded, buffer.first, {}};
  };
  const bool is_current = step.updates(program.rank) || step.grid.servers > 0;
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    const bool master = buffer.memory == MemoryClass::optimizer && buffer.name.starts_with("master:");
    if ((buffer.memory == MemoryClass::parameters || master) && buffer.persistent && buffer.parameter >= 0 &&
        is_current)
      hold(recording.parameters, b);
  }
  for (const Op& op : program.ops)
    if (op.id.kind() == OpKind::optimizer && op.id.fields().segment == Segment::update)
      for (const BufferUse& use : op.uses)
        if (program.buffers[use.buffer].memory == MemoryClass::gradients) hold(recording.gradients, use.buffer);
  return recording;
}

class LossObserver : public RankObserver {
 public:
  LossObserver(Recording& recording, std::mutex& mutex) : recording_(recording), mutex_(mutex) {}
  void span(Lane, const Span&) override {}
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& summary, const StepTrace&) override {
    if (summary.tokens == 0) return;
    const std::lock_guard lock(mutex_);
    recording_.loss_sum[summary.step] += summary.loss * static_cast<double>(summary.tokens);
    recording_.tokens[summary.step] += summary.tokens;
  }

 private:
  Recording& recording_;
  std::mutex& mutex_;
};

Recording record(const Scenario& scenario, RunSettings settings) {
  const StepProgram step = compile(scenario);
  Recording recording;
  recording.ranks.resize(static_cast<std::size_t>(step.grid.size()));
  std::mutex mutex;
  LossObserver observer(recording, mutex);
  settings.steps = parity_steps;
  run_loopback(
      step, settings, [&](int) { return &observer; },
      [&](RankRun& run, int rank) {
        RankRecording& held = recording.ranks[static_cast<std::size_t>(rank)];
        held = empty_recording(step, run.program());
        const auto take = [&](std::map<BufferIndex, Held>& into) {
          for (auto& [buffer, h] : into) h.at.push_back(values_of(run.view(buffer)));
        };
        take(held.parameters);
        for (std::uint32_t s = 0; s < parity_steps; ++s) {
          run.run(s, 1);
          take(held.gradients);
        }
        take(held.parameters);
      });
  return recording;
}

double norm(const Values& a) {
  double sum = 0;
  for (const double x : a) sum += x * x;
  return std::sqrt(sum);
}
double distance(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}
/// Of parameters as they are stored: 16-bit ones have fp32 masters, but are compared as what they compute with.
double unit_roundoff(DType type) {
  switch (type) {
    case DType::f64: return 0x1p-53;
    case DType::f32: return 0x1p-24;
    case DType::bf16: return 0x1p-8;
    case DType::f16: return 0x1p-11;
    case DType::i32:
    case DType::u8: break;
  }
  return 0;
}

// A NaN anywhere is the worst difference there is, and must not lose a comparison.
bool worse(double error, double than) { return !(error <= than); }

/// "h.3." of "h.3.attn.c_attn.bias"; the whole name outside the blocks.
std::string block_of(const std::string& parameter) {
  return parameter.starts_with("h.") ? parameter.substr(0, parameter.find('.', 2) + 1) : parameter;
}

/// What one rank that trains the whole model held of each parameter, and what of that another rank should hold.
class Truth {
 public:
  Truth(const Recording& reference, const Model& model, const RankGrid& grid) : model_(model), grid_(grid) {
    for (const auto& [buffer, held] : reference.ranks.front().parameters)
      (held.is_rounded ? rounded_ : parameters_)[held.parameter] = &held;
    for (const auto& [buffer, held] : reference.ranks.front().gradients) gradients_[held.parameter] = &held;
  }
  /// As accurate, or as rounded, as `held` is.
  const Held& parameter(const Held& held) const {
    return *(held.is_rounded ? rounded_ : parameters_).at(held.parameter);
  }
  const Held& gradient(int p) const { return *gradients_.at(p); }
  const std::map<int, const Held*>& gradients() const { return gradients_; }

  /// Of `whole`, a reference's parameter or gradient, what `rank` should hold as `held`.
  Values share_of(const Values& whole, const Held& held, int rank) const {
    Values share(held.at.front().size());
    for (const ElementRun& run : runs_of(held, rank))
      if (!run.is_padding()) std::copy_n(whole.begin() + run.global, run.count, share.begin() + run.local);
    return share;
  }
  /// The root of the share of a parameter's elements that `held` has: what a norm of all of it is scaled by to be the
  /// norm to expect of that part.
  double root_of_share(const Held& held, int rank) const {
    std::int64_t elements = 0;
    for (const ElementRun& run : runs_of(held, rank)) elements += run.is_padding() ? 0 : run.count;
    return std::sqrt(static_cast<double>(elements) / static_cast<double>(spec_of(held).whole.elements()));
  }
  const ParameterSpec& spec_of(const Held& held) const {
    return model_.parameters[static_cast<std::size_t>(held.parameter)];
  }

 private:
  std::vector<ElementRun> runs_of(const Held& held, int rank) const {
    return element_runs(spec_of(held), grid_.coordinates_of(rank).tensor, held.first,
                        static_cast<std::int64_t>(held.at.front().size()));
  }
  const Model& model_;
  const RankGrid& grid_;
  std::map<int, const Held*> parameters_, rounded_, gradients_;
};

/// `model` and `grid` are those of the plan.
ParityErrors compare(const Recording& run, const Recording& reference, const Model& model, const RankGrid& grid,
                     std::uint32_t gradient_steps) {
  ParityErrors errors;
  for (std::size_t s = 0; s < parity_steps; ++s) {
    const double a = run.loss_sum[s] / static_cast<double>(run.tokens[s]);
    const double b = reference.loss_sum[s] / static_cast<double>(reference.tokens[s]);
    if (worse(std::abs(a - b) / std::abs(b), errors.losses)) errors.losses = std::abs(a - b) / std::abs(b);
  }
  const Truth truth(reference, model, grid);
  std::vector<std::map<std::string, double>> block_norm(gradient_steps);
  for (const auto& [parameter, held] : truth.gradients())
    for (std::uint32_t s = 0; s < gradient_steps; ++s) {
      double& n = block_norm[s][block_of(truth.spec_of(*held).name)];
      n = std::hypot(n, norm(held->at[s]));
    }
  for (int rank = 0; rank < grid.size(); ++rank) {
    const RankRecording& recording = run.ranks[static_cast<std::size_t>(rank)];
    for (const auto& [buffer, held] : recording.gradients) {
      const std::string& name = truth.spec_of(held).name;
      const double share = truth.root_of_share(held, rank);
      for (std::uint32_t s = 0; s < gradient_steps; ++s) {
        const Values& whole = truth.gradient(held.parameter).at[s];
        const double block = block_norm[s].at(block_of(name)), own = norm(whole);
        const double off = distance(held.at[s], truth.share_of(whole, held, rank));
        const double error = off == 0 ? 0 : off / (share * (own > 1e-6 * block ? own : block));
        if (worse(error, errors.gradients)) {
          errors.gradients = error;
          errors.worst_gradient = fmt::format("{} on rank {}, step {}", name, rank, s);
        }
      }
    }
    for (const auto& [buffer, held] : recording.parameters) {
      const Values &before = truth.parameter(held).at.front(), &after = truth.parameter(held).at.back();
      const Values expected = truth.share_of(after, held, rank);
      const double share = truth.root_of_share(held, rank);
      const double moved = share * distance(after, before);
      const double rounding = share * parity_steps *
                              unit_roundoff(held.is_rounded ? model.type : accumulation_type(model.type)) * norm(after);
      const double off = std::max(0.0, distance(held.at.back(), expected) - rounding);
      const double error = off == 0 ? 0 : off / moved;
      // A copy that is rounded too coarsely to tell is told by its master.
      errors.unmoved += !held.is_rounded && moved < least_digits * rounding;
      ++errors.tensors;
      errors.bit_equal += held.at.back() == expected;
      if (worse(error, errors.parameters)) {
        errors.parameters = error;
        errors.worst_parameter = fmt::format("{} on rank {}", truth.spec_of(held).name, rank);
      }
    }
  }
  return errors;
}

/// Of 16-bit types with tensor parallelism partial results are rounded once more, before they are summed.
double tolerance_of(DType type, int tensor) {
  switch (type) {
    case DType::f64: return 1e-12;
    case DType::f32: return 1e-5;
    case DType::bf16:
    case DType::f16: return tensor > 1 ? 3e-2 : 2e-2;
    case DType::i32:
    case DType::u8: break;
  }
  throw std::invalid_argument("verify: no such precision");
}

ParityRun run_parity(Scenario scenario, const RunSettings& settings, std::string optimizer, bool judges_parameters) {
  // The rate depends on the step alone, not on the plan: a constant one moves more in five steps than a warm-up.
  TrainSpec& train = scenario.train;
  train.optimizer = optimizer;
  train.warmup_steps = 0;
  train.decay = "none";
  if (optimizer == "sgd") train.learning_rate = parity_rate;
  const OptimizerRule& rule = optimizer_rule(optimizer);
  if (rule.defaults.epsilon)
    train.hyper.epsilon = std::max(train.hyper.epsilon.value_or(*rule.defaults.epsilon), rule.parity_epsilon);
  ParityRun result;
  result.optimizer = std::move(optimizer);
  result.tolerance = tolerance_of(scenario.compute_type(), scenario.plan.tensor);
  result.judges_parameters = judges_parameters;
  const Recording reference = record(reference_of(scenario), settings);
  const Recording run = record(scenario, settings);
  const StepProgram step = compile(scenario);
  result.errors = compare(run, reference, step.model, step.grid, judges_parameters ? parity_steps : 1);
  result.passed =
      !worse(result.errors.losses, result.tolerance) && !worse(result.errors.gradients, result.tolerance) &&
      !(judges_parameters && (worse(result.errors.parameters, result.tolerance) || result.errors.unmoved > 0));
  return result;
}

}  // namespace

Scenario reference_of(const Scenario& scenario) {
  Scenario reference = scenario;
  reference.plan.micro_batches *= scenario.plan.data;
  reference.plan.data = reference.plan.tensor = reference.plan.pipeline = reference.plan.virtual_stages = 1;
  reference.plan.schedule = "1f1b";
  reference.plan.zero = 0;
  reference.plan.offload = "none";
  reference.plan.data_parallel = "all-reduce";
  reference.plan.servers = 1;
  reference.plan.staleness = 0;
  reference.plan.recompute = "none";
  reference.plan.sequence_parallel = false;
  reference.fault = {};
  return reference;
}

VerifyResult verify(const Scenario& scenario, const RunSettings& settings) {
  VerifyResult result;
  result.runs.push_back(run_parity(scenario, settings, "sgd", true));
  if (const std::string& own = scenario.train.optimizer; own != "sgd")
    result.runs.push_back(run_parity(scenario, settings, own, scenario.compute_type() == DType::f64));
  result.passed = true;
  for (const ParityRun& run : result.runs) result.passed = result.passed && run.passed;
  return result;
}

std::string to_text(const VerifyResult& result) {
  std::string text;
  for (const ParityRun& run : result.runs) {
    const ParityErrors& e = run.errors;
    text +=
        fmt::format("{:<9} {}  losses {:.1e}  gradients {:.1e} ({})  ", run.optimizer,
                    run.passed ? "equals one rank" : "DIFFERS from one rank", e.losses, e.gradients, e.worst_gradient);
    text += run.judges_parameters ? fmt::format("parameters {:.1e} ({})", e.parameters, e.worst_parameter)
                                  : std::string("parameters not judged");
    text += fmt::format("  tolerance {:.0e}  {} of {} tensors bit-equal\n", run.tolerance, e.bit_equal, e.tensors);
  }
  return text;
}

}  // namespace rankscope
