// Ranks hold exactly the memory that their programs predict.
#include <filesystem>

#include "engine/execute/run/job.hpp"
#include "engine/execute/run/scratch.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

/// The greatest amounts in a rank's ledger.
class MemoryObserver : public RankObserver {
 public:
  void span(Lane, const Span&) override {}
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& summary, const StepTrace&) override {
    for (std::size_t c = 0; c < memory_class_count; ++c) by_class[c] = std::max(by_class[c], summary.peak_bytes[c]);
    peak = std::max(peak, summary.peak_total_bytes);
  }
  ClassBytes by_class{};
  std::int64_t peak = 0;
};

std::vector<MemoryObserver> measured(const StepProgram& step) {
  std::vector<MemoryObserver> ranks(static_cast<std::size_t>(step.grid.size()));
  RunSettings settings;
  settings.steps = 2;
  run_loopback(step, settings, [&](int rank) { return &ranks[static_cast<std::size_t>(rank)]; });
  return ranks;
}

void check_memory(const Scenario& scenario) {
  const StepProgram step = compile(scenario);
  std::vector<RankProgram> programs = step.all_programs();
  set_scratch(step, programs, *open_platform("cpu"));
  const std::vector<MemoryObserver> ranks = measured(step);
  for (const RankProgram& program : programs) {
    INFO("rank " << program.rank);
    const MemoryObserver& rank = ranks[static_cast<std::size_t>(program.rank)];
    const MemoryProfile predicted = memory_profile(program);
    if (!scenario.model.is_collective()) CHECK(program.scratch_bytes > 0);  // a collective alone computes nothing
    for (std::size_t c = 0; c < memory_class_count; ++c) {
      INFO(name_of(static_cast<MemoryClass>(c)));
      CHECK(rank.by_class[c] == predicted.peak_by_class[c]);
    }
    CHECK(rank.peak == predicted.peak);
    // Kernels request the same size whether or not their addresses are backed by memory.
    CHECK(predicted.peak_by_class[static_cast<std::size_t>(MemoryClass::workspace)] == program.scratch_bytes);
    RankProgram bare = program;
    bare.scratch_bytes = 0;
    CHECK(memory_profile(bare).peak == predicted.peak - program.scratch_bytes);
  }
}

}  // namespace

TEST_CASE("the ranks of every lab that runs here hold what was predicted, to the byte") {
  const auto folder = std::filesystem::path(test::source_folder()) / "scenarios" / "labs";
  int labs = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (!file.is_regular_file()) continue;  // folders contain translations
    INFO(file.path().filename().string());
    const Scenario scenario = read_scenario(file.path().string());
    if (scenario.cluster.spec != "laptop") continue;  // others describe machines that are not available here
    check_memory(scenario);
    ++labs;
  }
  CHECK(labs >= 8);
}

TEST_CASE("ranks of other precisions, optimizers, grids and stages of ZeRO hold what was predicted, to the byte") {
  struct Plan {
    const char *precision, *optimizer, *recompute;
    int data, pipeline, zero;
    int tensor = 1;
    bool sequence_parallel = false;
    LogitsType logits = LogitsType::wide;
  };
  const Plan plan =
      GENERATE(Plan{"fp64", "sgd", "none", 2, 1, 0}, Plan{"bf16", "adamw", "none", 1, 2, 0},
               Plan{"fp32", "adafactor", "none", 2, 2, 0}, Plan{"fp32", "adam8bit", "blocks", 1, 2, 0},
               Plan{"bf16", "sophia", "selective", 2, 1, 0}, Plan{"fp32", "adamw", "none", 2, 1, 1},
               Plan{"bf16", "adamw", "none", 2, 1, 2}, Plan{"fp32", "momentum", "blocks", 4, 1, 3},
               Plan{"fp32", "adamw", "none", 1, 1, 0, 2}, Plan{"bf16", "adamw", "none", 1, 2, 0, 2, true},
               Plan{"fp32", "adamw", "blocks", 2, 1, 2, 4, true}, Plan{"bf16", "sgd", "selective", 2, 1, 3, 2, true},
               Plan{"bf16", "adamw", "none", 1, 2, 0, 1, false, LogitsType::narrow},
               Plan{"fp16", "adamw", "none", 1, 1, 0, 2, false, LogitsType::narrow});
  Scenario s;
  s.title = "memory";
  s.model = {"gpt", 4, 64, 4, 32, 64, true, 0.1};
  s.plan.data = plan.data;
  s.plan.pipeline = plan.pipeline;
  s.plan.zero = plan.zero;
  s.plan.tensor = plan.tensor;
  s.plan.sequence_parallel = plan.sequence_parallel;
  s.plan.micro_batches = 4;
  s.plan.precision = plan.precision;
  s.plan.logits = plan.logits;
  s.plan.recompute = plan.recompute;
  s.train.optimizer = plan.optimizer;
  s.train.global_batch = 8 * plan.data;
  s.train.clip = 1;
  INFO(plan.precision << " " << plan.optimizer << " recompute " << plan.recompute << " data " << plan.data
                      << " pipeline " << plan.pipeline << " zero " << plan.zero << " tensor " << plan.tensor);
  check_memory(s);
}
