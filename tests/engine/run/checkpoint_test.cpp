// A run goes on from a checkpoint: bit for bit under the same plan, and as one rank would under any other.
#include "engine/checkpoint/checkpoint.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "engine/model/part.hpp"
#include "engine/optimizer/rule/rule.hpp"
#include "engine/run/job.hpp"
#include "kernels/tensor/element.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;
using testing::TemporaryDirectory;

namespace {

Scenario scenario_of(int data, int pipeline, int zero, std::string precision = "fp64") {
  Scenario s;
  s.title = "checkpoint";
  s.model = {"gpt", 4, 32, 2, 16, 64, true, 0.1};
  s.plan.data = data;
  s.plan.pipeline = pipeline;
  s.plan.micro_batches = 8 / data;
  s.plan.zero = zero;
  s.plan.precision = std::move(precision);
  s.plan.bucket_mib = 0.02;
  s.train.global_batch = 8;
  s.train.steps = 5;
  s.train.checkpoint_every = 2;
  s.train.optimizer = "adamw";
  s.train.warmup_steps = 3;
  s.train.clip = 0.5;
  return s;
}

using Weights = std::map<std::string, std::vector<double>>;

/// Runs the scenario to its end, from a checkpoint if given; the whole model's weights afterwards.
Weights run(const Scenario& scenario, const std::string& folder, const Checkpoint* resume = nullptr) {
  const StepProgram step = compile(scenario);
  Weights weights;
  std::mutex mutex;
  RunSettings settings;
  settings.steps = static_cast<std::uint32_t>(scenario.train.steps);
  settings.checkpoint_folder = folder;
  settings.resume = resume;
  settings.first_step = resume ? static_cast<std::uint32_t>(resume->steps_done()) : 0;
  run_loopback(
      step, settings, [](int) { return nullptr; },
      [&](RankRun& rank_run, int rank) {
        rank_run.run(settings.first_step, settings.steps - settings.first_step);
        const std::lock_guard lock(mutex);
        for (BufferIndex b = 0; b < rank_run.program().buffers.size(); ++b) {
          const Buffer& buffer = rank_run.program().buffers[b];
          if (buffer.memory != MemoryClass::parameters || !buffer.persistent || buffer.parameter < 0) continue;
          const ParameterSpec& spec = step.model.parameters[static_cast<std::size_t>(buffer.parameter)];
          std::vector<double>& values = weights[spec.name];
          values.resize(static_cast<std::size_t>(spec.whole.elements()));
          for (const ElementRun& r :
               element_runs(spec, step.grid.coordinates_of(rank).tensor, buffer.first, buffer.shape.elements()))
            for (std::int64_t i = 0; i < r.count && !r.is_padding(); ++i)
              values[static_cast<std::size_t>(r.global + i)] = element(rank_run.view(b), r.local + i);
        }
      });
  return weights;
}

/// The greatest difference of two models, over the greatest weight of the tensor.
double difference(const Weights& a, const Weights& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (const auto& [name, values] : a) {
    double size = 0, off = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      size = std::max(size, std::abs(values[i]));
      off = std::max(off, std::abs(values[i] - b.at(name)[i]));
    }
    worst = std::max(worst, off / size);
  }
  return worst;
}

}  // namespace

TEST_CASE("under the same plan a run goes on bit for bit") {
  struct Plan {
    int data, pipeline, zero;
  };
  const auto plan = GENERATE(Plan{1, 1, 0}, Plan{2, 2, 0}, Plan{2, 1, 1}, Plan{2, 2, 2}, Plan{4, 1, 3});
  const auto* precision = GENERATE("fp64", "fp32", "bf16");
  const auto* optimizer = GENERATE("adamw", "adam8bit", "sgd");
  const TemporaryDirectory folder;
  Scenario s = scenario_of(plan.data, plan.pipeline, plan.zero, precision);
  s.train.optimizer = optimizer;
  const Weights straight = run(s, folder.path().string());
  const auto checkpoints = checkpoints_in(folder.path().string());
  REQUIRE(checkpoints.size() == 3);  // after 2, 4 and the last step
  const Checkpoint after_two(checkpoints.front());
  CHECK(after_two.steps_done() == 2);
  INFO(precision << " " << optimizer << " data " << plan.data << " pipeline " << plan.pipeline << " ZeRO "
                 << plan.zero);
  CHECK_FALSE(after_two.find_mismatch(s));
  CHECK(run(s, "", &after_two) == straight);
}

TEST_CASE("under any other plan it goes on as it would have") {
  const TemporaryDirectory folder;
  const Scenario written = scenario_of(2, 2, GENERATE(0, 1, 3));
  const Weights straight = run(written, folder.path().string());
  const Checkpoint after_two(checkpoints_in(folder.path().string()).front());
  for (const Scenario& s :
       {scenario_of(1, 1, 0), scenario_of(4, 1, 1), scenario_of(1, 4, 0), scenario_of(2, 2, 2), scenario_of(2, 1, 3)}) {
    REQUIRE_FALSE(after_two.find_mismatch(s));
    INFO("data " << s.plan.data << " pipeline " << s.plan.pipeline << " ZeRO " << s.plan.zero);
    CHECK(difference(run(s, "", &after_two), straight) < 1e-12);
  }
}

TEST_CASE("adafactor's rows and columns and adam8bit's blocks are found again") {
  const auto* optimizer = GENERATE("adafactor", "adam8bit", "momentum");
  const TemporaryDirectory folder;
  Scenario written = scenario_of(2, 1, 0);
  written.train.optimizer = optimizer;
  // Or else what is rounding in a gradient that is truly zero is enlarged to a step.
  if (const double epsilon = optimizer_rule(optimizer).parity_epsilon; epsilon > 0)
    written.train.hyper.epsilon = epsilon;
  const Weights straight = run(written, folder.path().string());
  const Checkpoint after_two(checkpoints_in(folder.path().string()).front());
  Scenario s = scenario_of(2, 2, optimizer == std::string("adam8bit") ? 2 : 0);
  s.train.optimizer = optimizer;
  s.train.hyper.epsilon = written.train.hyper.epsilon;
  INFO(optimizer);
  CHECK(difference(run(s, "", &after_two), straight) < (optimizer == std::string("adam8bit") ? 1e-6 : 1e-12));
}

TEST_CASE("another precision goes on from the masters") {
  const TemporaryDirectory folder;
  const Scenario written = scenario_of(2, 1, 2, "bf16");
  run(written, folder.path().string());
  const Checkpoint last(checkpoints_in(folder.path().string()).back());
  Scenario s = scenario_of(1, 1, 0, "fp32");
  s.train.steps = 6;
  CHECK_NOTHROW(run(s, "", &last));
}

TEST_CASE("only the newest checkpoints are kept, and a partial one is none") {
  const TemporaryDirectory folder;
  Scenario s = scenario_of(2, 1, 0);
  s.train.checkpoint_every = 1;
  run(s, folder.path().string());
  const auto found = checkpoints_in(folder.path().string());
  CHECK(found.size() == 3);
  CHECK(std::filesystem::path(found.back()).filename() == "step-00000005");
  CHECK(checkpoints_in(found.front()) == std::vector<std::string>{found.front()});
  std::filesystem::rename(found.back(), found.back() + ".partial");
  CHECK(checkpoints_in(folder.path().string()).size() == 2);
  remove_partial_checkpoints(folder.path().string());
  CHECK_FALSE(std::filesystem::exists(found.back() + ".partial"));
}

TEST_CASE("a checkpoint that does not fit, or is damaged, is refused with what would be right") {
  const TemporaryDirectory folder;
  const Scenario s = scenario_of(2, 1, 0);
  run(s, folder.path().string());
  const std::string newest = checkpoints_in(folder.path().string()).back();
  const Checkpoint checkpoint(newest);
  Scenario other = s;
  other.model.width = 64;
  CHECK(checkpoint.find_mismatch(other)->find("model.width = 32, and the scenario has 64") != std::string::npos);
  other = s;
  other.train.optimizer = "sgd";
  CHECK(checkpoint.find_mismatch(other)->find("train.optimizer") != std::string::npos);
  other = s;
  other.train.global_batch = 16;
  CHECK(checkpoint.find_mismatch(other)->find("train.global_batch") != std::string::npos);

  std::filesystem::remove(newest + "/rank-1.safetensors");
  CHECK_THROWS_WITH(Checkpoint(newest), ContainsText("rank-1.safetensors: cannot be read"));
  std::ofstream(newest + "/manifest.json") << "{}";
  CHECK_THROWS_WITH(Checkpoint(newest), ContainsText("manifest.json: is damaged"));
  std::filesystem::remove(newest + "/manifest.json");
  CHECK_THROWS_WITH(Checkpoint(newest), ContainsText("is no checkpoint"));
}
