// The matrix of plans tests that ZeRO trains the same model as one rank (tests/engine/prove/verify/matrix). This file
// tests that it has the same bits as plain data parallelism if sums have the same order, and that faults are detected.
#include <map>
#include <mutex>

#include "engine/execute/run/job.hpp"
#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

Scenario scenario_of(int zero, int data, int pipeline, int micro_batches, std::string precision, bool tied = true) {
  Scenario s;
  s.title = "ZeRO";
  s.model = {"gpt", 4, 32, 2, 16, 64, tied, 0.0};
  s.plan.data = data;
  s.plan.pipeline = pipeline;
  s.plan.micro_batches = micro_batches;
  s.plan.zero = zero;
  s.plan.precision = std::move(precision);
  s.plan.bucket_mib = 0.05;  // several buckets, which shards divide inside tensors
  s.train.global_batch = 2 * data * micro_batches;
  s.train.optimizer = "adamw";
  s.train.clip = 0.5;
  return s;
}

/// The bytes of every parameter after some steps, collected from the pieces on all ranks.
std::map<int, std::vector<std::byte>> trained(const Scenario& scenario) {
  const StepProgram step = compile(scenario);
  std::map<int, std::vector<std::byte>> parameters;
  std::mutex mutex;
  RunSettings settings;
  settings.steps = 4;
  run_loopback(
      step, settings, [](int) { return nullptr; },
      [&](RankRun& run, int) {
        run.run(0, settings.steps);
        const std::lock_guard lock(mutex);
        for (BufferIndex b = 0; b < run.program().buffers.size(); ++b) {
          const Buffer& buffer = run.program().buffers[b];
          if (buffer.memory != MemoryClass::parameters || !buffer.persistent || buffer.parameter < 0) continue;
          const ParameterSpec& spec = step.model.parameters[static_cast<std::size_t>(buffer.parameter)];
          auto& bytes = parameters[buffer.parameter];
          bytes.resize(static_cast<std::size_t>(spec.shape.elements() * bytes_of(buffer.type)));
          const View view = run.view(b);
          std::copy_n(view.as<std::byte>(), view.bytes(), bytes.begin() + buffer.first * bytes_of(buffer.type));
        }
      });
  return parameters;
}

}  // namespace

TEST_CASE("with ring chunks equal to shards ZeRO has the bits of data parallelism") {
  const int zero = GENERATE(1, 2, 3);
  const auto* precision = GENERATE("fp32", "bf16");
  // Stage 3 has other buckets, and so other chunks; with two ranks the order makes no difference.
  Scenario s = scenario_of(zero, zero == 3 ? 2 : 3, 1, zero == 1 ? 2 : 1, precision);
  s.plan.collective = "ring";
  s.train.clip = 0;  // the norm is summed rank by rank
  Scenario plain = s;
  plain.plan.zero = 0;
  INFO("ZeRO-" << zero << " " << precision);
  CHECK(trained(s) == trained(plain));
}

TEST_CASE("planted faults in sharded training are detected") {
  const int zero = GENERATE(1, 2, 3);
  const auto* plant = GENERATE("gradient_scale", "dropped_micro_batch", "skipped_norm_term", "untied_embedding");
  Scenario s = scenario_of(zero, 2, 2, 2, "fp64");
  s.fault.plant = plant;
  const VerifyResult result = verify(s, {});
  INFO("ZeRO-" << zero << " " << plant << "\n" << to_text(result));
  CHECK_FALSE(result.passed);
}
