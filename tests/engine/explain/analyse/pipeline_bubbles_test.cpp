// The bubbles of whole pipelines and their causes, compared with the theory of the schedules.
#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/step_cases.hpp"

using namespace rankscope;
using namespace rankscope::step_cases;

TEST_CASE("simulated 1f1b: every rank's bubble is warm-up, first gradient and cool-down exactly as theory says") {
  const int p = GENERATE(2, 3, 4, 8);
  const int m = GENERATE(8, 11);
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}));
  const StepAnalysis a = analyse_simulation(programs, {1, 1, p}, simulate(programs, {1, 1, p}, unit_costs(unit)));
  CAPTURE(p, m, picture(a));
  require_whole(a);
  const double T = static_cast<double>(m + p - 1) * 3;
  CHECK(a.seconds() == Approx(T * unit * 1e-9));
  CHECK(a.bubble == Approx(static_cast<double>(p - 1) / (m + p - 1)));
  // Rank r is idle for (p-1-r) · 3 units inside its own span, which is r · 3 units shorter than the step.
  double inside = 0, spans = 0;
  for (int r = 0; r < p; ++r) {
    CHECK(ns_of(a, r, BubbleCause::warm_up) == r * unit);
    CHECK(ns_of(a, r, BubbleCause::first_gradient) == (p - 1 - r) * 2 * unit);
    CHECK(ns_of(a, r, BubbleCause::cool_down) == ((p - 1 - r) + 2 * r) * unit);
    CHECK(ns_of(a, r, TimeClass::bubble) == Approx((p - 1) * 3 * unit));
    inside += (p - 1 - r) * 3;
    spans += T - r * 3;
  }
  CHECK(a.bubble_span == Approx(inside / spans));
}

TEST_CASE("simulated gpipe waits for the first gradient between its forwards and its backwards") {
  const int p = 4, m = 8;
  const auto programs = pipeline_programs(make_schedule("gpipe", {p, 1, m}));
  const StepAnalysis a = analyse_simulation(programs, {1, 1, p}, simulate(programs, {1, 1, p}, unit_costs(unit)));
  CAPTURE(picture(a));
  require_whole(a);
  for (int r = 0; r < p; ++r) {
    CHECK(ns_of(a, r, BubbleCause::warm_up) == r * unit);
    CHECK(ns_of(a, r, BubbleCause::first_gradient) == (p - 1 - r) * 3 * unit);
    CHECK(ns_of(a, r, BubbleCause::cool_down) == r * 2 * unit);
  }
}

TEST_CASE("a naive pipeline's idle time in between is its schedule's, not imbalance") {
  const int p = 3, m = 4;
  const auto programs = pipeline_programs(make_schedule("naive", {p, 1, m}));
  const StepAnalysis a = analyse_simulation(programs, {1, 1, p}, simulate(programs, {1, 1, p}, unit_costs(unit)));
  CAPTURE(picture(a));
  require_whole(a);
  CHECK(a.bubble == Approx(1.0 - 1.0 / p));
  for (int r = 0; r < p; ++r) {
    CHECK(ns_of(a, r, BubbleCause::imbalance) == 0);
    CHECK(ns_of(a, r, BubbleCause::schedule) > 0);
  }
}

TEST_CASE("a stage with more work makes the others wait in every micro-batch: imbalance") {
  const int p = 4, m = 16;
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}));
  Costs costs = unit_costs(unit);
  // The last stage's ops take twice as long and have different operands, so that this is not the same work as other
  // ranks'.
  auto heavier = programs;
  for (Op& op : heavier[3].ops)
    if (op.lane() == Lane::compute) op.uses = {{add_bytes(heavier[3], 7), Access::read}};
  costs.compute_ns = [of_unit = costs.compute_ns](const RankProgram& program, const Op& op) {
    return of_unit(program, op) * (program.rank == 3 ? 2 : 1);
  };
  const StepAnalysis a = analyse_simulation(heavier, {1, 1, p}, simulate(heavier, {1, 1, p}, costs));
  CAPTURE(picture(a));
  require_whole(a);
  // The step takes 105 units, in which ranks 0 to 2 compute 48. With 60 units of work on every rank it would take
  // (m+p-1)/m · 60 = 71.25, of which 11.25 are idle. Only the last stage can be busy nearly all the time.
  CHECK(a.seconds() == Approx(105 * unit * 1e-9));
  for (int r = 0; r < 3; ++r) {
    CHECK(ns_of(a, r, TimeClass::bubble) == Approx(57 * unit));
    CHECK(static_cast<double>(ns_of(a, r, BubbleCause::imbalance)) == Approx((57 - 11.25) * unit).margin(0.01 * unit));
    CHECK(ns_of(a, r, BubbleCause::straggler) == 0);
  }
  // The same times for equal work mean a slow rank: without it the step takes 57 units, 9 of them idle.
  const StepAnalysis slow = analyse_simulation(programs, {1, 1, p}, simulate(programs, {1, 1, p}, costs));
  CAPTURE(picture(slow));
  for (int r = 0; r < 3; ++r) {
    CHECK(static_cast<double>(ns_of(slow, r, BubbleCause::straggler)) == Approx((57 - 9) * unit).margin(0.01 * unit));
    CHECK(ns_of(slow, r, BubbleCause::imbalance) == 0);
  }
}

TEST_CASE("transfers on the critical chain are named by their purpose") {
  const int p = 4, m = 8;
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}));
  const std::int64_t alpha = 100;
  const StepAnalysis a =
      analyse_simulation(programs, {1, 1, p}, simulate(programs, {1, 1, p}, costs_of(unit, 2 * unit, {alpha, 0})));
  CAPTURE(picture(a));
  require_whole(a);
  // Before rank 3's first forward there are three forwards and three transfers; rank 3 does the last transfer itself.
  std::int64_t own = 0, others = 0, compute = 0;
  for (const BubbleStretch& s : a.stretches) {
    if (s.rank != 3 || to_token(s.next) != "F:c3:m0") continue;
    if (s.cause == BubbleCause::warm_up) compute += s.length_ns();
    if (s.cause != BubbleCause::exposed_communication) continue;
    CHECK(s.purpose == Purpose::pipeline_forward);
    (s.time == TimeClass::pipeline ? own : others) += s.length_ns();
  }
  CHECK(compute == 3 * unit);
  CHECK(own == alpha);
  CHECK(others == 2 * alpha);
}

TEST_CASE("bubble_span excludes the optimizer: clipping does not change the textbook's figure on any rank") {
  Scenario scenario;
  scenario.model = {"gpt", 4, 16, 2, 8, 32, false, 0.0};
  scenario.plan.pipeline = 4;
  scenario.plan.micro_batches = 8;
  scenario.plan.schedule = "1f1b";
  scenario.train.global_batch = 8;
  scenario.train.clip = GENERATE(0.0, 1.0);
  const StepProgram step = compile(scenario);
  const auto programs = step.all_programs();
  const StepAnalysis a = analyse_simulation(
      programs, step.grid, simulate(programs, step.grid, unit_costs(step.model, step.first_segment), 2));
  CHECK(a.bubble == Approx(3.0 / 11));
  CHECK(a.bubble_span == Approx(1.5 / (8 + 1.5)));  // sum of (p-1-r) over sum of (m+p-1-r)
}
