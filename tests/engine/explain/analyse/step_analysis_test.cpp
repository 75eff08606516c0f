// A step's time by class: waiting, moving bytes, exposed communication, and unknown time.
#include "engine/explain/analyse/step_analysis.hpp"

#include <algorithm>
#include <random>

#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/step_cases.hpp"

using namespace rankscope;
using namespace rankscope::step_cases;

TEST_CASE("waiting for the sender is bubble, moving the bytes is exposed communication, at both ends") {
  const std::vector<Span> spans = {span(0, "F:c0:m0", 0, 40), span(0, "SEND.pipeline_forward:c0:m0", 40, 60),
                                   span(1, "RECV.pipeline_forward:c1:m0", 0, 60, 40), span(1, "F:c1:m0", 60, 100)};
  const StepAnalysis a = analyse_step(two_stages(), {1, 1, 2}, spans, {0, 100}, 0);
  CAPTURE(picture(a));
  require_whole(a);
  for (const int r : {0, 1}) {
    CHECK(ns_of(a, r, TimeClass::compute) == Approx(40));
    CHECK(ns_of(a, r, TimeClass::pipeline) == Approx(20));
    CHECK(ns_of(a, r, TimeClass::bubble) == Approx(40));
  }
  CHECK(a.bubble == Approx(0.4));
  // There is no bubble between each rank's own first and last op.
  CHECK(a.bubble_span == Approx(0.0));
  REQUIRE(a.stretches.size() == 4);
  const BubbleStretch& warm_up = a.stretches[2];
  CHECK(warm_up.rank == 1);
  CHECK(warm_up.cause == BubbleCause::warm_up);
  CHECK(warm_up.begin_ns == 0);
  CHECK(warm_up.end_ns == 40);
  CHECK(warm_up.waits_for_rank == 0);
  CHECK(to_token(warm_up.waits_for_op) == "F:c0:m0");
  CHECK(to_token(warm_up.next) == "F:c1:m0");
  CHECK(a.stretches[1].cause == BubbleCause::cool_down);
  CHECK(a.stretches[1].waits_for_rank == 1);
  CHECK_FALSE(a.stretches[1].next.valid());
}

TEST_CASE("if a transport cannot distinguish waiting from moving, the sender's begin decides") {
  const std::vector<Span> spans = {span(0, "F:c0:m0", 0, 60), span(0, "SEND.pipeline_forward:c0:m0", 60, 80),
                                   span(1, "RECV.pipeline_forward:c1:m0", 0, 80), span(1, "F:c1:m0", 80, 100)};
  const StepAnalysis a = analyse_step(two_stages(), {1, 1, 2}, spans, {0, 100}, 0);
  CHECK(ns_of(a, 1, TimeClass::bubble) == Approx(60));
  CHECK(ns_of(a, 1, TimeClass::pipeline) == Approx(20));
}

TEST_CASE("a late launch without a wait for another rank is overhead, not bubble") {
  const std::vector<Span> spans = {span(0, "F:c0:m0", 0, 60), span(0, "SEND.pipeline_forward:c0:m0", 60, 80),
                                   span(1, "RECV.pipeline_forward:c1:m0", 0, 80, 60), span(1, "F:c1:m0", 95, 100)};
  const StepAnalysis a = analyse_step(two_stages(), {1, 1, 2}, spans, {0, 100}, 0);
  require_whole(a);
  CHECK(ns_of(a, 1, TimeClass::other) == Approx(15));
  CHECK(ns_of(a, 1, BubbleCause::overhead) == 15);
  CHECK(a.ranks[1].unknown == 0);
}

TEST_CASE("replicas: waiting for the other's backward is bubble, the all-reduce is exposed data communication") {
  const auto programs = two_replicas();
  const std::vector<Span> spans = {span(0, "F:c0:m0", 0, 10),
                                   span(0, "B:c0:m0", 10, 30),
                                   span(0, "ALLREDUCE.data_gradient:c0:i0", 30, 90, 50),
                                   span(0, "OPT:c0:.update", 90, 100),
                                   span(1, "F:c0:m0", 0, 10),
                                   span(1, "B:c0:m0", 10, 50),
                                   span(1, "ALLREDUCE.data_gradient:c0:i0", 50, 90),
                                   span(1, "OPT:c0:.update", 90, 100)};
  const StepAnalysis a = analyse_step(programs, {1, 2, 1}, spans, {0, 100}, 0);
  CAPTURE(picture(a));
  require_whole(a);
  CHECK(ns_of(a, 0, TimeClass::bubble) == Approx(20));
  CHECK(ns_of(a, 0, TimeClass::data) == Approx(40));
  CHECK(ns_of(a, 0, TimeClass::optimizer) == Approx(10));
  CHECK(ns_of(a, 1, TimeClass::bubble) == Approx(0).margin(1e-9));
  CHECK(ns_of(a, 1, TimeClass::data) == Approx(40));
  // The same work takes 30 on rank 0 and 50 on rank 1, which is a straggler.
  CHECK(ns_of(a, 0, BubbleCause::straggler) == 20);
}

TEST_CASE("a replica that is a tenth slower is a straggler, one that is a thirtieth slower only has more to do") {
  const auto [slow, cause, other] = GENERATE(table<std::int64_t, BubbleCause, BubbleCause>(
      {{330, BubbleCause::straggler, BubbleCause::imbalance}, {310, BubbleCause::imbalance, BubbleCause::straggler}}));
  const auto programs = two_replicas();
  const std::vector<Span> spans = {span(0, "F:c0:m0", 0, 100),
                                   span(0, "B:c0:m0", 100, 300),
                                   span(0, "ALLREDUCE.data_gradient:c0:i0", 300, slow + 40, slow),
                                   span(0, "OPT:c0:.update", slow + 40, slow + 50),
                                   span(1, "F:c0:m0", 0, slow / 3),
                                   span(1, "B:c0:m0", slow / 3, slow),
                                   span(1, "ALLREDUCE.data_gradient:c0:i0", slow, slow + 40),
                                   span(1, "OPT:c0:.update", slow + 40, slow + 50)};
  const StepAnalysis a = analyse_step(programs, {1, 2, 1}, spans, {0, slow + 50}, 0);
  CAPTURE(slow, picture(a));
  require_whole(a);
  CHECK(ns_of(a, 0, cause) == slow - 300);
  CHECK(ns_of(a, 0, other) == 0);
}

TEST_CASE("communication that compute covers is not exposed") {
  std::vector<RankProgram> programs(2);
  std::vector<Span> spans;
  for (int r = 0; r < 2; ++r) {
    programs[r].rank = r;
    const OpIndex b1 = add_op(programs[r], "B:c0:m0:b1");
    const OpIndex a0 = add_collective(programs[r], "ALLREDUCE.data_gradient:c0:i0", GroupKind::data, 8, {b1});
    add_op(programs[r], "B:c0:m0:b0");
    add_op(programs[r], "OPT:c0:.update", {a0});
    spans.insert(spans.end(), {span(r, "B:c0:m0:b1", 0, 40), span(r, "ALLREDUCE.data_gradient:c0:i0", 40, 75),
                               span(r, "B:c0:m0:b0", 40, 80), span(r, "OPT:c0:.update", 80, 100)});
  }
  StepAnalysis a = analyse_step(programs, {1, 2, 1}, spans, {0, 100}, 0);
  require_whole(a);
  CHECK(a.average[TimeClass::compute] == Approx(0.8));
  CHECK(a.average[TimeClass::optimizer] == Approx(0.2));
  CHECK(a.average[TimeClass::data] == 0);
  // If it lasts until 90, only the 10 after the backward are exposed.
  for (Span& s : spans) {
    if (s.op.lane() == Lane::data) s.end_ns = 90;
    if (s.op.kind() == OpKind::optimizer) s.begin_ns = s.active_ns = 90;
  }
  a = analyse_step(programs, {1, 2, 1}, spans, {0, 100}, 0);
  CHECK(a.average[TimeClass::data] == Approx(0.1));
}

TEST_CASE("missing spans make unknown time, never idle time") {
  const int p = 4, m = 8;
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}));
  Simulation s = simulate(programs, {1, 1, p}, unit_costs(unit));
  const TimeRange range = step_range(s.spans, 0);
  const StepAnalysis whole = analyse_step(programs, {1, 1, p}, s.spans, range, 0);
  CHECK(whole.missing_spans == 0);
  // Remove two consecutive compute ops of rank 1.
  const auto lost = [](const Span& span) {
    return span.rank == 1 && (to_token(span.op) == "F:c1:m4" || to_token(span.op) == "B:c1:m2");
  };
  s.spans.erase(std::remove_if(s.spans.begin(), s.spans.end(), lost), s.spans.end());
  const StepAnalysis a = analyse_step(programs, {1, 1, p}, s.spans, range, 0);
  CAPTURE(picture(a));
  require_whole(a);
  CHECK(a.missing_spans == 2);
  CHECK(ns_of(a, 1, BubbleCause::unknown) == 3 * unit);
  CHECK(a.ranks[1].unknown * static_cast<double>(range.length()) == Approx(3 * unit));
  CHECK(ns_of(a, 1, TimeClass::bubble) <= ns_of(whole, 1, TimeClass::bubble));
  for (const int r : {0, 2, 3}) CHECK(ns_of(a, r, TimeClass::bubble) == Approx(ns_of(whole, r, TimeClass::bubble)));
}

TEST_CASE("a rank without data is unknown throughout") {
  const auto programs = two_stages();
  const StepAnalysis a = analyse_step(programs, {1, 1, 2}, {span(0, "F:c0:m0", 0, 60)}, {0, 100}, 0);
  CHECK(a.ranks[1][TimeClass::other] == Approx(1.0));
  CHECK(a.ranks[1].unknown == Approx(1.0));
  CHECK(a.ranks[1][TimeClass::bubble] == 0);
}

TEST_CASE("overlapping steps are analysed by what ran within the range") {
  const int p = 4, m = 8;
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}));
  const Simulation s = simulate(programs, {1, 1, p}, unit_costs(unit), 4);
  for (std::uint32_t step = 0; step < 4; ++step) {
    const StepAnalysis a = analyse_simulation(programs, {1, 1, p}, s, step);
    CAPTURE(step, picture(a));
    require_whole(a);
    CHECK(a.range.begin_ns == step * 3 * (m + p - 1) * unit);
    CHECK(a.bubble == Approx(static_cast<double>(p - 1) / (m + p - 1)));
    CHECK(a.average.unknown == 0);
  }
}

TEST_CASE("shares sum to one over random time lines, some of their spans lost") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::string names[] = {"naive", "gpipe", "1f1b"};
    const int p = 1 + static_cast<int>(random() % 5), m = 1 + static_cast<int>(random() % 9);
    const auto programs = pipeline_programs(make_schedule(names[random() % 3], {p, 1, m}), 1000, 1 + random() % 3);
    Costs costs{[&](const RankProgram&, const Op&) { return static_cast<std::int64_t>(random() % 5000); },
                [&](int, int) {
                  return Link{static_cast<std::int64_t>(random() % 900), 1.0 + random() % 4};
                },
                {}};
    Simulation s = simulate(programs, {1, 1, p}, costs, 3);
    const TimeRange range = step_range(s.spans, 1);
    if (range.empty()) continue;
    const StepAnalysis a = analyse_step(programs, {1, 1, p}, s.spans, range, 1);
    CAPTURE(round, p, m);
    require_whole(a);
    CHECK(a.average.unknown == 0);
    const auto lost = [&](const Span&) { return random() % 4 == 0; };
    s.spans.erase(std::remove_if(s.spans.begin(), s.spans.end(), lost), s.spans.end());
    const StepAnalysis holes = analyse_step(programs, {1, 1, p}, s.spans, range, 1);
    require_whole(holes);
    // The analysis must also end if time stamps contradict the program.
    for (Span& span : s.spans) {
      span.begin_ns = static_cast<std::int64_t>(random() % 100'000);
      span.active_ns = span.begin_ns;
      span.end_ns = span.begin_ns + static_cast<std::int64_t>(random() % 9000);
    }
    require_whole(analyse_step(programs, {1, 1, p}, s.spans, range, 1));
  }
}

TEST_CASE("compiled programs: every nanosecond of a simulated data × pipeline step has a class and a cause") {
  Scenario scenario;
  scenario.model = {"gpt", 4, 32, 2, 16, 64, true, 0.0};
  scenario.plan.data = 2;
  scenario.plan.pipeline = 2;
  scenario.plan.micro_batches = 4;
  scenario.train.global_batch = 16;
  scenario.train.clip = 1.0;
  scenario.cluster.peak_flops_fp32 = 1e9;
  scenario.cluster.memory_bandwidth = 1e9;
  scenario.cluster.devices_per_node = 8;
  scenario.cluster.intra_latency_s = 5e-6;
  scenario.cluster.intra_bandwidth = 1e9;
  const StepProgram step = compile(scenario);
  const auto programs = step.all_programs();
  const Simulation s = simulate(programs, step.grid, modelled_costs(scenario, step.model), 3);
  const StepAnalysis a = analyse_simulation(programs, step.grid, s, 1);
  CAPTURE(picture(a));
  require_whole(a);
  CHECK(a.average.unknown == 0);
  CHECK(a.average[TimeClass::compute] > 0.5);
  CHECK(a.average[TimeClass::data] > 0);
  CHECK(a.average[TimeClass::pipeline] > 0);
  CHECK(a.average[TimeClass::optimizer] > 0);
  for (const BubbleStretch& stretch : a.stretches) CHECK(stretch.cause != BubbleCause::unknown);
}

TEST_CASE("a split over more ranks than programs is refused") {
  CHECK_THROWS_AS(analyse_step(two_stages(), {1, 1, 3}, {}, {0, 10}, 0), std::invalid_argument);
}
