// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include "app/models/run_plan.hpp"
#include "app/session/analysis.hpp"
#include "app/session/prediction.hpp"
#include "engine/explain/facts/forecast.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/resources.hpp"
#include "engine/predict/fold/folded.hpp"
#include "telemetry/event/event_sender.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

TEST_CASE("A plan of too many ops is shown by one rank of each stage, as long as the engine predicts") {
  const Scenario scenario = read_scenario(find_scenario("gpt-1t-frontier").string());
  const Prediction prediction = predict(scenario);
  CAPTURE(prediction.refusal);
  REQUIRE(prediction.refusal.empty());
  CHECK_FALSE(prediction.folded.empty());
  CHECK(prediction.context == nullptr);
  CHECK(prediction.report.folded);
  // Each of the view's ranks is one of a stage, and represents all of them.
  const auto plan = plan_of(*prediction.view);
  REQUIRE(plan);
  CHECK(plan->grid.size() == prediction.scenario.plan.pipeline);
  CHECK(plan->identical_ranks * plan->grid.size() == prediction.scenario.plan.ranks());
  REQUIRE(prediction.view);
  CHECK(prediction.view->hello()->ranks == scenario.plan.pipeline);
  const double predicted = predict_step(compile(scenario)).step_seconds;
  CHECK(prediction.report.step_seconds == Approx(predicted));
  const auto steps = prediction.view->steps(Obtained::simulated);
  REQUIRE(steps.size() == 2);
  // Each of them has its memory over the step, whose greatest sum is that of the report.
  for (int stage = 0; stage < scenario.plan.pipeline; ++stage) {
    const TimeRange both{0, std::llround(2e9 * prediction.report.step_seconds)};
    const auto samples = prediction.view->memory(stage, Obtained::simulated, both, 1000);
    std::int64_t greatest = 0;
    for (const MemorySample& sample : samples) greatest = std::max(greatest, device_sum(sample.bytes));
    INFO("stage " << stage << ", " << samples.size() << " samples");
    CHECK(greatest == prediction.report.memory.at(static_cast<std::size_t>(stage)).predicted->peak);
  }
  // From the first op of a step to that of the next.
  const auto range = prediction.view->step_range(Obtained::simulated, 0);
  CHECK(static_cast<double>(range->length()) * 1e-9 == Approx(predicted).epsilon(1e-6));
}

TEST_CASE("A folded plan with a straggler shows the straggler's replica") {
  Scenario scenario = read_scenario(find_scenario("bloom-jean-zay").string());
  const Prediction even = predict(scenario);
  REQUIRE_FALSE(even.folded.empty());
  const RankGrid grid = scenario.plan.grid();
  const int stage = 3;
  scenario.fault.slow_rank = grid.rank_of({1, 5, stage});
  scenario.fault.slow_factor = 1.5;
  const Prediction slow = predict(scenario);
  REQUIRE(slow.refusal.empty());
  CHECK_THAT(slow.folded, ContainsText("of replica 5"));
  // The first forward of its stage takes this much longer; that of another stage does not.
  const auto first = [](const Prediction& prediction, int of) {
    const LaneKey lane{of, Lane::compute, Obtained::simulated};
    const Span span = prediction.view->spans(lane, {0, 1'000'000'000'000}, 0, 1).at(0);
    return static_cast<double>(span.end_ns - span.begin_ns);
  };
  CHECK(first(slow, stage) > 1.3 * first(even, stage));
  CHECK(first(slow, stage + 1) == Approx(first(even, stage + 1)));
  // No label calls ranks identical if one of them is slow.
  const auto plan = plan_of(*slow.view);
  REQUIRE(plan);
  CHECK(folded_words(*plan, stage) == "rank " + std::to_string(scenario.fault.slow_rank) + " is slow; " +
                                          std::to_string(plan->identical_ranks - 1) + " others wait");
  CHECK(folded_words(*plan, stage + 1) == std::to_string(plan->identical_ranks) + " identical ranks");
  REQUIRE(slow.report.slow);
  CHECK(slow.report.slow->rank == scenario.fault.slow_rank);
}

TEST_CASE("A plan of too many ops with different ranks is refused with the difference") {
  Scenario scenario = read_scenario(find_scenario("gpt-1t-frontier").string());
  scenario.plan.collective = "halving-doubling";
  const Prediction prediction = predict(scenario);
  CHECK(prediction.refusal.find("collective") != std::string::npos);
  CHECK(prediction.folded.empty());
}

TEST_CASE("The prediction of a plan that lost a node is for the remaining ranks, states this, and cannot be run") {
  Scenario scenario = read_scenario(find_scenario("topology").string());
  scenario.cluster.lost_node = 5;
  const Prediction prediction = predict(scenario);
  REQUIRE(prediction.refusal.empty());
  REQUIRE(prediction.left);
  CHECK(prediction.scenario.plan.data == scenario.plan.data);  // the request
  CHECK(prediction.report.ranks == prediction.left->plan.ranks());
  CHECK(prediction.left->plan.data < scenario.plan.data);
  CHECK(why_not_run(prediction).find("node 5 is lost") != std::string::npos);

  scenario.cluster.lost_node = -1;
  CHECK(predict(scenario).lost.empty());
}

TEST_CASE("A plan is refused if no replica remains without a node") {
  Scenario scenario = read_scenario(find_scenario("pipeline-1f1b").string());
  scenario.cluster.lost_node = 0;
  const Prediction prediction = predict(scenario);
  CHECK(prediction.refusal.find("nothing is left") != std::string::npos);
  CHECK_FALSE(prediction.left);
}

TEST_CASE("Shares of a folded plan's step are shown, and those of a recording of a prediction as its plan's") {
  const bool folded = GENERATE(false, true);
  const Scenario scenario = read_scenario(find_scenario(folded ? "gpt-1t-frontier" : "pipeline-1f1b").string());
  AnalysisRequest request;
  request.scenario = scenario;
  request.prediction = std::make_shared<const Prediction>(predict(scenario));
  const Analysis of_plan = analyse(request);
  REQUIRE(of_plan.figures->forecast);
  CHECK(of_plan.figures->forecast->average.sum() == Approx(1));
  CHECK(of_plan.figures->forecast->seconds() == Approx(request.prediction->report.step_seconds));

  // Every event of the prediction, as `simulate --record` writes them.
  auto store = std::make_shared<RunStore>();
  EventSender filler(*store);
  const EventPublisher publish = [&](int rank, Event event) { filler.add(rank, std::move(event)); };
  Hello hello;
  hello.device = simulated_device;
  if (folded)
    publish_folded_forecast(scenario, request.prediction->report.step_seconds, publish, hello);
  else
    publish_forecast(scenario, request.prediction->context->programs, request.prediction->predicted.spans, publish,
                     hello);
  request.run = store->view();
  const Analysis recorded = analyse(request);
  CHECK_FALSE(recorded.figures->run);  // nothing ran
  REQUIRE(recorded.figures->predicted);
  CHECK(recorded.figures->predicted->obtained == Obtained::simulated);
  CHECK(recorded.figures->predicted->step_seconds == Approx(request.prediction->report.step_seconds));
  REQUIRE(recorded.figures->forecast);
  CHECK(recorded.figures->forecast->average.share == of_plan.figures->forecast->average.share);
}
