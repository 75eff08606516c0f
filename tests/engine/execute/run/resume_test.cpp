// Checkpoints between very different plans: other tensor shares, states in the host's memory, on a main device or on
// servers, and a run that continues with another loss scale.
#include <cmath>
#include <string_view>

#include "engine/plan/scenario/check.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/trained.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;
using namespace rankscope::testing;

namespace {

struct Plan {
  int data = 1, tensor = 1, pipeline = 1, zero = 0;
  bool sequence_parallel = false;
  const char* offload = "none";
  const char* data_parallel = "all-reduce";
  int servers = 1;
  const char* schedule = "1f1b";
  const char* recompute = "none";
};

Scenario scenario_of(const Plan& plan, const char* precision = "fp64", const char* optimizer = "adamw") {
  Scenario s;
  s.title = "resumption";
  // With 2 and with 4 tensor ranks, the last rank's share of the vocabulary contains padding.
  s.model = {"gpt", 4, 32, 4, 16, 61, true, 0.1};
  s.plan.data = plan.data;
  s.plan.tensor = plan.tensor;
  s.plan.pipeline = plan.pipeline;
  s.plan.zero = plan.zero;
  s.plan.sequence_parallel = plan.sequence_parallel;
  s.plan.offload = plan.offload;
  s.plan.data_parallel = plan.data_parallel;
  s.plan.servers = plan.servers;
  s.plan.schedule = plan.schedule;
  s.plan.recompute = plan.recompute;
  s.plan.virtual_stages = std::string_view(plan.schedule) == "interleaved" ? 2 : 1;
  s.plan.micro_batches = 4 / plan.data;
  s.plan.precision = precision;
  s.plan.bucket_mib = 0.02;
  s.train.global_batch = 8;
  s.train.steps = 5;
  s.train.checkpoint_every = 2;
  s.train.optimizer = optimizer;
  s.train.warmup_steps = 3;
  s.train.clip = 0.5;
  s.train.loss_scale = 4096;
  return s;
}

std::string words(const Plan& p) {
  return "data " + std::to_string(p.data) + " tensor " + std::to_string(p.tensor) +
         (p.sequence_parallel ? " sequence-parallel" : "") + " pipeline " + std::to_string(p.pipeline) + " " +
         p.schedule + " ZeRO-" + std::to_string(p.zero) + " offload " + p.offload + " " + p.data_parallel +
         " servers " + std::to_string(p.servers) + " recompute " + p.recompute;
}

const Plan plans[] = {
    {},
    {.tensor = 2},
    {.tensor = 4, .sequence_parallel = true},
    {.tensor = 2, .pipeline = 2, .sequence_parallel = true, .schedule = "zb-h1"},
    {.data = 2, .tensor = 2, .zero = 1},
    {.data = 2, .tensor = 2, .pipeline = 2, .zero = 3, .schedule = "interleaved"},
    {.offload = "optimizer"},
    {.data = 4, .zero = 2, .offload = "optimizer", .recompute = "blocks"},
    {.data = 2, .data_parallel = "main-device"},
    {.data = 2, .tensor = 2, .pipeline = 2, .offload = "optimizer", .data_parallel = "main-device"},
    {.data = 2, .data_parallel = "parameter-server", .servers = 3},
    {.data = 4, .data_parallel = "parameter-server", .servers = 1},
};

Checkpoint after_two(const TemporaryDirectory& folder) {
  Checkpoint checkpoint(checkpoints_in(folder.path().string()).front());
  REQUIRE(checkpoint.steps_done() == 2);
  return checkpoint;
}

/// Prevents that rounding in gradients whose true value is zero is enlarged to steps. Sets a loss scale window of two
/// steps.
Scenario without_noise(Scenario s) {
  s.train.hyper.epsilon = 0.01;
  s.train.loss_scale_window = 2;
  return s;
}

/// In fp16. Step 1 overflows and is skipped.
Scenario overflowing() {
  Scenario s = without_noise(scenario_of({.data = 2, .pipeline = 2, .zero = 2}, "fp16"));
  s.fault.plant = "overflow";
  return s;
}

}  // namespace

TEST_CASE("under the same plan a run continues bit for bit, whatever it shards or offloads") {
  const auto [precision, optimizer] = GENERATE(
      table<const char*, const char*>({{"fp64", "adamw"}, {"fp32", "sophia"}, {"bf16", "adamw"}, {"fp16", "adamw"}}));
  for (const Plan& plan : plans) {
    const Scenario s = scenario_of(plan, precision, optimizer);
    if (complaint_about_plan(s)) {
      CHECK((s.plan.has_servers() && s.plan.precision == "fp16"));  // the only invalid combination
      continue;
    }
    INFO(words(plan) << " " << precision << " " << optimizer);
    const TemporaryDirectory folder;
    const Trained straight = train(s, folder.path().string());
    const Checkpoint checkpoint = after_two(folder);
    REQUIRE_FALSE(checkpoint.find_mismatch(s));
    const Trained resumed = train(s, "", &checkpoint);
    REQUIRE(!straight.memory.empty());
    CHECK(resumed.memory == straight.memory);
    CHECK(resumed.loss_scale == straight.loss_scale);
  }
}

TEST_CASE("training continues unchanged from each of these plans to the next, to one rank and from one rank") {
  const std::size_t count = std::size(plans);
  for (std::size_t from = 0; from < count; ++from) {
    const TemporaryDirectory folder;
    const Weights straight = train(scenario_of(plans[from]), folder.path().string()).weights;
    const Checkpoint checkpoint = after_two(folder);
    for (std::size_t to = 0; to < count; ++to) {
      if (from != 0 && to != 0 && to != (from + 1) % count) continue;
      INFO("from " << words(plans[from]) << "\nto   " << words(plans[to]));
      CHECK(difference(train(scenario_of(plans[to]), "", &checkpoint).weights, straight) < 1e-12);
    }
  }
}

TEST_CASE("a checkpoint of a resumed run is as good as the first one: through three plans in a row") {
  const Weights straight = train(scenario_of({.tensor = 4}), "").weights;
  const TemporaryDirectory first, second;
  train(scenario_of({.tensor = 4}), first.path().string());
  const Checkpoint after_2 = after_two(first);
  train(scenario_of({.data = 2, .zero = 3, .offload = "optimizer"}), second.path().string(), &after_2);
  const Checkpoint after_4(checkpoints_in(second.path().string()).front());
  REQUIRE(after_4.steps_done() == 4);
  const Plan last{.data = 2, .data_parallel = "parameter-server", .servers = 2};
  CHECK(difference(train(scenario_of(last), "", &after_4).weights, straight) < 1e-12);
}

TEST_CASE("fp16 continues with its loss scale and its count of updates under every plan") {
  const TemporaryDirectory folder;
  const Trained straight = train(overflowing(), folder.path().string());
  const Checkpoint checkpoint = after_two(folder);
  CHECK(checkpoint.skipped_updates() == 1);
  const std::array<double, 3> wanted{4096, 1, 4};  // halved in step 1, doubled after steps 2 and 3
  for (const auto& [rank, state] : straight.loss_scale) CHECK(state == wanted);
  for (const Plan& plan : plans) {
    if (std::string_view(plan.data_parallel) == "parameter-server") continue;
    const Trained resumed = train(without_noise(scenario_of(plan, "fp16")), "", &checkpoint);
    INFO(words(plan));
    CHECK(!resumed.loss_scale.empty());
    for (const auto& [rank, state] : resumed.loss_scale) CHECK(state == wanted);
    CHECK(difference(resumed.weights, straight.weights) < 1e-2);
  }
}

TEST_CASE("an update that fp16 skipped stays skipped in other precisions, which pass the loss scale on") {
  const TemporaryDirectory folder, other;
  const Trained straight = train(overflowing(), folder.path().string());
  const Checkpoint in_fp16 = after_two(folder);
  const Scenario s = without_noise(scenario_of({.tensor = 2}, "fp32"));
  // One more update would change Adam's bias corrections by a third.
  CHECK(difference(train(s, other.path().string(), &in_fp16).weights, straight.weights) < 1e-2);
  const Checkpoint in_fp32(checkpoints_in(other.path().string()).front());
  REQUIRE(in_fp32.steps_done() == 4);
  CHECK(in_fp32.skipped_updates() == 1);
  const Trained back = train(without_noise(scenario_of({.data = 2}, "fp16")), "", &in_fp32);
  CHECK(back.loss_scale.at(0) == std::array<double, 3>{2048, 1, 4});
  CHECK(difference(back.weights, straight.weights) < 1e-2);
}
