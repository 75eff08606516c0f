// The report's numbers: steps, bubbles, rates, memory, traffic, and measurement faults.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/report_facts.hpp"

using namespace rankscope;
using namespace rankscope::four_stages;

TEST_CASE("the loss of a step is the mean over last stages weighted by tokens; other stages have none") {
  const auto totals_of = [](std::initializer_list<StepSummary> summaries) {
    StepTotals totals;
    for (const StepSummary& summary : summaries) totals.add(summary);
    return totals;
  };
  StepSummary a, b, c;
  a.loss = 2.0;
  a.tokens = 100;
  b.loss = 5.0;
  b.tokens = 300;
  CHECK(totals_of({a, b, c}).loss() == Approx((2.0 * 100 + 5.0 * 300) / 400));
  CHECK(std::isnan(totals_of({c}).loss()));
  b.loss = std::numeric_limits<double>::quiet_NaN();  // a head that diverged
  CHECK(std::isnan(totals_of({a, b, c}).loss()));
}

TEST_CASE("the report of a run: steps, bubbles, rates, memory, traffic and telemetry") {
  const RunFacts facts = facts_of(5);
  const Report report = make_report(facts);
  CHECK(report.ranks == p);
  REQUIRE(report.steps.size() == 5);
  CHECK(report.steps[3].loss == Approx(2.0));
  CHECK(report.steps[0].grad_norm == Approx(std::sqrt(1 + 2 + 3 + 4)));
  CHECK(report.steps[1].seconds == Approx(facts.observed[1].range.length() * 1e-9));
  CHECK(report.steps[1].tokens_per_s == Approx(512 / report.steps[1].seconds));
  CHECK(report.step_seconds == Approx(report.steps[2].seconds));

  const double theory = static_cast<double>(p - 1) / (m + p - 1);
  CHECK(report.bubble.ideal == Approx(theory));
  CHECK(report.steady_steps == 4);
  REQUIRE(report.representative);
  CHECK(report.bubble.measured == report.representative->bubble);
  CHECK(report.time[TimeClass::bubble] == Approx(report.bubble.measured));
  CHECK(report.time.sum() == Approx(1.0));
  CHECK(std::abs(report.bubble.predicted - report.bubble.measured) < 0.03);
  CHECK(report.predicted_step_seconds < report.step_seconds);

  CHECK(report.mfu == Approx(4e6 / (report.step_seconds * p) / 1e12));
  CHECK(report.hfu == Approx(1.25 * report.mfu));
  CHECK(report.tflops_per_device == Approx(report.mfu));  // the peak is 1 TFLOP/s

  REQUIRE(report.memory.size() == p);
  CHECK(report.memory[2].measured->by_class[3] == 42);
  CHECK(report.memory[2].measured->peak == 142);
  CHECK(report.memory[2].predicted->peak == memory_profile(facts.programs[2]).peak);

  REQUIRE(report.traffic.size() == 2);  // forward and backward sends: a message counts once
  CHECK(report.traffic[0].purpose == Purpose::pipeline_forward);
  CHECK(report.traffic[0].count == Approx(m));
  CHECK(report.traffic[0].bytes_per_rank == Approx(m * 1000));
  CHECK(report.traffic[0].predicted == Approx(m * 1000));
  CHECK(std::isnan(report.traffic[1].bytes_per_rank));  // these bytes were not counted
  CHECK(report.telemetry.events == 5 * p * 100);
  CHECK(report.telemetry.dropped == 5);
}

TEST_CASE("summaries that arrive twice or in disorder change no number") {
  RunFacts facts = facts_of(4);
  const nlohmann::json once = to_json(make_report(facts));
  facts.summaries.insert(facts.summaries.end(), facts.summaries.begin() + 3, facts.summaries.begin() + 9);
  std::reverse(facts.summaries.begin(), facts.summaries.end());
  std::reverse(facts.observed.begin(), facts.observed.end());
  CHECK(to_json(make_report(facts)) == once);
}

TEST_CASE("a report is the same from summaries and from their totals") {
  RunFacts facts = facts_of(5);
  for (std::size_t i = 0; i < facts.summaries.size(); ++i)
    if (facts.summaries[i].rank != 1) facts.summaries[i].energy_joules = 0.5;
  const nlohmann::json whole = to_json(make_report(facts));
  const std::size_t together = GENERATE(std::size_t{9}, std::size_t{20});  // in the middle of a step; and all of them
  auto totals = std::make_shared<RunTotals>();
  for (std::size_t i = 0; i < together; ++i) totals->add(facts.summaries[i]);
  facts.summaries.erase(facts.summaries.begin(), facts.summaries.begin() + static_cast<std::ptrdiff_t>(together));
  facts.totals = totals;
  CHECK(to_json(make_report(facts)) == whole);
  CHECK(totals->steps.find(0)->ranks == p);
  CHECK(to_json(make_report(facts)) == whole);  // the report adds only to a copy
}

TEST_CASE("steps are timed on aligned clocks") {
  RunFacts facts = facts_of(3);
  const Report before = make_report(facts);
  for (StepSummary& s : facts.summaries)
    if (s.rank == 2) {
      s.begin_ns -= 5'000'000;
      s.end_ns -= 5'000'000;
    }
  CHECK(make_report(facts).steps[2].seconds > 2 * before.steps[2].seconds);  // there is no next step to end it
  facts.clocks = {{2, 10, 1, 900}, {2, 20, 5'000'000, 300}};                 // the fit was revised
  const Report after = make_report(facts);
  for (std::size_t i = 0; i < 3; ++i) CHECK(after.steps[i].seconds == Approx(before.steps[i].seconds));
  CHECK(after.clock_uncertainty_s == Approx(300e-9));
}

TEST_CASE("a run's first step is left out of medians, unless it is the only one") {
  RunFacts facts = facts_of(3);
  facts.observed[0].range.end_ns += 1'000'000'000;
  CHECK(make_report(facts).steady_steps == 2);
  facts.observed.resize(1);
  const Report one = make_report(facts);
  CHECK(one.steady_steps == 1);
  CHECK(one.representative->step == 0);
  // If only later steps are kept, none of them is the run's first.
  facts = facts_of(4);
  facts.observed.erase(facts.observed.begin(), facts.observed.begin() + 2);
  CHECK(make_report(facts).steady_steps == 2);
}

TEST_CASE("the predicted traffic of a gradient all-reduce is 2(n-1)/n of its bytes per rank") {
  Scenario scenario;
  scenario.model = {"gpt", 2, 16, 2, 8, 32, true, 0.0};
  scenario.plan.data = 4;
  scenario.plan.micro_batches = 1;
  scenario.train.global_batch = 8;
  const StepProgram step = compile(scenario);
  RunFacts facts;
  facts.plan = scenario.plan;
  facts.grid = step.grid;
  facts.programs = step.all_programs();
  const Report report = make_report(facts);
  double predicted = 0;
  for (const TrafficReport& row : report.traffic)
    if (row.purpose == Purpose::data_gradient) predicted += row.predicted;
  CHECK(predicted == Approx(2.0 * 3 / 4 * static_cast<double>(step.model.parameter_count()) * 4).epsilon(1e-4));
}

TEST_CASE("simulated data are predictions, and nothing is measured") {
  RunFacts facts = facts_of(2);
  facts.summaries.clear();
  facts.observed.clear();
  facts.obtained = Obtained::simulated;
  facts.clock = ClockDomain::device;
  facts.model_flops = 4e6;
  facts.tokens_per_step = 512;
  const Report report = make_report(facts);
  CHECK(std::isnan(report.bubble.measured));
  CHECK_FALSE(std::isnan(report.bubble.predicted));
  CHECK(report.time.sum() == Approx(1.0));
  CHECK(report.step_seconds == Approx(report.predicted->seconds()));
  CHECK(report.mfu == Approx(4e6 / (report.step_seconds * p) / 1e12));
  CHECK(std::isnan(report.hfu));
}

TEST_CASE("a prediction without its steady step, as in a part of a recording, predicts no time") {
  RunFacts facts = facts_of(4);
  REQUIRE(make_report(facts).predicted_step_seconds > 0);
  std::erase_if(facts.predicted->spans, [](const Span& span) { return span.step < 2; });
  REQUIRE_FALSE(facts.predicted->spans.empty());
  const Report report = make_report(facts);
  CHECK(std::isnan(report.predicted_step_seconds));
  CHECK(std::isnan(report.bubble.predicted));
  CHECK_FALSE(report.predicted);
  CHECK(to_json(report)["predicted_step_seconds"].is_null());
  CHECK(to_text(report).find("predicted 0") == std::string::npos);
}

TEST_CASE("an MFU above 1 is reported as a measurement fault, with the values that it was computed from") {
  RunFacts facts = facts_of(3);
  const Report possible = make_report(facts);
  CHECK(possible.faults.empty());
  facts.peak_flops *= possible.mfu / 1.74;
  const Report report = make_report(facts);
  CHECK(std::isnan(report.mfu));
  CHECK(std::isnan(report.hfu));
  REQUIRE(report.faults.size() == 2);
  CHECK_THAT(report.faults[0], ContainsText("MFU of 1.740 is impossible"));
  CHECK_THAT(report.faults[0], ContainsText("on 4 devices with a peak of"));
  CHECK_THAT(report.faults[0], ContainsText("wall clock"));
  CHECK(to_json(report)["mfu"].is_null());
  CHECK(to_json(report)["faults"].size() == 2);
  CHECK_THAT(to_text(report), ContainsText("measurement fault      MFU of 1.740 is impossible"));
}

TEST_CASE("a loss that is not finite is a fault of the run, and one that is not known is none") {
  RunFacts facts = facts_of(4);
  for (StepSummary& summary : facts.summaries)
    if (summary.tokens > 0) summary.loss = not_known;
  CHECK(all_faults(make_report(facts)).empty());
  for (StepSummary& summary : facts.summaries) summary.loss_not_finite = summary.tokens > 0 && summary.step >= 2;
  CHECK(make_report(facts).loss_not_finite_since == 2);
  CHECK(to_json(make_report(facts))["faults"] == nlohmann::json{"the loss is not finite since step 2"});
}

TEST_CASE("a step that ends before it begins has no time, and is a measurement fault") {
  RunFacts facts = facts_of(4);
  facts.observed.clear();
  // The clock fit of one host is wrong: its ranks' ends are before the others' begins.
  for (StepSummary& summary : facts.summaries)
    if (summary.step == 2) {
      summary.begin_ns = 5'000'000;
      summary.end_ns = 2'900'000;
    }
  facts.summaries.erase(
      std::remove_if(facts.summaries.begin(), facts.summaries.end(), [](const StepSummary& s) { return s.step == 3; }),
      facts.summaries.end());
  const Report report = make_report(facts);
  REQUIRE(report.steps.size() == 3);
  CHECK(std::isnan(report.steps[2].seconds));
  CHECK(std::isnan(report.steps[2].tokens_per_s));
  REQUIRE(report.faults.size() == 1);
  CHECK_THAT(report.faults[0], ContainsText("a time of -2.100000 ms for step 2 is impossible"));
  CHECK(report.step_seconds == Approx(report.steps[1].seconds));
}

TEST_CASE("the one rank that takes longer for equal work is named, and none if all take the same time") {
  CHECK_FALSE(make_report(facts_of(3)).slow);
  RunFacts facts = facts_of(3);
  Costs costs = costs_of(1000);
  FaultSpec fault;
  fault.slow_rank = 2;
  fault.slow_factor = 3;
  const Simulation run = simulate(facts.programs, facts.grid, slowed_costs(costs, fault), 3);
  for (ObservedStep& step : facts.observed) {
    step.spans = run.spans;
    step.range = step_range(run.spans, step.step);
  }
  const Report report = make_report(facts);
  REQUIRE(report.slow);
  CHECK(report.slow->rank == 2);
  CHECK(report.slow->factor == Approx(3).epsilon(0.01));
  CHECK_THAT(to_text(report), ContainsText("rank 2 takes 3.00 times as long as the others for equal work"));
  CHECK(to_json(report)["slow_rank"]["rank"] == 2);
}
