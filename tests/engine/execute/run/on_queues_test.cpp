// The requirements for training on the CPU also hold on a GPU: losses, norms, and the same model as one rank.
#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/on_queues.hpp"

using namespace rankscope;
using namespace rankscope::on_queues;

using namespace std::chrono_literals;

TEST_CASE("on streams every plan trains the same model as one rank") {
  const Plan plan = GENERATE(Plan{"zb-h1", 1, 1, 2}, Plan{"1f1b", 2, 1, 2, 1}, Plan{"1f1b", 2, 1, 1, 2, "ring"},
                             Plan{"1f1b", 4, 1, 1, 3}, Plan{"1f1b", 2, 2, 1, 0, "tree", "none", "blocks", true},
                             Plan{"1f1b", 2, 1, 1, 1, "auto", "optimizer"},
                             Plan{"1f1b", 2, 1, 1, 0, "auto", "none", "none", false, "main-device"},
                             Plan{"1f1b", 2, 1, 1, 0, "auto", "none", "none", false, "parameter-server"});
  const VerifyResult result = verify(scenario_of(plan), on_gpu());
  INFO(text_of(plan) << "\n" << to_text(result));
  CHECK(result.passed);
}

TEST_CASE("a GPU's losses and norms are the CPU's, and its reports are in order") {
  const Plan plan = GENERATE(Plan{"1f1b"}, Plan{"1f1b", 2, 1, 2, 1}, Plan{"1f1b", 2, 1, 1, 0, "ring"});
  INFO(text_of(plan));
  Scenario scenario = scenario_of(plan);
  scenario.train.optimizer = "adamw";
  scenario.train.magnitudes_every = 2;
  RunReports on_cpu, on_device;
  run_reported(scenario, {}, 3, on_cpu);
  run_reported(scenario, on_gpu(), 3, on_device);
  REQUIRE(on_device.losses.size() == 3);
  for (const auto& [step, loss] : on_cpu.losses) CHECK(on_device.losses.at(step) == Approx(loss).epsilon(1e-5));
  for (const auto& [step, square] : on_cpu.square_norm)
    CHECK(on_device.square_norm.at(step) == Approx(square).epsilon(1e-4));
  // Rounding moves few gradients to another power of two, except those of the key's bias, whose true gradient is zero.
  REQUIRE(on_device.magnitudes.size() == 2);
  for (const auto& [number, counts] : on_cpu.magnitudes) {
    double all = 0, differ = 0;
    for (std::size_t b = 0; b < counts.size(); ++b) {
      all += counts[b];
      differ += std::abs(counts[b] - on_device.magnitudes.at(number)[b]);
    }
    CHECK(all > 1000);
    CHECK(differ < 0.02 * all);
  }
  CHECK(on_device.spans == on_cpu.spans);
  CHECK(on_device.phases == on_cpu.phases);
  CHECK(on_device.in_order);
  CHECK(on_device.has_costs);
}

TEST_CASE("bf16 with masters trains on streams, too") {
  const VerifyResult result = verify(scenario_of({"1f1b", 1, 1, 2}, "bf16"), on_gpu(0));
  INFO(to_text(result));
  CHECK(result.passed);
}

TEST_CASE("a resnet over two stages trains on streams as on one rank, with the losses of the CPU") {
  Scenario scenario = scenario_of({"1f1b", 1, 1, 2});
  scenario.model = {.kind = "resnet", .layers = 4, .width = 4, .image = 40, .classes = 5};
  const VerifyResult result = verify(scenario, on_gpu());
  INFO(to_text(result));
  CHECK(result.passed);
  RunReports on_cpu, on_device;
  run_reported(scenario, {}, 2, on_cpu);
  run_reported(scenario, on_gpu(0), 2, on_device);
  REQUIRE(on_device.losses.size() == 2);
  for (const auto& [step, loss] : on_cpu.losses) CHECK(on_device.losses.at(step) == Approx(loss).epsilon(1e-4));
}

TEST_CASE("fp16 with a loss scale trains on streams, on the host's lane too, and over ranks") {
  const Plan plan =
      GENERATE(Plan{"1f1b", 1, 1, 2}, Plan{"1f1b", 2, 1, 1, 2}, Plan{"1f1b", 2, 1, 1, 1, "auto", "optimizer"});
  const VerifyResult result = verify(scenario_of(plan, "fp16"), on_gpu());
  INFO(text_of(plan) << "\n" << to_text(result));
  CHECK(result.passed);
}

TEST_CASE("a GPU skips the step that overflows, halves the loss scale, and reports the CPU's norms") {
  Scenario scenario = scenario_of({"1f1b", 2, 1, 1}, "fp16");
  scenario.train.optimizer = "adamw";
  scenario.train.loss_scale = 1024;
  scenario.train.loss_scale_window = 2;
  scenario.fault.plant = "overflow";
  RunReports on_cpu, on_device;
  run_reported(scenario, {}, 5, on_cpu);
  run_reported(scenario, on_gpu(), 5, on_device);
  REQUIRE(on_cpu.scales.size() == 5);
  CHECK(on_device.scales == on_cpu.scales);
  std::set<double> different;
  for (const auto& [step, scale] : on_cpu.scales) different.insert(scale);
  CHECK(different.size() > 1);
  for (const auto& [step, loss] : on_cpu.losses) CHECK(on_device.losses.at(step) == Approx(loss).epsilon(2e-2));
  for (const auto& [step, square] : on_cpu.square_norm) {
    INFO("step " << step);
    CHECK(std::isfinite(square) == std::isfinite(on_device.square_norm.at(step)));
    if (std::isfinite(square)) CHECK(on_device.square_norm.at(step) == Approx(square).epsilon(4e-2));
  }
}

TEST_CASE("asynchronous servers on streams do what a serial replay of their arrivals does") {
  struct Case {
    int workers, servers;
    const char* precision;
  };
  const auto [workers, servers, precision] = GENERATE(Case{2, 1, "fp64"}, Case{3, 2, "bf16"});
  Scenario scenario =
      scenario_of({"1f1b", workers, 1, 1, 0, "auto", "none", "none", false, "parameter-server"}, precision);
  scenario.plan.servers = servers;
  scenario.plan.staleness = 4;
  scenario.train.clip = 0;
  INFO(workers << " workers, " << servers << " servers, " << precision);
  RunSettings settings = on_gpu();
  std::atomic<bool> late{true};
  settings.comm.before = [&late](int rank, Lane lane, const char*) {  // meanwhile the others finish all their steps
    if (rank == 1 && lane == Lane::server && late.exchange(false)) std::this_thread::sleep_for(500ms);
  };
  const VerifyResult result = verify(scenario, settings);
  INFO(to_text(result));
  CHECK(result.replayed);
  CHECK(result.passed);
}

TEST_CASE("a fault of one worker is found by the replay of an asynchronous server on streams") {
  Scenario scenario = scenario_of({"1f1b", 2, 1, 1, 0, "auto", "none", "none", false, "parameter-server"});
  scenario.plan.staleness = 1;
  scenario.train.clip = 0;
  scenario.fault.plant = "gradient_scale";
  CHECK(is_wrong(scenario, on_gpu()));
}

TEST_CASE("an op that a GPU cannot run yet is refused by name") {
  const Scenario scenario = scenario_of({"1f1b", 2, 1, 1, 0, "auto", "none", "none", false, "main-device"}, "fp16");
  CHECK_THROWS_WITH(verify(scenario, on_gpu(0)),
                    ContainsText("plan.precision = \"fp16\" with plan.data_parallel = \"main-device\" does not run"));
}
