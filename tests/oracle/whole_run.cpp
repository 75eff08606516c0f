#include "tests/oracle/whole_run.hpp"

#include <memory>
#include <mutex>

#include "engine/execute/data/dataset.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope::oracle {
namespace {

struct Losses : RankObserver {
  explicit Losses(int steps) : sum(static_cast<std::size_t>(steps)), tokens(sum.size()) {}
  void span(Lane, const Span&) override {}
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& s, const StepTrace&) override {
    if (s.tokens == 0) return;
    const std::lock_guard lock(mutex);
    sum[s.step] += s.loss * static_cast<double>(s.tokens);
    tokens[s.step] += static_cast<double>(s.tokens);
  }
  std::mutex mutex;
  std::vector<double> sum, tokens;
};

HeldTensor held(const View& view) {
  return {view.type, view.shape, {view.as<std::byte>(), view.as<std::byte>() + view.bytes()}};
}

template <class Number>
HeldTensor held(std::vector<Number> numbers, DType type, const Shape& shape) {
  return held(View{numbers.data(), type, shape});
}

/// Takes the tensors of a rank, none of which is a shard.
void take(std::map<std::string, HeldTensor>& into, const StepProgram& step, const RankRun& run,
          const std::string& prefix, MemoryClass memory) {
  for (BufferIndex b = 0; b < run.program().buffers.size(); ++b) {
    const Buffer& buffer = run.program().buffers[b];
    if (buffer.memory != memory || buffer.parameter < 0 || !buffer.persistent) continue;
    const std::string name = prefix + step.model.parameters[static_cast<std::size_t>(buffer.parameter)].name;
    into.insert_or_assign(name, held(run.view(b)));
  }
}

void take_data(WholeRun& into, const Scenario& scenario, const Model& model) {
  const std::unique_ptr<Dataset> data = open_dataset(scenario);
  const int batch = scenario.train.global_batch, steps = scenario.train.steps;
  const std::int64_t values = model.segments.front().inputs.front().shape.elements() / model.micro_batch_size;
  const Shape tokens_shape{steps, batch, values}, targets_shape{steps, batch, scenario.model.tokens_per_sample()};
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(tokens_shape.elements()));
  std::vector<std::int32_t> targets(static_cast<std::size_t>(targets_shape.elements()));
  data->fill(0, steps * batch, tokens.data(), targets.data());
  into.tensors["tokens"] = held(std::move(tokens), DType::i32, tokens_shape);
  into.tensors["targets"] = held(std::move(targets), DType::i32, targets_shape);
}

}  // namespace

WholeRun whole_run(const Scenario& scenario) {
  const StepProgram step = compile(scenario);
  const int steps = scenario.train.steps;
  WholeRun whole;
  std::mutex mutex;
  Losses losses(steps);
  RunSettings settings;
  settings.steps = static_cast<std::uint32_t>(steps);
  run_loopback(
      step, settings, [&](int) { return &losses; },
      [&](RankRun& run, int) {
        const auto locked = [&](const std::string& prefix, MemoryClass memory) {
          const std::lock_guard lock(mutex);
          take(whole.tensors, step, run, prefix, memory);
        };
        locked("initial.", MemoryClass::parameters);
        run.run(0, 1);
        locked("gradient.", MemoryClass::gradients);
        run.run(1, static_cast<std::uint32_t>(steps) - 1);
        locked("final.", MemoryClass::parameters);
      });

  take_data(whole, scenario, step.model);
  std::vector<double> mean;
  for (std::size_t s = 0; s < losses.sum.size(); ++s) mean.push_back(losses.sum[s] / losses.tokens[s]);
  whole.tensors["losses"] = held(std::move(mean), DType::f64, {steps});
  whole.metadata = {{"heads", std::to_string(scenario.model.heads)},
                    {"image", std::to_string(scenario.model.image)},
                    {"classes", std::to_string(scenario.model.classes)},
                    {"micro_batch", std::to_string(step.model.micro_batch_size)},
                    {"layers", std::to_string(scenario.model.layers)},
                    {"key_value_heads", std::to_string(scenario.model.heads_of_keys())},
                    {"rope_theta", plain(scenario.model.rope_theta)},
                    {"norm_epsilon", plain(scenario.model.norm_epsilon)},
                    {"learning_rate", std::to_string(scenario.train.learning_rate)},
                    {"clip", std::to_string(scenario.train.clip)}};
  return whole;
}

}  // namespace rankscope::oracle
