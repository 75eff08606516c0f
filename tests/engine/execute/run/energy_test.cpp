// Energy in step summaries: the first rank of a device reports the device's energy step by step, other ranks report
// none.
#include <algorithm>
#include <atomic>

#include "engine/execute/run/job.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/summaries.hpp"

using namespace rankscope;
using namespace rankscope::testing;

namespace {

/// Increases by 2 J at every reading; begins at a large value.
class TwoJoules final : public EnergyMeter {
 public:
  PowerSource source() const override { return PowerSource::nvml; }
  double joules() override { return joules_ += 2; }

 private:
  double joules_ = 1e6;
};

std::vector<StepSummary> trained(const std::function<std::shared_ptr<StepEnergy>(int)>& energy_of) {
  Scenario s;
  s.model = {"gpt", 2, 16, 2, 8, 32, true, 0.0};
  s.plan.data = 2;
  s.plan.micro_batches = 2;
  s.train.global_batch = 4;
  s.train.steps = 5;
  RunSettings settings;
  settings.steps = 5;
  settings.energy_of = energy_of;
  Summaries summaries;
  run_loopback(compile(s), settings, [&](int) { return &summaries; });
  return summaries.all;
}

}  // namespace

TEST_CASE("of ranks that share a device the first reports its joules, and their sum over steps is the counter's") {
  const auto shared = std::make_shared<StepEnergy>(std::make_unique<TwoJoules>());
  const auto summaries = trained(
      [&](int rank) { return rank == 0 ? shared : std::make_shared<StepEnergy>(StepEnergy::reported_by_another()); });
  REQUIRE(summaries.size() == 10);
  for (const StepSummary& summary : summaries) {
    INFO("rank " << summary.rank << ", step " << summary.step);
    CHECK(summary.energy_joules == (summary.rank == 0 ? 2.0 : 0.0));
    CHECK(summary.energy_source == (summary.rank == 0 ? PowerSource::nvml : PowerSource::none));
  }
}

TEST_CASE("without a counter no rank reports an energy of zero") {
  for (const StepSummary& summary : trained({})) CHECK_FALSE(summary.energy_joules.has_value());
  const auto unknown = std::make_shared<StepEnergy>(nullptr);
  for (const StepSummary& summary : trained([&](int rank) {
         return rank == 0 ? unknown : std::make_shared<StepEnergy>(StepEnergy::reported_by_another());
       })) {
    CHECK(summary.energy_joules.has_value() == (summary.rank == 1));
    CHECK(summary.energy_source == PowerSource::none);
  }
}
