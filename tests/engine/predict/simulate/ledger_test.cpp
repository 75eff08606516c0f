#include "engine/predict/cost/ledger.hpp"

#include <algorithm>
#include <map>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/fold/folded.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

Scenario on(const std::string& cluster, ModelSpec model, const std::string& schedule, int tensor, int pipeline,
            int chunks, int micro_batches) {
  Scenario s =
      parse_scenario("[cluster]\nspec = \"" + cluster + "\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = std::move(model);
  s.plan.schedule = schedule;
  s.plan.tensor = tensor;
  s.plan.pipeline = pipeline;
  s.plan.virtual_stages = chunks;
  s.plan.micro_batches = s.train.global_batch = micro_batches;
  s.plan.precision = "bf16";
  return s;
}

std::vector<StageMemory> folded(const Scenario& s) {
  const StepProgram step = compile(s);
  return fold_memory(s, step.model, step.schedule, step.first_segment);
}

}  // namespace

TEST_CASE("a stage's memory without its program is that of its program") {
  struct Row {
    const char* schedule;
    int tensor, pipeline, chunks, micro_batches;
    bool parallel;
    const char* recompute;
    const char* stages = "even";
  };
  for (const Row& row :
       {Row{"1f1b", 1, 4, 1, 8, false, "none"}, Row{"gpipe", 1, 4, 1, 8, false, "none"},
        Row{"interleaved", 1, 4, 2, 8, false, "none"}, Row{"1f1b", 4, 2, 1, 8, false, "none"},
        Row{"1f1b", 4, 2, 1, 8, true, "none"}, Row{"1f1b", 1, 4, 1, 8, false, "blocks"},
        Row{"1f1b", 1, 2, 1, 8, false, "sqrt"}, Row{"1f1b", 4, 2, 1, 8, true, "blocks"},
        Row{"1f1b", 1, 4, 1, 8, false, "selective"}, Row{"zb-h1", 1, 4, 1, 8, false, "none"},
        Row{"zb-h2", 1, 4, 1, 12, false, "none"}, Row{"zb-v", 1, 4, 2, 8, false, "none"},
        Row{"interleaved", 1, 4, 2, 8, false, "none", "0 3 3 3 3 2 2 0"},
        Row{"1f1b", 1, 4, 1, 8, false, "blocks", "0 8 8 0"}, Row{"1f1b", 1, 4, 1, 8, false, "sqrt", "0 8 8 0"}}) {
    Scenario s = on("h100", {"gpt", 16, 1024, 16, 2048, 32000, false, 0.1}, row.schedule, row.tensor, row.pipeline,
                    row.chunks, row.micro_batches);
    s.plan.sequence_parallel = row.parallel;
    s.plan.recompute = row.recompute;
    s.plan.stages = row.stages;
    const StepProgram step = compile(s);
    const auto memory = folded(s);
    for (int stage = 0; stage < row.pipeline; ++stage) {
      const MemoryProfile profile = memory_profile(step.program_for(step.grid.rank_of({0, 0, stage})));
      INFO(row.schedule << " t" << row.tensor << " sp " << row.parallel << " " << row.recompute << " " << row.stages
                        << " stage " << stage);
      const StageMemory& mine = memory[static_cast<std::size_t>(stage)];
      const auto of = [](const ClassBytes& bytes, MemoryClass which) {
        return static_cast<double>(bytes[static_cast<std::size_t>(which)]);
      };
      for (const MemoryClass exact : {MemoryClass::parameters, MemoryClass::gradients, MemoryClass::optimizer})
        CHECK(of(mine.peak_by_class, exact) == Approx(of(profile.peak_by_class, exact)).epsilon(1e-6));
      CHECK(static_cast<double>(mine.peak()) == Approx(static_cast<double>(profile.peak)).epsilon(0.03));
    }
  }
}

TEST_CASE("a stage's levels are those of its program, op by op, and reach its peak") {
  const char* schedule = GENERATE("1f1b", "gpipe", "zb-h1");
  Scenario s = on("h100", {"gpt", 16, 1024, 16, 2048, 32000, false, 0.1}, schedule, 1, 4, 1, 8);
  s.plan.recompute = GENERATE("none", "blocks");
  const StepProgram step = compile(s);
  const auto memory = folded(s);
  for (int stage = 0; stage < 4; ++stage) {
    const std::vector<MemoryLevel> levels = fold_levels(s, step.grid.rank_of({0, 0, stage}));
    const RankProgram program = step.program_for(step.grid.rank_of({0, 0, stage}));
    const MemoryProfile profile = memory_profile(program);
    std::map<OpId, std::int64_t> most;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
      const OpKind kind = program.ops[i].id.kind();
      if (!is_model_compute(kind) || kind == OpKind::recompute) continue;
      std::int64_t& greatest = most[folded_to_chunk(program.ops[i].id)];
      greatest = std::max(greatest, device_sum(profile.at[i]));
    }
    REQUIRE(levels.size() == most.size() + 1);  // and one for the update
    std::int64_t reached = 0;
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
      INFO(schedule << " " << s.plan.recompute << " stage " << stage << " " << to_token(levels[i].op));
      REQUIRE(most.count(levels[i].op) == 1);
      CHECK(static_cast<double>(device_sum(levels[i].during)) ==
            Approx(static_cast<double>(most[levels[i].op])).epsilon(0.05));
      CHECK(device_sum(levels[i].after) <= device_sum(levels[i].during));
      reached = std::max(reached, device_sum(levels[i].during));
    }
    CHECK(reached == memory[static_cast<std::size_t>(stage)].peak());
    // Only states are kept from step to step.
    CHECK(levels.back().after[static_cast<std::size_t>(MemoryClass::activations)] == 0);
    CHECK(levels[levels.size() - 2].after[static_cast<std::size_t>(MemoryClass::activations)] == 0);
  }
}

TEST_CASE("a stage keeps less the later it is in the pipeline, and ZeRO-1 shares out the states alone") {
  Scenario s = on("selene", {"gpt", 32, 4096, 32, 2048, 51200, true, 0.1}, "1f1b", 8, 4, 1, 16);
  const auto plain = folded(s);
  for (std::size_t stage = 1; stage + 1 < plain.size(); ++stage)
    CHECK(plain[stage].at_peak[static_cast<std::size_t>(MemoryClass::activations)] <
          plain[stage - 1].at_peak[static_cast<std::size_t>(MemoryClass::activations)]);
  s.plan.data = 4;
  s.train.global_batch *= 4;
  s.plan.zero = 1;
  const auto sharded = folded(s);
  const auto states = static_cast<std::size_t>(MemoryClass::optimizer);
  CHECK(static_cast<double>(sharded[1].at_peak[states]) ==
        Approx(static_cast<double>(plain[1].at_peak[states]) / 4).epsilon(1e-6));
  CHECK(sharded[1].at_peak[0] == plain[1].at_peak[0]);
}
