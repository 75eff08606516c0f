// fp16: gradients are scaled so that they do not vanish, and all ranks skip a step that overflowed on any rank.
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include "engine/execute/checkpoint/checkpoint.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/prove/verify/verify.hpp"
#include "kernels/tensor/element.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;

namespace {

struct Plan {
  int data = 1, pipeline = 1, zero = 0;
};

Scenario scenario_of(const Plan& plan) {
  Scenario s;
  s.title = "fp16";
  s.model = {"gpt", 4, 32, 2, 16, 64, true, 0.0};
  s.plan.data = plan.data;
  s.plan.pipeline = plan.pipeline;
  s.plan.zero = plan.zero;
  s.plan.micro_batches = 4 / plan.data;
  s.plan.precision = "fp16";
  s.plan.bucket_mib = 0.05;
  s.train.global_batch = 8;
  s.train.steps = 4;
  s.train.optimizer = "adamw";
  s.train.clip = 0.5;
  s.train.loss_scale = 1024;
  return s;
}

/// A rank's weights as its optimizer keeps them, and the loss scale's state, after each step.
struct Seen {
  std::vector<std::map<BufferIndex, std::vector<double>>> masters;
  std::vector<std::array<double, 3>> scale;
};

struct RunReports : RankObserver {
  void span(Lane, const Span&) override {}
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& s, const StepTrace&) override {
    const std::lock_guard lock(mutex);
    square[s.step] += s.gradient_square_norm;
    scales[s.step].insert(s.loss_scale);
  }
  std::mutex mutex;
  std::map<std::uint32_t, double> square;
  std::map<std::uint32_t, std::set<double>> scales;  ///< by step: the scales that ranks reported
};

std::vector<Seen> run(const Scenario& scenario, RunReports* reports = nullptr) {
  const StepProgram step = compile(scenario);
  std::vector<Seen> ranks(static_cast<std::size_t>(step.grid.size()));
  RunReports own;
  run_loopback(
      step, {}, [&](int) { return reports ? reports : &own; },
      [&](RankRun& rank_run, int rank) {
        Seen& seen = ranks[static_cast<std::size_t>(rank)];
        for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(scenario.train.steps); ++s) {
          rank_run.run(s, 1);
          auto& masters = seen.masters.emplace_back();
          for (BufferIndex b = 0; b < rank_run.program().buffers.size(); ++b) {
            const Buffer& buffer = rank_run.program().buffers[b];
            const View view = rank_run.view(b);
            if (buffer.role == BufferRole::loss_scale)
              seen.scale.push_back({view.as<double>()[0], view.as<double>()[1], view.as<double>()[2]});
            if (buffer.role != BufferRole::master) continue;
            for (std::int64_t i = 0; i < view.elements(); ++i) masters[b].push_back(element(view, i));
          }
        }
      });
  return ranks;
}

}  // namespace

TEST_CASE("in fp16 every plan trains the same model as one rank") {
  const auto plan = GENERATE(Plan{2, 1, 0}, Plan{1, 4, 0}, Plan{2, 2, 1}, Plan{4, 1, 2}, Plan{2, 2, 3});
  const VerifyResult result = verify(scenario_of(plan), {});
  INFO("data " << plan.data << " pipeline " << plan.pipeline << " ZeRO " << plan.zero << "\n" << to_text(result));
  CHECK(result.passed);
}

TEST_CASE("an overflow both in the plan and on one rank is not a difference, an overflow on one side is") {
  const auto plan = GENERATE(Plan{2, 1, 0}, Plan{1, 4, 0}, Plan{2, 2, 2});
  Scenario s = scenario_of(plan);
  s.train.loss_scale = 0x1p24;  // causes an overflow in the first of five steps
  REQUIRE(run(s).front().scale[0][0] < s.train.loss_scale);
  const VerifyResult same = verify(s, {});
  INFO("data " << plan.data << " pipeline " << plan.pipeline << " ZeRO " << plan.zero << "\n" << to_text(same));
  CHECK(same.passed);
  s.train.loss_scale = 1024;
  s.fault.plant = "overflow";
  CHECK_FALSE(verify(s, {}).passed);
}

TEST_CASE("if one rank overflows, all ranks skip the step, and the optimizer does not count it") {
  const auto plan = GENERATE(Plan{1, 1, 0}, Plan{2, 2, 0}, Plan{1, 4, 0}, Plan{4, 1, 1}, Plan{2, 2, 2}, Plan{4, 1, 3});
  Scenario s = scenario_of(plan);
  s.train.clip = GENERATE(0.0, 0.5);
  s.fault.plant = "overflow";  // in step 1, on the last rank
  INFO("data " << plan.data << " pipeline " << plan.pipeline << " ZeRO " << plan.zero);
  for (const Seen& seen : run(s)) {
    REQUIRE(seen.scale.size() == 4);
    CHECK(seen.scale[0] == std::array<double, 3>{1024, 1, 1});
    CHECK(seen.scale[1] == std::array<double, 3>{512, 0, 1});
    CHECK(seen.scale[2] == std::array<double, 3>{512, 1, 2});
    CHECK(seen.scale[3] == std::array<double, 3>{512, 2, 3});
    CHECK(seen.masters[0] == seen.masters[1]);
    CHECK(seen.masters[1] != seen.masters[2]);
    for (const auto& [buffer, values] : seen.masters.back())
      for (const double value : values) REQUIRE(std::isfinite(value));
  }
}

TEST_CASE("the scale is doubled after a window without an overflow") {
  Scenario s = scenario_of({2, 1, 0});
  s.train.loss_scale_window = 2;
  RunReports reports;
  const std::vector<Seen> ranks = run(s, &reports);
  using Scales = std::set<double>;  // all ranks report the scale of the step's gradients, not the next step's
  CHECK(reports.scales == std::map<std::uint32_t, Scales>{{0, {1024}}, {1, {1024}}, {2, {2048}}, {3, {2048}}});
  for (const Seen& seen : ranks) {
    CHECK(seen.scale[0][0] == 1024);
    CHECK(seen.scale[1][0] == 2048);
    CHECK(seen.scale[2][0] == 2048);
    CHECK(seen.scale[3][0] == 4096);
  }
}

TEST_CASE("the scale changes neither the norm for clipping nor, except for rounding, the training") {
  Scenario s = scenario_of({2, 2, 1});
  s.train.clip = 0.05;  // clips in every step: the norm of scaled gradients would reduce them to nearly zero
  RunReports once, scaled;
  s.train.loss_scale = 64;
  const std::vector<Seen> a = run(s, &once);
  s.train.loss_scale = 1024;
  const std::vector<Seen> b = run(s, &scaled);
  for (const auto& [step, square] : once.square) {
    CHECK(std::sqrt(square) > 2 * s.train.clip);
    CHECK(std::sqrt(scaled.square.at(step)) == Approx(std::sqrt(square)).epsilon(0.01));
  }
  double off = 0, size = 0;
  for (std::size_t rank = 0; rank < a.size(); ++rank)
    for (const auto& [buffer, values] : a[rank].masters.back())
      for (std::size_t i = 0; i < values.size(); ++i) {
        off += std::pow(values[i] - b[rank].masters.back().at(buffer)[i], 2);
        size += values[i] * values[i];
      }
  CHECK(std::sqrt(off / size) < 1e-3);
}

TEST_CASE("the loss scale continues from a checkpoint") {
  const testing::TemporaryDirectory folder;
  Scenario s = scenario_of({2, 1, 0});
  s.train.checkpoint_every = 2;
  s.train.loss_scale_window = 2;
  RunSettings settings;
  settings.steps = 2;
  settings.checkpoint_folder = folder.path().string();
  run_loopback(compile(s), settings, [](int) { return nullptr; });
  const Checkpoint checkpoint(checkpoints_in(folder.path().string()).back());
  s.plan.data = 1;
  s.plan.pipeline = 2;
  s.plan.micro_batches = 4;
  RunSettings again;
  again.resume = &checkpoint;
  std::vector<std::vector<double>> states(2);
  run_loopback(
      compile(s), again, [](int) { return nullptr; },
      [&](RankRun& rank_run, int rank) {
        for (BufferIndex b = 0; b < rank_run.program().buffers.size(); ++b)
          if (rank_run.program().buffers[b].role == BufferRole::loss_scale) {
            const auto* state = rank_run.view(b).as<double>();
            states[static_cast<std::size_t>(rank)] = {state[0], state[2]};
          }
      });
  for (const auto& state : states) CHECK(state == std::vector<double>{2048, 2});
}
