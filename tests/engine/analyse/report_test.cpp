#include "engine/analyse/report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/program/compile.hpp"
#include "engine/simulate/costs.hpp"
#include "tests/catch.hpp"
#include "tests/engine/analyse/timelines.hpp"

using namespace rankscope;

namespace {

constexpr int p = 4, m = 8;

Costs costs_of(std::int64_t forward) {
  return {[=](const RankProgram&, const Op& op) -> std::int64_t {
            const OpKind kind = op.id.kind();
            return kind == OpKind::forward ? forward : kind == OpKind::backward ? 2 * forward : 0;
          },
          [](int, int) {
            return Link{50, 0};
          },
          {}};
}

/// A run of `steps` steps whose spans are a simulation's, told as measured on the wall clock.
RunFacts facts_of(int steps) {
  RunFacts facts;
  facts.title = "a test";
  facts.plan.pipeline = p;
  facts.plan.schedule = "1f1b";
  facts.plan.micro_batches = m;
  facts.grid = {1, 1, p};
  facts.programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}), 1000);
  facts.peak_flops = 1e12;
  facts.ideal = simulate(facts.programs, facts.grid, unit_costs());
  facts.predicted = simulate(facts.programs, facts.grid, costs_of(1000), 3);
  const Simulation run = simulate(facts.programs, facts.grid, costs_of(1100), steps);
  for (int s = 0; s < steps; ++s) {
    const auto step = static_cast<std::uint32_t>(s);
    ObservedStep observed{step, Obtained::measured, ClockDomain::wall, step_range(run.spans, step), {}};
    for (const Span& span : run.spans)
      if (span.step == step) observed.spans.push_back(span);
    for (int r = 0; r < p; ++r) {
      StepSummary summary;
      summary.rank = r;
      summary.step = step;
      summary.begin_ns = std::numeric_limits<std::int64_t>::max();
      for (const Span& span : observed.spans)
        if (span.rank == r && span.op.lane() == Lane::compute) {
          summary.begin_ns = std::min(summary.begin_ns, span.begin_ns);
          summary.end_ns = std::max(summary.end_ns, span.end_ns);
        }
      if (r == p - 1) {
        summary.loss = 5.0 - s;
        summary.tokens = 512;
      }
      summary.gradient_square_norm = r + 1;
      summary.model_flops = 1e6;
      summary.hardware_flops = 1.25e6;
      summary.peak_bytes = {10, 20, 30, 40 + r, 50};
      summary.peak_total_bytes = 140 + r;
      if (r < p - 1) summary.traffic.push_back({Purpose::pipeline_forward, OpKind::send, m, m * 1000, m * 1000});
      if (r > 0) summary.traffic.push_back({Purpose::pipeline_forward, OpKind::receive, m, m * 1000, -1});
      summary.spans_emitted = 100;
      summary.spans_dropped = r == 0 ? 1 : 0;
      facts.summaries.push_back(summary);
    }
    facts.observed.push_back(std::move(observed));
  }
  return facts;
}

}  // namespace

TEST_CASE("the loss of a step is the mean over last stages weighted by tokens; other stages have none") {
  StepSummary a, b, c;
  a.loss = 2.0;
  a.tokens = 100;
  b.loss = 5.0;
  b.tokens = 300;
  CHECK(global_loss({a, b, c}) == Approx((2.0 * 100 + 5.0 * 300) / 400));
  CHECK(std::isnan(global_loss({c})));
  b.loss = std::numeric_limits<double>::quiet_NaN();  // a head that diverged
  CHECK(std::isnan(global_loss({a, b, c})));
  a.gradient_square_norm = 9;
  b.gradient_square_norm = 16;
  CHECK(global_gradient_norm({a, b}) == Approx(5.0));
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
  CHECK(std::isnan(report.traffic[1].bytes_per_rank));  // nobody counted those
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

TEST_CASE("steps are timed on aligned clocks") {
  RunFacts facts = facts_of(3);
  const Report before = make_report(facts);
  for (StepSummary& s : facts.summaries)
    if (s.rank == 2) {
      s.begin_ns -= 5'000'000;
      s.end_ns -= 5'000'000;
    }
  CHECK(make_report(facts).steps[2].seconds > 2 * before.steps[2].seconds);  // it has no next step to end at
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
  // Where only late steps were kept, none of them is the run's first.
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

TEST_CASE("what is only simulated is predicted, and nothing is measured") {
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

TEST_CASE("--json has every key of the design, null where nothing is known, and nothing else") {
  const auto keys_of = [](const nlohmann::json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
  };
  const std::vector<std::string> keys = {
      "bubble", "bubble_span", "budget",       "clock",  "device_memory", "folded",
      "hfu",    "links",       "lost",         "memory", "mfu",           "obtained",
      "plan",   "ranks",       "step_seconds", "steps",  "telemetry",     "tflops_per_device",
      "time",   "traffic"};
  const nlohmann::json full = to_json(make_report(facts_of(3)));
  const nlohmann::json empty = to_json(make_report(RunFacts{}));
  for (const auto& json : {full, empty}) {
    CHECK(keys_of(json) == keys);
    for (const char* bubble : {"bubble", "bubble_span"})
      CHECK(keys_of(json[bubble]) == std::vector<std::string>{"ideal", "measured", "predicted"});
    CHECK(keys_of(json["time"]) == std::vector<std::string>{"bubble", "compute", "data", "optimizer", "other",
                                                            "pipeline", "recompute", "tensor", "zero"});
    CHECK(keys_of(json["telemetry"]) == std::vector<std::string>{"dropped", "events", "overhead"});
  }
  CHECK(keys_of(full["steps"][0]) ==
        std::vector<std::string>{"grad_norm", "loss", "loss_scale", "seconds", "skipped", "step", "tokens_per_s"});
  CHECK(keys_of(full["memory"][0]) == std::vector<std::string>{"activations", "buffers", "gradients", "host",
                                                               "optimizer", "parameters", "peak", "predicted", "rank",
                                                               "ranks_alike"});
  CHECK(keys_of(full["traffic"][0]) ==
        std::vector<std::string>{"bytes_per_rank", "collective", "count", "group", "predicted", "purpose"});
  // What was recorded before ranks told to whom they sent.
  CHECK(keys_of(full["links"][0]) == std::vector<std::string>{"bytes", "from", "predicted", "to"});
  CHECK(full["links"][0]["bytes"].is_null());
  CHECK(full["links"][0]["predicted"] > 0);
  CHECK(full["clock"] == "wall");
  CHECK(full["obtained"] == "measured");
  CHECK(full["plan"]["schedule"] == "1f1b");
  CHECK(full["memory"][1]["activations"] == 41);
  CHECK(full["telemetry"]["overhead"].is_null());
  CHECK(full["traffic"][1]["bytes_per_rank"].is_null());
  CHECK(empty["step_seconds"].is_null());
  CHECK(empty["mfu"].is_null());
  CHECK(empty["bubble"]["measured"].is_null());
  CHECK(empty["time"]["bubble"].is_null());
  CHECK(empty["telemetry"]["events"].is_null());
}

TEST_CASE("a step whose scaled gradients overflow on any rank is told as skipped, beside its scale") {
  RunFacts facts = facts_of(3);
  CHECK(to_json(make_report(facts))["steps"][1]["loss_scale"].is_null());
  CHECK(to_text(make_report(facts)).find("loss scale") == std::string::npos);
  for (StepSummary& summary : facts.summaries) {
    summary.loss_scale = summary.step < 2 ? 65536 : 32768;
    if (summary.step == 1 && summary.rank == 2) summary.gradient_square_norm = std::numeric_limits<double>::infinity();
  }
  const Report report = make_report(facts);
  const nlohmann::json steps = to_json(report)["steps"];
  CHECK(steps[0]["loss_scale"] == 65536);
  CHECK(steps[2]["loss_scale"] == 32768);
  CHECK(steps[0]["skipped"] == false);
  CHECK(steps[1]["skipped"] == true);
  CHECK(steps[1]["grad_norm"].is_null());
  CHECK(steps[2]["skipped"] == false);
  CHECK(to_text(report).find("skipped") != std::string::npos);
}

TEST_CASE("the report as text says how its numbers were obtained and stays aligned") {
  const std::string text = to_text(make_report(facts_of(30)));
  CAPTURE(text);
  CHECK(text.find("measured, wall clock") != std::string::npos);
  CHECK(text.find("median of 29 steady steps") != std::string::npos);
  CHECK(text.find("... 10 steps") != std::string::npos);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(to_text(make_report(RunFacts{})).find("nan") == std::string::npos);
}

TEST_CASE("the gap's items sum to the whole difference and name what differs most") {
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}), 1000);
  const RankGrid grid{1, 1, p};
  const StepAnalysis predicted = analyse_simulation(programs, grid, simulate(programs, grid, costs_of(1000), 2));
  Costs slow = costs_of(1000);
  slow.compute_ns = [of = slow.compute_ns](const RankProgram& program, const Op& op) {
    return of(program, op) * (program.rank == 1 ? 3 : 1);
  };
  const StepAnalysis measured = analyse_simulation(programs, grid, simulate(programs, grid, slow, 2));
  const std::vector<GapItem> items = explain_gap(predicted, measured);
  double points = 0;
  for (const GapItem& item : items) points += item.points;
  CHECK(points == Approx(100.0 * (measured.seconds() / predicted.seconds() - 1)).margin(1e-6));
  REQUIRE(items.size() > 2);
  for (std::size_t i = 1; i < items.size(); ++i) CHECK(std::abs(items[i - 1].seconds) >= std::abs(items[i].seconds));
  CHECK(items[0].rank == 1);
  CHECK(items[0].time == TimeClass::compute);
  CHECK(items[0].words.find("rank 1: compute ") == 0);
  bool straggler = false;
  for (const GapItem& item : items)
    straggler |= item.rank != 1 && item.cause == BubbleCause::straggler && item.points > 0;
  CHECK(straggler);
  CHECK(explain_gap(predicted, predicted).empty());
}
