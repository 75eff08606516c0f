// Updates after each micro-batch, and the weights that are kept for later backwards.
#include <algorithm>
#include <map>
#include <set>

#include "engine/plan/program/dry_run.hpp"
#include "engine/plan/program/passes.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

namespace {

Scenario asynchronous(int pipeline, int micro_batches, bool stashing) {
  Scenario s = chunked_scenario("1f1b-async", 1, pipeline, micro_batches);
  s.plan.weight_stashing = stashing;
  return s;
}

/// The compute lane as short text: forwards, backwards, updates and stashes with their micro-batches.
std::string words(const RankProgram& program) {
  std::string text;
  OpId last;
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    const bool optimizer = f.kind == OpKind::optimizer;
    if (op.lane() != Lane::compute || (!optimizer && !is_model_compute(f.kind))) continue;
    const OpId id = optimizer ? op.id : folded_to_chunk(op.id);
    if (id == last) continue;
    last = id;
    const char* name = optimizer                    ? (f.segment == Segment::stash ? "S" : "U")
                       : f.kind == OpKind::forward  ? "F"
                       : f.kind == OpKind::backward ? "B"
                                                    : "R";
    text.append(text.empty() ? "" : " ").append(name).append(std::to_string(f.micro_batch));
  }
  return text;
}

/// For each micro-batch, the number of updates in the weights that its backward reads.
std::map<int, int> versions_read(const RankProgram& program) {
  std::map<int, int> read;
  int newest = 0;
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    if (f.kind == OpKind::optimizer && f.segment == Segment::update) ++newest;
    if (f.kind != OpKind::backward) continue;
    for (const BufferUse& use : op.uses) {
      const Buffer& buffer = program.buffers[use.buffer];
      if (buffer.role != BufferRole::parameter) continue;
      const int version = buffer.persistent ? newest : std::stoi(buffer.name.substr(1));
      const auto [found, made] = read.try_emplace(f.micro_batch, version);
      CHECK(found->second == version);
    }
  }
  return read;
}

}  // namespace

TEST_CASE("two stages and three micro-batches update and stash in this order") {
  CHECK(words(compile(asynchronous(2, 3, false)).program_for(0)) == "F0 F1 B0 U0 F2 B1 U1 B2 U2");
  CHECK(words(compile(asynchronous(2, 3, true)).program_for(0)) == "F0 F1 B0 S0 U0 F2 B1 S1 U1 B2 U2");
  // On the last stage each backward directly follows its forward: no weights are old.
  CHECK(words(compile(asynchronous(2, 3, true)).program_for(1)) == "F0 B0 U0 F1 B1 U1 F2 B2 U2");
  // Micro-batches 0 and 1 share version 0, which is stored once.
  CHECK(words(compile(asynchronous(3, 4, true)).program_for(0)) == "F0 F1 F2 B0 S0 U0 F3 B1 S1 U1 B2 U2 B3 U3");
}

TEST_CASE("a backward reads the newest weights, and with weight stashing those of its forward, p - 1 - r updates old") {
  for (int p = 1; p <= 5; ++p)
    for (int m = 1; m <= 11; m += 2)
      for (int r = 0; r < p; ++r) {
        CAPTURE(p, m, r);
        const int w = p - 1 - r;
        const auto newest = versions_read(compile(asynchronous(p, m, false)).program_for(r));
        const auto stashed = versions_read(compile(asynchronous(p, m, true)).program_for(r));
        for (int i = 0; i < m; ++i) {
          CHECK(newest.at(i) == i);
          CHECK(stashed.at(i) == std::max(0, i - w));
        }
      }
}

TEST_CASE("stage r of p keeps p - r versions of what backwards read, and no more") {
  for (int p = 2; p <= 4; ++p)
    for (int r = 0; r < p; ++r) {
      CAPTURE(p, r);
      const StepProgram step = compile(asynchronous(p, 3 * p, true));
      const RankProgram program = step.program_for(r);
      // The backward reads a block's 3280 parameters (golden_bytes_test.cpp) and the head's 544, but not the embeddings
      // of 32 words and 8 positions.
      const int blocks = 4 / p + (r < 4 % p ? 1 : 0);
      const std::int64_t read = blocks * 3280 + (r == p - 1 ? 544 : 0), others = r == 0 ? 40 * 16 : 0;
      const MemoryProfile profile = memory_profile(program);
      CHECK(profile.peak_by_class[static_cast<std::size_t>(MemoryClass::parameters)] == 4 * (others + read * (p - r)));
      // Without stashing there is one version.
      Scenario plain = step.scenario;
      plain.plan.weight_stashing = false;
      CHECK(memory_profile(compile(plain).program_for(r))
                .peak_by_class[static_cast<std::size_t>(MemoryClass::parameters)] == 4 * (others + read));
    }
}

TEST_CASE("no plan that updates after each micro-batch deadlocks") {
  for (int p = 1; p <= 5; ++p)
    for (int m = 1; m <= 9; ++m)
      for (const bool stashing : {false, true}) {
        CAPTURE(p, m, stashing);
        Scenario s = asynchronous(p, m, stashing);
        if (stashing) s.plan.recompute = Recompute::blocks;
        const StepProgram step = compile(s);
        CHECK(find_deadlock(step.all_programs(), step.grid) == std::nullopt);
      }
}
