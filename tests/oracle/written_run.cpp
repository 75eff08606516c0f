// Trains a small model and writes down all that another program needs to do the same, for torch_*.py: initial weights,
// every step's tokens and targets, and what came out: losses, the first step's gradients, the weights at the end.
#include <iostream>
#include <map>
#include <mutex>
#include <vector>

#include "engine/checkpoint/safetensors.hpp"
#include "engine/data/dataset.hpp"
#include "engine/run/job.hpp"
#include "engine/scenario/read.hpp"

using namespace rankscope;

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

struct Held {
  std::string name;
  DType type;
  Shape shape;
  std::vector<std::byte> bytes;
};

Held held(std::string name, const View& view) {
  return {std::move(name), view.type, view.shape, {view.as<std::byte>(), view.as<std::byte>() + view.bytes()}};
}

/// Of a rank that holds the model whole.
void take(std::map<std::string, Held>& into, const StepProgram& step, const RankRun& run, const std::string& prefix,
          MemoryClass memory) {
  for (BufferIndex b = 0; b < run.program().buffers.size(); ++b) {
    const Buffer& buffer = run.program().buffers[b];
    if (buffer.memory != memory || buffer.parameter < 0 || !buffer.persistent) continue;
    const std::string name = prefix + step.model.parameters[static_cast<std::size_t>(buffer.parameter)].name;
    into.insert_or_assign(name, held(name, run.view(b)));
  }
}

}  // namespace

/// Arguments: a scenario file, the file to write, then overrides "key=value". The plan may be any without ZeRO and
/// tensor parallelism, so that ranks hold whole tensors.
int main(int argc, char** argv) try {
  if (argc < 3) throw std::runtime_error("usage: written_run SCENARIO OUT.safetensors [key=value …]");
  std::vector<Override> overrides;
  for (int i = 3; i < argc; ++i) overrides.push_back(parse_override(argv[i]));
  const Scenario scenario = read_scenario(argv[1], overrides);
  const StepProgram step = compile(scenario);
  const int steps = scenario.train.steps;

  std::map<std::string, Held> all;
  std::mutex mutex;
  Losses losses(steps);
  RunSettings settings;
  settings.steps = static_cast<std::uint32_t>(steps);
  run_loopback(
      step, settings, [&](int) { return &losses; },
      [&](RankRun& run, int) {
        const auto locked = [&](const std::string& prefix, MemoryClass memory) {
          const std::lock_guard lock(mutex);
          take(all, step, run, prefix, memory);
        };
        locked("initial.", MemoryClass::parameters);
        run.run(0, 1);
        locked("gradient.", MemoryClass::gradients);
        run.run(1, static_cast<std::uint32_t>(steps) - 1);
        locked("final.", MemoryClass::parameters);
      });

  const std::unique_ptr<Dataset> data = open_dataset(scenario);
  const int batch = scenario.train.global_batch;
  const std::int64_t values = step.model.segments.front().inputs.front().shape.elements() / step.model.micro_batch_size;
  const Shape tokens_shape{steps, batch, values}, targets_shape{steps, batch, scenario.model.tokens_per_sample()};
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(tokens_shape.elements()));
  std::vector<std::int32_t> targets(static_cast<std::size_t>(targets_shape.elements()));
  data->fill(0, steps * batch, tokens.data(), targets.data());
  std::vector<double> mean;
  for (std::size_t s = 0; s < losses.sum.size(); ++s) mean.push_back(losses.sum[s] / losses.tokens[s]);

  std::vector<NamedView> tensors{{"tokens", {tokens.data(), DType::i32, tokens_shape}},
                                 {"targets", {targets.data(), DType::i32, targets_shape}},
                                 {"losses", {mean.data(), DType::f64, {steps}}}};
  for (auto& [name, h] : all) tensors.push_back({name, {h.bytes.data(), h.type, h.shape}});
  write_safetensors(argv[2], tensors,
                    {{"heads", std::to_string(scenario.model.heads)},
                     {"image", std::to_string(scenario.model.image)},
                     {"classes", std::to_string(scenario.model.classes)},
                     {"micro_batch", std::to_string(step.model.micro_batch_size)},
                     {"layers", std::to_string(scenario.model.layers)},
                     {"learning_rate", std::to_string(scenario.train.learning_rate)},
                     {"clip", std::to_string(scenario.train.clip)}});
  return 0;
} catch (const std::exception& e) {
  std::cerr << "written_run: " << e.what() << std::endl;
  return 1;
}
