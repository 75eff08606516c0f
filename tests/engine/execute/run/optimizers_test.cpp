// Every optimizer on several ranks: the same training as on one rank, and the memory of its rule.
#include <mutex>

#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// Two blocks, 30,144 parameters; the MLP's matrices are large enough for quantisation.
Scenario scenario_of(const std::string& optimizer, int data, int pipeline, const std::string& precision) {
  Scenario s;
  s.title = "optimizers";
  s.model = {"gpt", 2, 32, 2, 16, 64, true, 0.0};
  s.plan.data = data;
  s.plan.pipeline = pipeline;
  s.plan.micro_batches = 2;
  s.plan.precision = precision;
  s.plan.bucket_mib = 0.05;
  s.train.global_batch = 4 * data;
  s.train.optimizer = optimizer;
  s.train.learning_rate = 1e-2;
  s.train.warmup_steps = 3;  // verify's own runs ignore it
  s.train.hyper.weight_decay = 0.1;
  if (optimizer == "radam") s.train.hyper.beta2 = 0.5;  // otherwise the second moment is unused in five steps
  s.train.clip = 0.5;
  return s;
}

/// The optimizer's class in each rank's ledger.
class MemoryObserver : public RankObserver {
 public:
  void span(Lane, const Span&) override {}
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& summary, const StepTrace&) override {
    optimizer = summary.peak_bytes[static_cast<std::size_t>(MemoryClass::optimizer)];
    rate.push_back(summary.learning_rate);
  }
  std::int64_t optimizer = -1;
  std::vector<double> rate;
};

}  // namespace

TEST_CASE("every optimizer trains the same model on two ranks as on one, clipping included") {
  const std::string optimizer = GENERATE(from_range(optimizer_names()));
  const auto* precision = GENERATE("fp64", "fp32");
  const bool pipeline = GENERATE(false, true);
  const VerifyResult result = verify(scenario_of(optimizer, pipeline ? 1 : 2, pipeline ? 2 : 1, precision), {});
  INFO(precision << (pipeline ? " pipeline" : " data") << "\n" << to_text(result));
  CHECK(result.passed);
  CHECK(result.runs.size() == (optimizer == "sgd" ? 1 : 2));
  CHECK(result.runs.back().optimizer == optimizer);
}

TEST_CASE("a wrong gradient is caught with every optimizer, also where steps do not depend on its size") {
  const std::string optimizer = GENERATE(from_range(optimizer_names()));
  Scenario s = scenario_of(optimizer, 2, 1, "fp64");
  s.fault.plant = "gradient_scale";
  const VerifyResult result = verify(s, {});
  INFO(to_text(result));
  for (const ParityRun& run : result.runs) CHECK_FALSE(run.passed);
}

TEST_CASE("the ledger of the optimizer's states is the rule's bytes, on every rank") {
  struct Row {
    const char* optimizer;
    std::int64_t bytes;  ///< fp32, one rank
  };
  // By hand. Matrices: wte 64·32, wpe 16·32, and per block 96·32, 32·32, 128·32 and 32·128; vectors: per block 4·32 of
  // norms, 96, 32, 128 and 32 of biases, and the last norm's 2·32.
  const std::int64_t matrices = 64 * 32 + 16 * 32 + 2 * (96 * 32 + 32 * 32 + 128 * 32 + 32 * 128);
  const std::int64_t vectors = 2 * (4 * 32 + 96 + 32 + 128 + 32) + 2 * 32;
  const std::int64_t edges = (64 + 32) + (16 + 32) + 2 * ((96 + 32) + (32 + 32) + (128 + 32) + (32 + 128));
  const std::int64_t quantised = 4 * 128 * 32;  // the MLPs': 4096 elements each, 16 blocks
  for (const Row& row :
       {Row{"sgd", 0}, Row{"momentum", 4 * (matrices + vectors)}, Row{"adagrad", 4 * (matrices + vectors)},
        Row{"adam", 8 * (matrices + vectors)}, Row{"adamw", 8 * (matrices + vectors)},
        Row{"radam", 8 * (matrices + vectors)}, Row{"adafactor", 4 * (edges + vectors)},
        Row{"adam8bit", 8 * (matrices + vectors - quantised) + 2 * quantised + 2 * 4 * 4 * 16},
        Row{"sophia", 8 * (matrices + vectors)}, Row{"lars", 4 * (matrices + vectors)},
        Row{"lamb", 8 * (matrices + vectors)}}) {
    INFO(row.optimizer);
    for (const int pipeline : {1, 2}) {
      const StepProgram step = compile(scenario_of(row.optimizer, 1, pipeline, "fp32"));
      std::vector<MemoryObserver> observers(static_cast<std::size_t>(pipeline));
      RunSettings settings;
      settings.steps = 5;
      run_loopback(step, settings, [&](int rank) { return &observers[static_cast<std::size_t>(rank)]; });
      std::int64_t sum = 0;
      for (int rank = 0; rank < pipeline; ++rank) {
        const auto& observer = observers[static_cast<std::size_t>(rank)];
        const auto predicted = memory_profile(step.program_for(rank)).peak_by_class;
        CHECK(observer.optimizer == predicted[static_cast<std::size_t>(MemoryClass::optimizer)]);
        sum += observer.optimizer;
        // The summary reports the rate of the update: three steps of warm-up, then the full rate.
        const std::vector<double> rates{1e-2 / 3, 2e-2 / 3, 1e-2, 1e-2, 1e-2};
        REQUIRE(observer.rate.size() == rates.size());
        for (std::size_t i = 0; i < rates.size(); ++i) CHECK(observer.rate[i] == Approx(rates[i]));
      }
      if (pipeline == 1) CHECK(sum == row.bytes);
      // Two stages hold the tied embedding twice.
      const std::int64_t copy = std::string(row.optimizer) == "adafactor" ? 4 * (64 + 32)
                                : row.bytes == 0                          ? 0
                                : row.bytes <= 4 * (matrices + vectors) && std::string(row.optimizer) != "adam8bit"
                                    ? 4 * 64 * 32
                                    : 8 * 64 * 32;
      if (pipeline == 2) CHECK(sum == row.bytes + copy);
    }
  }
}
