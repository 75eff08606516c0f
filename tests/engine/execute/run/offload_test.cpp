// Optimizer states in the host's memory: the training has the same bits, and bytes move to other memory classes.
#include <map>
#include <mutex>

#include "engine/execute/run/job.hpp"
#include "engine/plan/program/dry_run.hpp"
#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/summaries.hpp"

using namespace rankscope;
using namespace rankscope::testing;

namespace {

struct Plan {
  int data, tensor, pipeline, zero;
  const char* precision;
  const char* optimizer;
  const char* schedule = "1f1b";
  double clip = 0.5;
  bool sequence_parallel = false;
  std::string words() const {
    return "data " + std::to_string(data) + " tensor " + std::to_string(tensor) + " pipeline " +
           std::to_string(pipeline) + " ZeRO-" + std::to_string(zero) + " " + precision + " " + optimizer + " " +
           schedule;
  }
};

Scenario scenario_of(const Plan& plan, const char* offload) {
  Scenario s;
  s.title = "offload";
  s.model = {"gpt", 4, 32, 4, 16, 64, true, 0.1};
  s.plan.data = plan.data;
  s.plan.tensor = plan.tensor;
  s.plan.pipeline = plan.pipeline;
  s.plan.zero = plan.zero;
  s.plan.precision = plan.precision;
  s.plan.schedule = plan.schedule;
  s.plan.sequence_parallel = plan.sequence_parallel;
  s.plan.offload = offload;
  s.plan.micro_batches = 4;
  s.plan.bucket_mib = 0.05;  // several buckets
  s.train.global_batch = 8 * plan.data;
  s.train.optimizer = plan.optimizer;
  s.train.clip = plan.clip;
  s.train.loss_scale = 4096;
  return s;
}

using Bytes = std::vector<std::byte>;

/// Returns each parameter on every rank's device after some steps; adds every summary to `summaries`.
std::map<std::string, Bytes> trained(const Scenario& scenario, Summaries& summaries) {
  const StepProgram step = compile(scenario);
  std::map<std::string, Bytes> parameters;
  std::mutex mutex;
  RunSettings settings;
  settings.steps = 4;
  settings.stress = {7, 50'000, true};
  run_loopback(
      step, settings, [&](int) { return &summaries; },
      [&](RankRun& run, int rank) {
        run.run(0, settings.steps);
        const std::lock_guard lock(mutex);
        for (BufferIndex b = 0; b < run.program().buffers.size(); ++b) {
          const Buffer& buffer = run.program().buffers[b];
          if (buffer.memory != MemoryClass::parameters || !buffer.persistent || buffer.parameter < 0 || buffer.host)
            continue;
          const View view = run.view(b);
          Bytes& bytes = parameters[std::to_string(rank) + " " + buffer.name];
          bytes.assign(view.as<std::byte>(), view.as<std::byte>() + view.bytes());
        }
      });
  return parameters;
}

}  // namespace

TEST_CASE("the place of optimizer states changes no bit of the training") {
  const auto plan =
      GENERATE(Plan{1, 1, 1, 0, "fp32", "adamw"}, Plan{2, 1, 1, 0, "fp32", "adamw"}, Plan{2, 1, 2, 1, "fp32", "adamw"},
               Plan{2, 1, 1, 2, "bf16", "adamw"}, Plan{2, 1, 2, 3, "bf16", "momentum", "zb-h1"},
               Plan{2, 2, 1, 3, "fp32", "adam", "1f1b", 0.5, true}, Plan{1, 2, 2, 0, "fp32", "sophia"},
               Plan{2, 1, 2, 2, "fp16", "adamw", "gpipe"}, Plan{2, 1, 1, 0, "fp16", "adamw", "1f1b", 0},
               Plan{1, 1, 2, 0, "fp32", "adafactor"}, Plan{2, 1, 1, 1, "fp32", "adam8bit"},
               Plan{1, 2, 1, 0, "fp64", "sgd", "1f1b", 0});
  INFO(plan.words());
  Summaries with, without;
  const auto offloaded = trained(scenario_of(plan, "optimizer"), with);
  REQUIRE(!offloaded.empty());
  CHECK(offloaded == trained(scenario_of(plan, "none"), without));
  CHECK_FALSE(find_deadlock(compile(scenario_of(plan, "optimizer")).all_programs(),
                            compile(scenario_of(plan, "optimizer")).grid));
}

TEST_CASE("an update that is skipped after an overflow is also skipped on the host") {
  Scenario s = scenario_of({2, 1, 2, 2, "fp16", "adamw"}, "optimizer");
  s.fault.plant = "overflow";
  Scenario plain = s;
  plain.plan.offload = "none";
  Summaries with, without;
  CHECK(trained(s, with) == trained(plain, without));
}

TEST_CASE("offloaded states count as host memory, and copies as traffic, as in the program") {
  const auto plan = GENERATE(Plan{2, 1, 1, 0, "fp32", "adamw"}, Plan{2, 1, 2, 3, "bf16", "adamw"},
                             Plan{1, 2, 1, 0, "fp16", "adamw"}, Plan{1, 1, 1, 0, "fp32", "adafactor"});
  INFO(plan.words());
  const Scenario s = scenario_of(plan, "optimizer");
  const StepProgram step = compile(s), plain = compile(scenario_of(plan, "none"));
  Summaries summaries;
  trained(s, summaries);
  const auto of = [](const ClassBytes& bytes, MemoryClass memory) { return bytes[static_cast<std::size_t>(memory)]; };
  for (const StepSummary& summary : summaries.all) {
    const RankProgram program = step.program_for(summary.rank);
    const MemoryProfile predicted = memory_profile(program);
    const MemoryProfile without = memory_profile(plain.program_for(summary.rank));
    CHECK(of(predicted.peak_by_class, MemoryClass::optimizer) == (plan.precision == std::string("fp16") ? 24 : 0));
    CHECK(of(without.peak_by_class, MemoryClass::host) == 0);
    for (const MemoryClass memory : {MemoryClass::parameters, MemoryClass::gradients, MemoryClass::activations})
      CHECK(of(predicted.peak_by_class, memory) == of(without.peak_by_class, memory));
    // All optimizer states, and of each parameter a copy and its gradient; the norm; fp16's loss scale.
    std::int64_t held = 8 + of(without.peak_by_class, MemoryClass::optimizer);
    std::int64_t gradients = 0, values = 0;
    for (const Op& op : plain.program_for(summary.rank).ops)
      if (op.id.kind() == OpKind::optimizer && op.id.fields().segment == Segment::update)
        for (const BufferUse& use : op.uses) {
          const RankProgram of_plain = plain.program_for(summary.rank);
          const Buffer& buffer = of_plain.buffers[use.buffer];
          if (buffer.memory == MemoryClass::gradients) gradients += buffer.bytes();
          if (buffer.memory == MemoryClass::parameters) values += buffer.bytes();
        }
    CHECK(of(predicted.peak_by_class, MemoryClass::host) == held + gradients + values);
    // The scratch of kernels is known once they are bound; only adafactor's update has some.
    const std::int64_t measured = of(summary.peak_bytes, MemoryClass::host);
    if (plan.optimizer == std::string("adafactor"))
      CHECK(measured > held + gradients + values);
    else
      CHECK(measured == held + gradients + values);
    CHECK(of(summary.peak_bytes, MemoryClass::optimizer) == of(predicted.peak_by_class, MemoryClass::optimizer));

    const std::int64_t scalars = plan.precision == std::string("fp16") ? 8 + 24 : 8;
    std::int64_t copied = 0, count = 0;
    for (const TrafficRow& row : summary.traffic)
      if (row.purpose == Purpose::offload) {
        CHECK(row.kind == OpKind::copy);
        copied += row.wire_bytes;
        count += row.count;
      }
    CHECK(copied == gradients + values + scalars);
    CHECK(count > 3);
  }
  REQUIRE(summaries.all.size() == 4 * static_cast<std::size_t>(step.grid.size()));
}

TEST_CASE("a planted fault in offloaded training is detected") {
  Scenario s = scenario_of({2, 1, 2, 2, "fp64", "adamw"}, "optimizer");
  s.model.dropout = 0;
  CHECK(verify(s, {}).passed);
  s.fault.plant = GENERATE("gradient_scale", "skipped_norm_term", "untied_embedding");
  CHECK_FALSE(verify(s, {}).passed);
}
