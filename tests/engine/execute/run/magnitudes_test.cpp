// The magnitudes of a step's gradients, counted together with their norm.
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include "engine/execute/run/job.hpp"
#include "kernels/tensor/magnitude.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

using Counts = std::vector<std::int64_t>;

struct Counted : RankObserver {
  void span(Lane, const Span&) override {}
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& s, const StepTrace&) override {
    const std::lock_guard lock(mutex);
    if (s.magnitudes.empty()) return;
    Counts& sum = of_step[s.step];
    sum.resize(s.magnitudes.size());
    for (std::size_t b = 0; b < sum.size(); ++b) sum[b] += s.magnitudes[b];
  }
  std::mutex mutex;
  std::map<std::uint32_t, Counts> of_step;  ///< summed over ranks
};

Scenario a_scenario() {
  Scenario s;
  s.model = {"gpt", 4, 32, 2, 16, 64, true, 0.0};
  s.plan.precision = "fp64";
  s.plan.bucket_mib = 0.05;
  s.plan.micro_batches = 4;
  s.train.global_batch = 8;
  s.train.steps = 5;
  s.train.magnitudes_every = 2;
  return s;
}

std::map<std::uint32_t, Counts> run(const Scenario& scenario) {
  Counted counted;
  RunSettings settings;
  settings.steps = static_cast<std::uint32_t>(scenario.train.steps);
  run_loopback(compile(scenario), settings, [&](int) { return &counted; });
  return counted.of_step;
}

std::int64_t sum(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

/// Number of elements that are in another bin.
std::int64_t moved(const Counts& a, const Counts& b) {
  std::int64_t twice = 0;
  for (std::size_t i = 0; i < a.size(); ++i) twice += std::abs(a[i] - b[i]);
  return twice / 2;
}

/// The exponent of the median element.
double median_exponent(const Counts& counts) {
  std::int64_t below = 0;
  for (int bin = 0; bin < static_cast<int>(counts.size()); ++bin)
    if ((below += counts[static_cast<std::size_t>(bin)]) * 2 >= sum(counts)) return exponent_of_bin(bin);
  return 0;
}

}  // namespace

TEST_CASE("every plan counts each gradient once, and finds them as large as one rank does") {
  const auto alone = run(a_scenario());
  REQUIRE(alone.size() == 3);  // steps 0, 2 and 4
  const std::int64_t parameters = make_model(a_scenario()).parameter_count();
  struct Plan {
    int data, tensor, pipeline, zero;
  };
  for (const Plan& plan : {Plan{2, 1, 1, 0}, Plan{1, 2, 2, 0}, Plan{2, 2, 1, 1}, Plan{4, 1, 1, 2}, Plan{2, 1, 2, 3}}) {
    Scenario scenario = a_scenario();
    scenario.plan.data = plan.data;
    scenario.plan.tensor = plan.tensor;
    scenario.plan.pipeline = plan.pipeline;
    scenario.plan.zero = plan.zero;
    scenario.plan.micro_batches = 4 / plan.data;
    const auto shared = run(scenario);
    INFO("data " << plan.data << " tensor " << plan.tensor << " pipeline " << plan.pipeline << " ZeRO " << plan.zero);
    REQUIRE(shared.size() == alone.size());
    for (const auto& [step, counts] : alone) {
      REQUIRE(counts.size() == magnitude_bins);
      CHECK(sum(counts) == parameters);
      CHECK(sum(shared.at(step)) == parameters);
      // The true gradient of the key's bias is zero, and its rounding differs between plans.
      CHECK(moved(counts, shared.at(step)) <= 4 * 32 + 4);
    }
  }
}

TEST_CASE("a loss scale moves gradients by its power of two") {
  Scenario scenario = a_scenario();
  scenario.plan.precision = "fp16";
  scenario.train.loss_scale = 256;
  const auto small = run(scenario);
  scenario.train.loss_scale = 65536;
  const auto large = run(scenario);
  CHECK(median_exponent(large.at(0)) - median_exponent(small.at(0)) == 8);
}

TEST_CASE("no step counts magnitudes unless it is asked to") {
  Scenario scenario = a_scenario();
  scenario.train.magnitudes_every = 0;
  CHECK(run(scenario).empty());
}
