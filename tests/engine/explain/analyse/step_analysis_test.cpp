#include "engine/explain/analyse/step_analysis.hpp"

#include <algorithm>
#include <random>

#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/timelines.hpp"

using namespace rankscope;

namespace {

constexpr std::int64_t unit = 1000;

/// Two stages, one micro-batch, forward only.
std::vector<RankProgram> two_stages() {
  std::vector<RankProgram> programs(2);
  programs[1].rank = 1;
  const OpIndex f0 = add_op(programs[0], "F:c0:m0");
  add_message(programs[0], "SEND.pipeline_forward:c0:m0", 1, 8, {f0});
  const OpIndex received = add_message(programs[1], "RECV.pipeline_forward:c1:m0", 0, 8);
  add_op(programs[1], "F:c1:m0", {received});
  return programs;
}

/// Two data-parallel ranks: backward, all-reduce, update.
std::vector<RankProgram> two_replicas() {
  std::vector<RankProgram> programs(2);
  for (int r = 0; r < 2; ++r) {
    programs[r].rank = r;
    const OpIndex f = add_op(programs[r], "F:c0:m0");
    const OpIndex b = add_op(programs[r], "B:c0:m0", {f});
    const OpIndex a = add_collective(programs[r], "ALLREDUCE.data_gradient:c0:i0", GroupKind::data, 64, {b});
    add_op(programs[r], "OPT:c0:.update", {a});
  }
  return programs;
}

Costs costs_of(std::int64_t forward, std::int64_t backward, Link link) {
  return {[=](const RankProgram&, const Op& op) -> std::int64_t {
            const OpKind kind = op.id.kind();
            return kind == OpKind::forward ? forward : kind == OpKind::backward ? backward : 0;
          },
          [link](int, int) { return link; },
          {}};
}

void require_whole(const StepAnalysis& a) {
  CAPTURE(picture(a));
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    REQUIRE(a.ranks[r].sum() == Approx(1.0).margin(1e-9));
    std::int64_t until = a.range.begin_ns;  // stretches are ordered and disjoint
    for (const BubbleStretch& s : a.stretches) {
      if (s.rank != static_cast<int>(r)) continue;
      REQUIRE(s.begin_ns >= until);
      REQUIRE(s.end_ns > s.begin_ns);
      until = s.end_ns;
    }
    REQUIRE(until <= a.range.end_ns);
  }
  REQUIRE(a.average.sum() == Approx(1.0).margin(1e-9));
  REQUIRE(a.average[TimeClass::bubble] == Approx(a.bubble).margin(1e-9));
}

}  // namespace

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
  // Within each rank's own first to last op there is no bubble at all.
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
  // Rank 1 takes 50 for what takes rank 0 30: a straggler.
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
  // When it lasts until 90, only the 10 beyond the backward are exposed.
  for (Span& s : spans) {
    if (s.op.lane() == Lane::data) s.end_ns = 90;
    if (s.op.kind() == OpKind::optimizer) s.begin_ns = s.active_ns = 90;
  }
  a = analyse_step(programs, {1, 2, 1}, spans, {0, 100}, 0);
  CHECK(a.average[TimeClass::data] == Approx(0.1));
}

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
  // Rank r is idle (p-1-r) · 3 units inside its own span, which is r · 3 units shorter than the step.
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
  // The last stage's ops take twice as long, and have operands of their own: this is no work that others do as well.
  auto heavier = programs;
  for (Op& op : heavier[3].ops)
    if (op.lane() == Lane::compute) op.uses = {{add_bytes(heavier[3], 7), Access::read}};
  costs.compute_ns = [of_unit = costs.compute_ns](const RankProgram& program, const Op& op) {
    return of_unit(program, op) * (program.rank == 3 ? 2 : 1);
  };
  const StepAnalysis a = analyse_simulation(heavier, {1, 1, p}, simulate(heavier, {1, 1, p}, costs));
  CAPTURE(picture(a));
  require_whole(a);
  // The step takes 105 units of which ranks 0 to 2 compute 48; with 60 units of work on every rank it would take
  // (m+p-1)/m · 60 = 71.25, of which 11.25 idle. Only the last stage can be busy nearly all the time.
  CHECK(a.seconds() == Approx(105 * unit * 1e-9));
  for (int r = 0; r < 3; ++r) {
    CHECK(ns_of(a, r, TimeClass::bubble) == Approx(57 * unit));
    CHECK(static_cast<double>(ns_of(a, r, BubbleCause::imbalance)) == Approx((57 - 11.25) * unit).margin(0.01 * unit));
    CHECK(ns_of(a, r, BubbleCause::straggler) == 0);
  }
  // The same times of equal work are a slow rank: without it the step takes 57 units, 9 of them idle.
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
  // Until rank 3's first forward: three forwards, and three transfers of which it does the last one itself.
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

TEST_CASE("missing spans make unknown time, never idle time") {
  const int p = 4, m = 8;
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}));
  Simulation s = simulate(programs, {1, 1, p}, unit_costs(unit));
  const TimeRange range = step_range(s.spans, 0);
  const StepAnalysis whole = analyse_step(programs, {1, 1, p}, s.spans, range, 0);
  CHECK(whole.missing_spans == 0);
  // Lose two neighbouring compute ops of rank 1.
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
    // Stamps that contradict the program must end, too.
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

TEST_CASE("a parameter server's idle time while its worker computes is waiting for workers, not bubble") {
  std::vector<RankProgram> programs(2);
  programs[1].rank = 1;
  const OpIndex f = add_op(programs[0], "F:c0:m0");
  const OpIndex b = add_op(programs[0], "B:c0:m0", {f});
  add_message(programs[0], "SEND.server:c0:i0", 1, 64, {b});
  const OpIndex got = add_message(programs[1], "RECV.server:c0:i0", 0, 64);
  add_op(programs[1], "OPT:c0:.update", {got});
  const RankGrid grid{1, 1, 1, 1};
  const std::vector<Span> spans = {span(0, "F:c0:m0", 0, 30), span(0, "B:c0:m0", 30, 60),
                                   span(0, "SEND.server:c0:i0", 60, 70), span(1, "RECV.server:c0:i0", 0, 70, 60),
                                   span(1, "OPT:c0:.update", 70, 100)};
  const StepAnalysis a = analyse_step(programs, grid, spans, {0, 100}, 0);
  CAPTURE(picture(a));
  CHECK(ns_of(a, 1, BubbleCause::workers) == 60);
  CHECK(ns_of(a, 1, TimeClass::bubble) == Approx(0).margin(1e-9));
  CHECK(ns_of(a, 1, TimeClass::other) == Approx(60));
  CHECK(ns_of(a, 1, BubbleCause::warm_up) == 0);
  CHECK(a.ranks[1].unknown == Approx(0).margin(1e-9));
}

TEST_CASE(
    "a parameter server's time is classified by its own ops: bytes moved, updates, and waiting for workers in "
    "between") {
  std::vector<RankProgram> programs(2);
  programs[1].rank = 1;
  const OpIndex b = add_op(programs[0], "B:c0:m0");
  add_message(programs[0], "SEND.server:c0:i0", 1, 64, {b});
  add_message(programs[1], "RECV.server:c0:i0", 0, 64);
  const RankGrid grid{1, 1, 1, 1};
  // The worker goes on to its next step, so that the server's transfer is on no chain that anybody waits for.
  const std::vector<Span> spans = {span(0, "B:c0:m0", 0, 60), span(0, "SEND.server:c0:i0", 60, 70),
                                   span(0, "B:c0:m0", 60, 100, -1, 1), span(1, "RECV.server:c0:i0", 0, 70, 60)};
  const StepAnalysis a = analyse_step(programs, grid, spans, {0, 100}, 0);
  CAPTURE(picture(a));
  CHECK(a.workers == 1);
  CHECK(ns_of(a, 1, TimeClass::data) == Approx(10));
  CHECK(ns_of(a, 1, BubbleCause::workers) == 90);
  CHECK(ns_of(a, 0, TimeClass::bubble) == Approx(0).margin(1e-9));
}

TEST_CASE(
    "a rank that still communicates does not wait for the step's end, and without a pipeline there is no warm-up") {
  // Two workers and a server, which takes rank 0's gradient and then rank 1's:
  //   rank 0   B [0, 20)    SEND [20, 30)   then nothing
  //   rank 1   B [0, 60)    SEND [60, 80)
  std::vector<RankProgram> programs(3);
  for (int rank = 0; rank < 2; ++rank) {
    RankProgram& program = programs[static_cast<std::size_t>(rank)];
    program.rank = rank;
    const std::string message = ".server:c0:m" + std::to_string(rank);
    const OpIndex b = add_op(program, "B:c0:m0");
    add_message(program, "SEND" + message, 2, 64, {b});
    add_message(programs[2], "RECV" + message, rank, 64);
  }
  programs[2].rank = 2;
  const RankGrid grid{1, 2, 1, 1};
  const std::vector<Span> spans = {
      span(0, "B:c0:m0", 0, 20), span(0, "SEND.server:c0:m0", 20, 30), span(2, "RECV.server:c0:m0", 0, 30, 20),
      span(1, "B:c0:m0", 0, 60), span(1, "SEND.server:c0:m1", 60, 80), span(2, "RECV.server:c0:m1", 30, 80, 60)};
  const StepAnalysis a = analyse_step(programs, grid, spans, {0, 80}, 0);
  CAPTURE(picture(a));
  CHECK(ns_of(a, 0, TimeClass::data) == Approx(10));
  CHECK(ns_of(a, 0, TimeClass::bubble) == Approx(50));
  CHECK(ns_of(a, 0, BubbleCause::warm_up) == 0);
  CHECK(ns_of(a, 0, BubbleCause::cool_down) == 0);
  CHECK(a.bubble == Approx(50.0 / 160));
}

TEST_CASE("communication for the next step before the step ends is exposed communication, on all ranks") {
  // A main device updates, and sends the parameters: what their forward waits for, with which the next step begins.
  //   rank 0   B [0, 50)    REDUCE [50, 60)    OPT [60, 70)   BROADCAST [70, 95)   of the next step
  //   rank 1   B [0, 50)    REDUCE [50, 60)    waits          BROADCAST [60, 95)   whose bytes move from 70 on
  std::vector<RankProgram> programs(2);
  for (int rank = 0; rank < 2; ++rank) {
    RankProgram& program = programs[static_cast<std::size_t>(rank)];
    program.rank = rank;
    const OpIndex sent = add_collective(program, "BROADCAST.data_parameter:c0:i0", GroupKind::data, 64);
    const OpIndex b = add_op(program, "B:c0:m0", {sent});
    const OpIndex summed = add_collective(program, "REDUCE.data_gradient:c0:i0", GroupKind::data, 64, {b});
    if (rank > 0) continue;
    const OpIndex update = add_op(program, "OPT:c0:.update", {summed});
    program.ops[sent].after_previous = {update};
  }
  std::vector<Span> spans;
  for (int rank = 0; rank < 2; ++rank) {
    spans.push_back(span(rank, "B:c0:m0", 0, 50));
    spans.push_back(span(rank, "REDUCE.data_gradient:c0:i0", 50, 60));
    if (rank == 0) spans.push_back(span(0, "OPT:c0:.update", 60, 70));
    spans.push_back(span(rank, "BROADCAST.data_parameter:c0:i0", rank == 0 ? 70 : 60, 95, 70, 1));
  }
  // Of the next step's forward, which begins where the step ends, there may be no span.
  const bool with_next = GENERATE(false, true);
  if (with_next)
    for (int rank = 0; rank < 2; ++rank) spans.push_back(span(rank, "B:c0:m0", 95, 145, -1, 1));
  const StepAnalysis a = analyse_step(programs, {1, 2, 1, 0}, spans, {0, 95}, 0);
  CAPTURE(picture(a), with_next);
  require_whole(a);
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(ns_of(a, rank, TimeClass::data) == Approx(35));
    CHECK(ns_of(a, rank, TimeClass::other) == Approx(0).margin(1e-9));
  }
  CHECK(ns_of(a, 0, TimeClass::optimizer) == Approx(10));
  CHECK(ns_of(a, 1, TimeClass::bubble) == Approx(10));
}
