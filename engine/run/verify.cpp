#include "engine/run/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>

#include "engine/optimizer/rule/rule.hpp"

namespace rankscope {
namespace {

constexpr std::uint32_t parity_steps = 5;
constexpr double parity_rate = 0.1;  // large enough to move every tensor, so that a wrong scale cannot hide
constexpr double least_digits = 10;  // an update must be so many times what rounding hides of it

using Values = std::vector<double>;

Values values_of(View view) {
  Values values(static_cast<std::size_t>(view.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) switch (view.type) {
      case DType::f64: values[i] = view.as<double>()[i]; break;
      case DType::f32: values[i] = view.as<float>()[i]; break;
      case DType::bf16: values[i] = std::bit_cast<float>(std::uint32_t{view.as<std::uint16_t>()[i]} << 16); break;
      case DType::f16:
      case DType::i32:
      case DType::u8: throw std::invalid_argument("verify: no parameters of that type");
    }
  return values;
}

/// What one rank held of one parameter.
struct Held {
  Values before, after;          ///< the parameter before the first and after the last step
  std::vector<Values> gradient;  ///< by step
};
struct Recording {
  std::vector<std::map<int, Held>> ranks;  ///< [rank]: by parameter
  std::vector<double> loss_sum = std::vector<double>(parity_steps, 0.0);
  std::vector<std::int64_t> tokens = std::vector<std::int64_t>(parity_steps, 0);
};

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
        std::map<int, Held>& held = recording.ranks[static_cast<std::size_t>(rank)];
        const auto each = [&](MemoryClass memory, auto visit) {
          for (BufferIndex b = 0; b < run.program().buffers.size(); ++b)
            if (run.program().buffers[b].memory == memory)
              visit(held[run.program().buffers[b].parameter], values_of(run.view(b)));
        };
        each(MemoryClass::parameters, [](Held& h, Values v) { h.before = std::move(v); });
        for (std::uint32_t s = 0; s < parity_steps; ++s) {
          run.run(s, 1);
          each(MemoryClass::gradients, [](Held& h, Values v) { h.gradient.push_back(std::move(v)); });
        }
        each(MemoryClass::parameters, [](Held& h, Values v) { h.after = std::move(v); });
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

ParityErrors compare(const Recording& run, const Recording& reference, const Model& model,
                     std::uint32_t gradient_steps) {
  ParityErrors errors;
  for (std::size_t s = 0; s < parity_steps; ++s) {
    const double a = run.loss_sum[s] / static_cast<double>(run.tokens[s]);
    const double b = reference.loss_sum[s] / static_cast<double>(reference.tokens[s]);
    if (worse(std::abs(a - b) / std::abs(b), errors.losses)) errors.losses = std::abs(a - b) / std::abs(b);
  }
  const std::map<int, Held>& truth = reference.ranks.front();
  std::vector<std::map<std::string, double>> block_norm(gradient_steps);
  for (const auto& [parameter, held] : truth)
    for (std::uint32_t s = 0; s < gradient_steps; ++s) {
      double& n = block_norm[s][block_of(model.parameters[static_cast<std::size_t>(parameter)].name)];
      n = std::hypot(n, norm(held.gradient[s]));
    }
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank)
    for (const auto& [parameter, held] : run.ranks[rank]) {
      const Held& true_held = truth.at(parameter);
      const std::string& name = model.parameters[static_cast<std::size_t>(parameter)].name;
      for (std::uint32_t s = 0; s < gradient_steps; ++s) {
        const double block = block_norm[s].at(block_of(name)), own = norm(true_held.gradient[s]);
        const double error = distance(held.gradient[s], true_held.gradient[s]) / (own > 1e-6 * block ? own : block);
        if (worse(error, errors.gradients)) {
          errors.gradients = error;
          errors.worst_gradient = fmt::format("{} on rank {}, step {}", name, rank, s);
        }
      }
      const double moved = distance(true_held.after, true_held.before);
      const double rounding = parity_steps * unit_roundoff(model.type) * norm(true_held.after);
      const double error = std::max(0.0, distance(held.after, true_held.after) - rounding) / moved;
      errors.unmoved += moved < least_digits * rounding;
      ++errors.tensors;
      errors.bit_equal += held.after == true_held.after;
      if (worse(error, errors.parameters)) {
        errors.parameters = error;
        errors.worst_parameter = fmt::format("{} on rank {}", name, rank);
      }
    }
  return errors;
}

double tolerance_of(DType type) {
  switch (type) {
    case DType::f64: return 1e-12;
    case DType::f32: return 1e-5;
    case DType::bf16:
    case DType::f16: return 2e-2;
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
  result.tolerance = tolerance_of(scenario.compute_type());
  result.judges_parameters = judges_parameters;
  const Recording reference = record(reference_of(scenario), settings);
  const Recording run = record(scenario, settings);
  result.errors = compare(run, reference, make_model(scenario), judges_parameters ? parity_steps : 1);
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
