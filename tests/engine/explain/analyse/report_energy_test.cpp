// The report's energy and power: which devices and steps count, and which counter measured them.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/report_facts.hpp"

using namespace rankscope;
using namespace rankscope::four_stages;

TEST_CASE("energy is that of all devices over the steady steps, on the wall clock, with who counted it") {
  RunFacts facts = facts_of(4);
  const Report unknown = make_report(facts);
  CHECK(unknown.energy.source == PowerSource::none);
  CHECK(std::isnan(unknown.energy.watts));
  CHECK(unknown.energy.unknown == "the energy is unknown: no rank reported a counter");
  facts.energy_unknown = "the GPU's energy is unknown: it is old";
  CHECK(make_report(facts).energy.unknown == facts.energy_unknown);
  // Two GPUs with two ranks each: 3 J and 5 J per step, but more in the first step.
  for (StepSummary& s : facts.summaries) {
    s.energy_joules = s.rank == 0 ? 3.0 : s.rank == 2 ? 5.0 : 0.0;
    if (s.rank % 2 == 0) s.energy_source = PowerSource::nvml;
    if (s.step == 0) *s.energy_joules *= 100;
  }
  Report report = make_report(facts);
  double seconds = 0;
  for (std::size_t i = 1; i < 4; ++i) seconds += report.steps[i].seconds;
  CHECK(report.energy.source == PowerSource::nvml);
  CHECK(report.energy.counters == 2);
  CHECK(report.energy.unknown.empty());
  CHECK(report.energy.joules_per_step == Approx(8));
  CHECK(report.energy.watts == Approx(24 / seconds));
  CHECK(report.energy.joules_per_token == Approx(8.0 / 512));
  CHECK(report.steps[0].joules == 800);
  CHECK(report.steps[3].joules == 8);
  CHECK(std::isnan(report.energy.predicted_watts));  // two devices have counters, and the plan has four
  CHECK_THAT(to_text(report), ContainsText("counted by nvml on 2 GPUs"));
  const nlohmann::json json = to_json(report);
  CHECK(json["energy"]["source"] == "nvml");
  CHECK(json["energy"]["joules_per_step"].get<double>() == Approx(8));
  CHECK(json["steps"][2]["joules"] == 8);
  // If one device cannot be read, the sum would not be the whole run's.
  for (StepSummary& s : facts.summaries)
    if (s.rank == 2) s.energy_joules.reset();
  CHECK(make_report(facts).energy.source == PowerSource::none);
}

TEST_CASE("the predicted power of a cluster's devices is reported with the measured power of one device per rank") {
  RunFacts facts = facts_of(3);
  for (StepSummary& s : facts.summaries) {
    s.energy_joules = 1;
    s.energy_source = PowerSource::nvml;
  }
  CHECK(std::isnan(make_report(facts).energy.predicted_watts));
  facts.cluster.power_watts = 700;
  facts.cluster.idle_watts = 100;
  const Report report = make_report(facts);
  CHECK(report.energy.predicted_watts == Approx(p * (700 - 600 * report.bubble.predicted)));
}

TEST_CASE("a step's power is averaged over a tenth of a second, since counters are updated in jumps") {
  RunFacts facts;
  facts.grid = {1, 1, 1};
  for (std::uint32_t step = 0; step < 100; ++step) {  // steps of 10 ms; the counter increases by 6 J in every fifth
    StepSummary summary;
    summary.step = step;
    summary.begin_ns = step * 10'000'000;
    summary.end_ns = summary.begin_ns + 10'000'000;
    summary.energy_joules = step % 5 == 4 ? 6 : 0;
    summary.energy_source = PowerSource::rapl;
    facts.summaries.push_back(summary);
  }
  const Report report = make_report(facts);
  for (std::size_t step = 9; step < 100; ++step) CHECK(report.steps[step].watts == Approx(120));
  CHECK(report.energy.watts == Approx(120).epsilon(0.02));
  CHECK_THAT(to_text(report), ContainsText("counted by rapl on 1 host (everything on its processors)"));
  // For a GPU, the hint appears if steps are as short as the counter's jumps, and only then.
  for (StepSummary& s : facts.summaries) s.energy_source = PowerSource::nvml;
  const std::string said =
      "counted by nvml on 1 GPU (updated some tens of times per second: such a short step "
      "reports 0 J or the energy of several steps)";
  CHECK_THAT(to_text(make_report(facts)), ContainsText(said));
  for (StepSummary& s : facts.summaries) s.begin_ns *= 20, s.end_ns *= 20;
  CHECK_THAT(to_text(make_report(facts)), ContainsText("counted by nvml on 1 GPU") && !ContainsText("updated"));
}
