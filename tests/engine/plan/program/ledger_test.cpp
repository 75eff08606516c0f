// One rule for the lifetime of buffers: the profile of a program, and memory over the time of its ops.
#include "engine/plan/program/ledger.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

namespace {

Scenario plan_of(int zero, const char* recompute) {
  Scenario s;
  s.title = "ledger";
  s.model = {"gpt", 4, 32, 2, 16, 64, true, 0.0};
  s.plan.data = 2;
  s.plan.pipeline = 2;
  s.plan.zero = zero;
  s.plan.recompute = recompute;
  s.plan.micro_batches = 4;
  s.train.global_batch = 16;
  return s;
}

/// All ops one after another, in program order.
std::vector<OpTime> in_a_row(const RankProgram& program, int steps) {
  std::vector<OpTime> times;
  for (int step = 0; step < steps; ++step)
    for (OpIndex op = 0; op < program.ops.size(); ++op) {
      const std::int64_t begin = 10 * static_cast<std::int64_t>(times.size());
      times.push_back({op, static_cast<std::uint32_t>(step), begin, begin + 10});
    }
  return times;
}

}  // namespace

TEST_CASE("the peak of memory over time is the program's, also with parameters that are gathered ahead") {
  const int zero = GENERATE(0, 1, 3);
  const StepProgram step = compile(plan_of(zero, GENERATE("none", "blocks")));
  for (RankProgram& program : step.all_programs()) {
    INFO("zero " << zero << ", rank " << program.rank);
    program.scratch_bytes = 4096;
    program.context_bytes = 1 << 20;
    const MemoryProfile profile = memory_profile(program);
    Ledger ledger(program, resident_bytes_of(program));
    const std::vector<AliveFrom> levels = memory_along(ledger, in_a_row(program, 2));
    REQUIRE_FALSE(levels.empty());
    ClassBytes most{};
    std::int64_t peak = 0, time = -1;
    for (const AliveFrom& level : levels) {
      CHECK(level.time_ns > time);
      time = level.time_ns;
      peak = std::max(peak, device_sum(level.bytes));
      for (std::size_t c = 0; c < memory_class_count; ++c) {
        CHECK(level.bytes[c] >= 0);
        most[c] = std::max(most[c], level.bytes[c]);
        CHECK(level.bytes[c] <= profile.at[level.op][c]);
      }
    }
    CHECK(peak == profile.peak);
    CHECK(most[static_cast<std::size_t>(MemoryClass::activations)] ==
          profile.peak_by_class[static_cast<std::size_t>(MemoryClass::activations)]);
    // After a step, only memory that lives across steps and constant memory remain.
    ClassBytes left = life_of_buffers(program).persistent;
    left[static_cast<std::size_t>(MemoryClass::workspace)] += 4096;
    left[static_cast<std::size_t>(MemoryClass::context)] += 1 << 20;
    CHECK(levels.back().bytes == left);
  }
}

TEST_CASE("a buffer is freed when the last op that uses it has ended, not only when the next one begins") {
  const RankProgram program = compile(plan_of(0, "none")).program_for(0);
  std::vector<OpTime> times = in_a_row(program, 1);
  for (std::size_t i = 0; i < times.size(); ++i) {  // with a pause after each op
    times[i].begin_ns = 100 * static_cast<std::int64_t>(i);
    times[i].end_ns = times[i].begin_ns + 10;
  }
  Ledger ledger(program, {});
  int between = 0;
  for (const AliveFrom& level : memory_along(ledger, times)) between += level.time_ns % 100 == 10;
  CHECK(between > 0);
}
