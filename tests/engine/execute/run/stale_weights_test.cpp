// PipeDream's rule, compared with a reference without pipelines: one rank processes the mini-batches one by one. Before
// each forward and each backward it gets the weights that the rule states; the update is computed in this file.
#include <cmath>
#include <map>

#include "engine/execute/run/job.hpp"
#include "engine/plan/program/passes.hpp"
#include "engine/plan/scenario/check.hpp"
#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/summaries.hpp"
#include "tests/engine/execute/run/trained.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;

namespace {

using Values = std::vector<double>;
using Weights = std::map<std::string, Values>;  ///< by parameter

constexpr int layers = 12, steps = 3;  // divisible by two, three and four stages
constexpr double rate = 0.05, beta1 = 0.9, beta2 = 0.99,
                 epsilon = 1e-2;  // keeps roundings of the gradients small in the update

Scenario scenario_of(const std::string& optimizer, int pipeline, int micro_batches, bool stashing,
                     const std::string& precision = "fp64") {
  Scenario s;
  s.title = "stale weights";
  s.model = {"gpt", layers, 16, 2, 8, 32, false, 0.1};
  s.plan.schedule = "1f1b-async";
  s.plan.pipeline = pipeline;
  s.plan.micro_batches = micro_batches;
  s.plan.weight_stashing = stashing;
  s.plan.precision = precision;
  s.train.global_batch = 2 * micro_batches;
  s.train.steps = steps;
  s.train.optimizer = optimizer;
  s.train.learning_rate = rate;
  if (optimizer == "adam") {
    s.train.hyper.beta1 = beta1;
    s.train.hyper.beta2 = beta2;
    s.train.hyper.epsilon = epsilon;
  }
  return s;
}

/// The same mini-batches, each as one step of one rank.
Scenario one_by_one(Scenario s) {
  const int updates = s.plan.micro_batches;
  s.plan.schedule = "1f1b";
  s.plan.weight_stashing = false;
  s.plan.pipeline = s.plan.micro_batches = 1;
  s.train.global_batch /= updates;
  s.train.steps *= updates;
  return s;
}

Values values_in(const View& view) {
  Values values(static_cast<std::size_t>(view.elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = view.type == DType::f64 ? view.as<double>()[i] : static_cast<double>(view.as<float>()[i]);
  return values;
}

std::map<std::string, BufferIndex> buffers_of(const RankProgram& program, const Model& model, BufferRole role) {
  std::map<std::string, BufferIndex> found;
  for (BufferIndex b = 0; b < program.buffers.size(); ++b)
    if (const Buffer& buffer = program.buffers[b]; buffer.persistent && buffer.role == role)
      found[model.parameters[static_cast<std::size_t>(buffer.parameter)].name] = b;
  return found;
}

struct Trained {
  std::vector<double> losses;  ///< mean of each step
  Weights weights;
};

/// The engine's result for the plan.
Trained run_plan(const Scenario& scenario) {
  const StepProgram step = compile(scenario);
  testing::Summaries summaries;
  Trained trained;
  std::mutex mutex;
  RunSettings settings;
  settings.stress = {11, 30'000, true};
  run_loopback(
      step, settings, [&](int) { return &summaries; },
      [&](RankRun& run, int) {
        run.run(0, static_cast<std::uint32_t>(scenario.train.steps));
        const std::lock_guard lock(mutex);
        for (const auto& [name, buffer] : buffers_of(run.program(), step.model, BufferRole::parameter))
          trained.weights[name] = values_in(run.view(buffer));
      });
  trained.losses.resize(static_cast<std::size_t>(scenario.train.steps));
  for (const StepSummary& summary : summaries.all)
    if (summary.tokens > 0) trained.losses[summary.step] = summary.loss;
  return trained;
}

/// Stages have equal numbers of layers; the first also has the embedding, and the last also the head.
int stage_of(const std::string& parameter, int stages) {
  if (parameter.starts_with("h.")) return std::stoi(parameter.substr(2)) / (layers / stages);
  return parameter.starts_with("wte") || parameter.starts_with("wpe") ? 0 : stages - 1;
}

/// The update of one parameter, as in the optimizer's paper.
class Rule {
 public:
  explicit Rule(bool adam) : adam_(adam) {}
  Values next(const std::string& name, const Values& weights, const Values& gradient, int t) {
    Values result = weights;
    Values &first = first_[name], &second = second_[name];
    first.resize(weights.size());
    second.resize(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double g = gradient[i];
      if (!adam_) {
        result[i] -= rate * g;
        continue;
      }
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      const double m = first[i] / (1 - std::pow(beta1, t)), v = second[i] / (1 - std::pow(beta2, t));
      result[i] -= rate * m / (std::sqrt(v) + epsilon);
    }
    return result;
  }

 private:
  bool adam_;
  std::map<std::string, Values> first_, second_;
};

/// Narayanan et al. 2019, section 3.3, for stage s of p, with w = p - 1 - s micro-batches between a forward and its
/// backward: the forward of a step's micro-batch i uses the weights after max(0, i - w) of the step's updates (the
/// pipeline drains between steps). With weight stashing, its backward uses the same weights; without, it uses those
/// after i updates.
class Reference {
 public:
  Reference(const Scenario& plan) : plan_(plan), alone_(one_by_one(plan)), step_(compile(alone_)) {}

  Trained run() {
    testing::Summaries summaries;
    RunSettings settings;
    settings.watch = [this](int, OpIndex op, std::uint32_t n) {
      const OpFields f = run_->program().ops[op].id.fields();
      if (f.kind == OpKind::forward && f.segment == Segment::head) put(n, !plan_.plan.weight_stashing);
    };
    run_loopback(
        step_, settings, [&](int) { return &summaries; },
        [&](RankRun& run, int) {
          run_ = &run;
          train();
        });
    Trained trained{std::vector<double>(steps), version_.back()};
    for (const StepSummary& summary : summaries.all)
      trained.losses[summary.step / static_cast<std::uint32_t>(plan_.plan.micro_batches)] +=
          summary.loss / plan_.plan.micro_batches;
    return trained;
  }

 private:
  void train() {
    parameters_ = buffers_of(run_->program(), step_.model, BufferRole::parameter);
    const auto gradients = buffers_of(run_->program(), step_.model, BufferRole::gradient);
    Weights& initial = version_.emplace_back();
    for (const auto& [name, buffer] : parameters_) initial[name] = values_in(run_->view(buffer));
    Rule rule(plan_.train.optimizer == "adam");
    for (int n = 0; n < alone_.train.steps; ++n) {
      put(static_cast<std::uint32_t>(n), false);
      run_->run(static_cast<std::uint32_t>(n), 1);
      Weights next;
      for (const auto& [name, buffer] : gradients)
        next[name] = rule.next(name, version_.back().at(name), values_in(run_->view(buffer)), n + 1);
      version_.push_back(std::move(next));
    }
  }

  void put(std::uint32_t n, bool newest) {
    const int m = plan_.plan.micro_batches, i = static_cast<int>(n) % m, done = static_cast<int>(n) - i;
    for (const auto& [name, buffer] : parameters_) {
      const int w = plan_.plan.pipeline - 1 - stage_of(name, plan_.plan.pipeline);
      const Values& values = version_[static_cast<std::size_t>(done + (newest ? i : std::max(0, i - w)))].at(name);
      std::copy(values.begin(), values.end(), run_->view(buffer).as<double>());
    }
  }

  Scenario plan_, alone_;
  StepProgram step_;
  RankRun* run_ = nullptr;
  std::map<std::string, BufferIndex> parameters_;
  std::vector<Weights> version_;  ///< index: number of updates
};

/// Frobenius norm of the difference of all weights, relative to that of their change in training.
double difference(const Weights& a, const Weights& b, const Weights& initial) {
  double off = 0, moved = 0;
  for (const auto& [name, values] : a)
    for (std::size_t i = 0; i < values.size(); ++i) {
      off += std::pow(values[i] - b.at(name)[i], 2);
      moved += std::pow(values[i] - initial.at(name)[i], 2);
    }
  return std::sqrt(off / moved);
}

Weights initial_weights(const Scenario& scenario) {
  Scenario still = scenario;
  still.train.learning_rate = 0;
  return run_plan(still).weights;
}

std::string refusal(const std::function<void(Scenario&)>& change, int pipeline = 2) {
  Scenario s = scenario_of("sgd", pipeline, 4, false);
  change(s);
  const auto complaint = first_complaint(s);
  return complaint ? complaint->what : "";
}

}  // namespace

TEST_CASE("losses and weights are those of PipeDream's rule, with weight stashing and without") {
  const std::string optimizer = GENERATE("sgd", "adam");
  const int pipeline = GENERATE(2, 3, 4);
  const int micro_batches = GENERATE(2, 5, 8);
  const bool stashing = GENERATE(false, true);
  INFO(optimizer << ", " << pipeline << " stages, " << micro_batches << " micro-batches, stashing " << stashing);
  const Scenario plan = scenario_of(optimizer, pipeline, micro_batches, stashing);
  const Trained run = run_plan(plan), expected = Reference(plan).run();
  for (int s = 0; s < steps; ++s) CHECK(std::abs(run.losses[s] / expected.losses[s] - 1) < 1e-12);
  const Weights initial = initial_weights(plan);
  REQUIRE(run.weights.size() == initial.size());
  CHECK(difference(run.weights, expected.weights, initial) < 1e-12);
  // The two differ from each other, and from a training on one rank, which has no stale weights.
  if (micro_batches > 2) {
    const Trained other = run_plan(scenario_of(optimizer, pipeline, micro_batches, !stashing));
    CHECK(difference(run.weights, other.weights, initial) > 1e-6);
  }
  CHECK(difference(run.weights, run_plan(one_by_one(plan)).weights, initial) > 1e-6);
}

TEST_CASE("on one rank every bit is that of plain training with as many updates") {
  const std::string optimizer =
      GENERATE("sgd", "momentum", "adagrad", "adam", "adamw", "radam", "adafactor", "adam8bit", "sophia");
  const std::string precision = GENERATE("fp64", "fp32");
  INFO(optimizer << " in " << precision);
  Scenario plan = scenario_of(optimizer, 1, 4, false, precision);
  plan.model.tied = GENERATE(false, true);
  CHECK((run_plan(plan).weights == run_plan(one_by_one(plan)).weights));
}

TEST_CASE("with weight stashing what is computed again is the same to the bit") {
  Scenario plan = scenario_of("adam", 4, 8, true);
  const Trained kept = run_plan(plan);
  plan.plan.recompute = GENERATE("blocks", "sqrt", "selective");
  const Trained again = run_plan(plan);
  CHECK((again.losses == kept.losses));
  CHECK((again.weights == kept.weights));
}

TEST_CASE("every rank holds the bytes that its program states, with each stored version of its weights") {
  const Scenario plan = scenario_of("adam", 4, 8, GENERATE(false, true), GENERATE("fp64", "bf16"));
  const StepProgram step = compile(plan);
  testing::Summaries summaries;
  RunSettings settings;
  settings.steps = 2;
  settings.stress = {5, 30'000, true};
  run_loopback(step, settings, [&](int) { return &summaries; });
  REQUIRE(summaries.all.size() == 8);
  for (const StepSummary& summary : summaries.all) {
    const MemoryProfile profile = memory_profile(step.program_for(summary.rank));
    CAPTURE(summary.rank, summary.step, plan.plan.weight_stashing);
    for (const MemoryClass memory : {MemoryClass::parameters, MemoryClass::gradients, MemoryClass::optimizer,
                                     MemoryClass::activations, MemoryClass::buffers})
      CHECK(summary.peak_bytes[static_cast<std::size_t>(memory)] ==
            profile.peak_by_class[static_cast<std::size_t>(memory)]);
  }
}

TEST_CASE(
    "a run with stale weights continues bit for bit, and only under a plan with the same number of updates per step") {
  Scenario plan = scenario_of("adam", 4, 8, true);
  plan.train.checkpoint_every = 2;
  const testing::TemporaryDirectory folder;
  const testing::Trained straight = testing::train(plan, folder.path().string());
  const Checkpoint checkpoint(checkpoints_in(folder.path().string()).front());
  REQUIRE(checkpoint.steps_done() == 2);
  REQUIRE_FALSE(checkpoint.find_mismatch(plan));
  CHECK((testing::train(plan, "", &checkpoint).memory == straight.memory));
  plan.plan.schedule = "1f1b";
  plan.plan.weight_stashing = false;
  CHECK(checkpoint.find_mismatch(plan).value_or("").find("8 updates a step, and the scenario's makes 1") !=
        std::string::npos);
}

TEST_CASE("verify reports stale weights as another training, and a plan without them as the same") {
  const VerifyResult stale = verify(scenario_of("sgd", 2, 4, GENERATE(false, true)), {});
  CHECK(stale.outcome == Outcome::different);
  CHECK_FALSE(stale.passed);
  CHECK(stale.runs.front().outcome == Outcome::different);  // also by comparison
  CHECK(to_text(stale).starts_with("not the same training as one rank: stale weights: stage 0 goes forward with"));
  for (const auto& [pipeline, micro_batches] : {std::pair{1, 4}, std::pair{4, 1}}) {
    const VerifyResult same = verify(scenario_of("adam", pipeline, micro_batches, true), {});
    INFO(to_text(same));
    CHECK(same.passed);
    CHECK(same.stale_weights.empty());
  }
}

TEST_CASE("options that cannot be combined with updates after each micro-batch are refused in one line") {
  CHECK(refusal([](Scenario&) {}) == "");
  CHECK(refusal([](Scenario& s) { s.plan.data = 2; }).find("use data = 1") != std::string::npos);
  CHECK(refusal([](Scenario& s) { s.plan.tensor = 2; }).find("use tensor = 1") != std::string::npos);
  CHECK(refusal([](Scenario& s) { s.model.tied = true; }).find("use tied = false") != std::string::npos);
  CHECK(refusal([](Scenario& s) { s.model.tied = true; }, 1) == "");
  CHECK(refusal([](Scenario& s) { s.train.clip = 1; }).find("use clip = 0") != std::string::npos);
  CHECK(refusal([](Scenario& s) { s.train.magnitudes_every = 1; }).find("magnitudes_every = 0") != std::string::npos);
  CHECK(refusal([](Scenario& s) { s.plan.precision = "fp16"; }).find("precision = \"bf16\"") != std::string::npos);
  CHECK(refusal([](Scenario& s) { s.plan.offload = "optimizer"; }).find("offload = \"none\"") != std::string::npos);
  CHECK(refusal([](Scenario& s) { s.plan.recompute = "blocks"; }).find("weight_stashing = true") != std::string::npos);
  CHECK(refusal([](Scenario& s) { s.plan.data_parallel = "main-device"; }).find("all-reduce") != std::string::npos);
  CHECK(refusal([](Scenario& s) {
          s.plan.schedule = "1f1b", s.plan.weight_stashing = true;
        }).find("weight_stashing is that of schedule \"1f1b-async\"") == 0);
}
