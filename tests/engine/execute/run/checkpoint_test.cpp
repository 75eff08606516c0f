// A run continues from a checkpoint: bit for bit under the same plan, and like one rank under any other.
#include "engine/execute/checkpoint/checkpoint.hpp"

#include <filesystem>
#include <fstream>
#include <functional>

#include "engine/plan/optimizer_rule/rule.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/trained.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;
using namespace rankscope::testing;

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

}  // namespace

TEST_CASE("under the same plan a run continues bit for bit") {
  struct Plan {
    int data, pipeline, zero;
  };
  const auto plan = GENERATE(Plan{1, 1, 0}, Plan{2, 2, 0}, Plan{2, 1, 1}, Plan{2, 2, 2}, Plan{4, 1, 3});
  const auto* precision = GENERATE("fp64", "fp32", "bf16");
  const auto* optimizer = GENERATE("adamw", "adam8bit", "sgd");
  const TemporaryDirectory folder;
  Scenario s = scenario_of(plan.data, plan.pipeline, plan.zero, precision);
  s.train.optimizer = optimizer;
  const Trained straight = train(s, folder.path().string());
  const auto checkpoints = checkpoints_in(folder.path().string());
  REQUIRE(checkpoints.size() == 3);  // after 2, 4 and the last step
  const Checkpoint after_two(checkpoints.front());
  CHECK(after_two.steps_done() == 2);
  INFO(precision << " " << optimizer << " data " << plan.data << " pipeline " << plan.pipeline << " ZeRO "
                 << plan.zero);
  CHECK_FALSE(after_two.find_mismatch(s));
  CHECK(train(s, "", &after_two).memory == straight.memory);
}

TEST_CASE("under any other plan it continues with the same training") {
  const TemporaryDirectory folder;
  const Scenario written = scenario_of(2, 2, GENERATE(0, 1, 3));
  const Weights straight = train(written, folder.path().string()).weights;
  const Checkpoint after_two(checkpoints_in(folder.path().string()).front());
  for (const Scenario& s :
       {scenario_of(1, 1, 0), scenario_of(4, 1, 1), scenario_of(1, 4, 0), scenario_of(2, 2, 2), scenario_of(2, 1, 3)}) {
    REQUIRE_FALSE(after_two.find_mismatch(s));
    INFO("data " << s.plan.data << " pipeline " << s.plan.pipeline << " ZeRO " << s.plan.zero);
    CHECK(difference(train(s, "", &after_two).weights, straight) < 1e-12);
  }
}

TEST_CASE("a checkpoint restores adafactor's rows and columns and adam8bit's blocks") {
  const auto* optimizer = GENERATE("adafactor", "adam8bit", "momentum");
  const TemporaryDirectory folder;
  Scenario written = scenario_of(2, 1, 0);
  written.train.optimizer = optimizer;
  // Otherwise rounding in a gradient whose true value is zero would be enlarged to a whole step.
  if (const double epsilon = optimizer_rule(optimizer).parity_epsilon; epsilon > 0)
    written.train.hyper.epsilon = epsilon;
  const Weights straight = train(written, folder.path().string()).weights;
  const Checkpoint after_two(checkpoints_in(folder.path().string()).front());
  Scenario s = scenario_of(2, 2, optimizer == std::string("adam8bit") ? 2 : 0);
  s.train.optimizer = optimizer;
  s.train.hyper.epsilon = written.train.hyper.epsilon;
  INFO(optimizer);
  CHECK(difference(train(s, "", &after_two).weights, straight) < (optimizer == std::string("adam8bit") ? 1e-6 : 1e-12));
}

TEST_CASE("another precision continues from the masters") {
  const TemporaryDirectory folder;
  const Scenario written = scenario_of(2, 1, 2, "bf16");
  train(written, folder.path().string());
  const Checkpoint last(checkpoints_in(folder.path().string()).back());
  Scenario s = scenario_of(1, 1, 0, "fp32");
  s.train.steps = 6;
  CHECK_NOTHROW(train(s, "", &last));
}

TEST_CASE("only the newest checkpoints are kept, and a partial one is none") {
  const TemporaryDirectory folder;
  Scenario s = scenario_of(2, 1, 0);
  s.train.checkpoint_every = 1;
  train(s, folder.path().string());
  const auto found = checkpoints_in(folder.path().string());
  CHECK(found.size() == 3);
  CHECK(std::filesystem::path(found.back()).filename() == "step-00000005");
  CHECK(checkpoints_in(found.front()) == std::vector<std::string>{found.front()});
  std::filesystem::rename(found.back(), found.back() + ".partial");
  CHECK(checkpoints_in(folder.path().string()).size() == 2);
  remove_partial_checkpoints(folder.path().string());
  CHECK_FALSE(std::filesystem::exists(found.back() + ".partial"));
}

TEST_CASE("a checkpoint that does not fit, or is damaged, is refused with a remedy") {
  const TemporaryDirectory folder;
  const Scenario s = scenario_of(2, 1, 0);
  train(s, folder.path().string());
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

  for (const auto& [change, key] : std::vector<std::pair<std::function<void(ModelSpec&)>, std::string>>{
           {[](ModelSpec& m) { m.kind = "llama"; }, "model.kind"},
           {[](ModelSpec& m) { m.key_value_heads = 1; }, "model.key_value_heads"},
           {[](ModelSpec& m) { m.inner = 40; }, "model.inner"},
           {[](ModelSpec& m) { m.rope_theta = 500; }, "model.rope_theta"},
           {[](ModelSpec& m) { m.norm_epsilon = 1e-6; }, "model.norm_epsilon"}}) {
    other = s;
    change(other.model);
    INFO(key);
    REQUIRE(checkpoint.find_mismatch(other));
    CHECK(checkpoint.find_mismatch(other)->find(key) != std::string::npos);
  }

  std::filesystem::remove(newest + "/rank-1.safetensors");
  CHECK_THROWS_WITH(Checkpoint(newest), ContainsText("rank-1.safetensors: cannot be read"));
  std::ofstream(newest + "/manifest.json") << "{}";
  CHECK_THROWS_WITH(Checkpoint(newest), ContainsText("manifest.json: is damaged"));
  std::filesystem::remove(newest + "/manifest.json");
  CHECK_THROWS_WITH(Checkpoint(newest), ContainsText("is no checkpoint"));
}
