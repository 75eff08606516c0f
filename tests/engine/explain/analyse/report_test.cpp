#include "engine/explain/analyse/report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/timelines.hpp"

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
  facts.ideal_bubble = ideal_bubble(make_schedule("1f1b", {p, 1, m}));
  facts.ideal = simulate(facts.programs, facts.grid, unit_costs());
  facts.predicted = simulate(facts.programs, facts.grid, costs_of(1000), 3);
  const Simulation run = simulate(facts.programs, facts.grid, costs_of(1100), steps);
  for (int s = 0; s < steps; ++s) {
    const auto step = static_cast<std::uint32_t>(s);
    ObservedStep observed{step, Obtained::measured, ClockDomain::wall, step_range(run.spans, step), {}};
    for (const Span& span : run.spans)
      if (span.step + 1 >= step && span.step <= step + 1) observed.spans.push_back(span);
    for (int r = 0; r < p; ++r) {
      StepSummary summary;
      summary.rank = r;
      summary.step = step;
      summary.begin_ns = std::numeric_limits<std::int64_t>::max();
      for (const Span& span : observed.spans)
        if (span.step == step && span.rank == r && span.op.lane() == Lane::compute) {
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

TEST_CASE("a report is the same from summaries and from their totals") {
  RunFacts facts = facts_of(5);
  for (std::size_t i = 0; i < facts.summaries.size(); ++i)
    if (facts.summaries[i].rank != 1) facts.summaries[i].energy_joules = 0.5;
  const nlohmann::json whole = to_json(make_report(facts));
  const std::size_t together = GENERATE(std::size_t{9}, std::size_t{20});  // in the middle of a step, and all
  auto totals = std::make_shared<RunTotals>();
  for (std::size_t i = 0; i < together; ++i) totals->add(facts.summaries[i]);
  facts.summaries.erase(facts.summaries.begin(), facts.summaries.begin() + static_cast<std::ptrdiff_t>(together));
  facts.totals = totals;
  CHECK(to_json(make_report(facts)) == whole);
  CHECK(totals->steps.find(0)->ranks == p);
  CHECK(to_json(make_report(facts)) == whole);  // what a report adds it adds to a copy
}

TEST_CASE("energy is that of all devices over the steady steps, on the wall clock, with who counted it") {
  RunFacts facts = facts_of(4);
  const Report unknown = make_report(facts);
  CHECK(unknown.energy.source == PowerSource::none);
  CHECK(std::isnan(unknown.energy.watts));
  CHECK(unknown.energy.unknown == "the energy is unknown: no rank reported a counter");
  facts.energy_unknown = "the GPU's energy is unknown: it is old";
  CHECK(make_report(facts).energy.unknown == facts.energy_unknown);
  // Two GPUs, of two ranks each: 3 J and 5 J a step, but more in the first.
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
  CHECK(std::isnan(report.energy.predicted_watts));  // two devices were counted, and the plan has four
  CHECK_THAT(to_text(report), ContainsText("counted by nvml on 2 GPUs"));
  const nlohmann::json json = to_json(report);
  CHECK(json["energy"]["source"] == "nvml");
  CHECK(json["energy"]["joules_per_step"].get<double>() == Approx(8));
  CHECK(json["steps"][2]["joules"] == 8);
  // Where one device cannot be read, the sum is not the run's.
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
  for (std::uint32_t step = 0; step < 100; ++step) {  // of 10 ms each; the counter goes on by 6 J in every fifth
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
  // Beside a GPU's it is said of steps that are as short as the jumps, and of no others.
  for (StepSummary& s : facts.summaries) s.energy_source = PowerSource::nvml;
  const std::string said =
      "counted by nvml on 1 GPU (updated some tens of times per second: such a short step "
      "reports 0 J or the energy of several steps)";
  CHECK_THAT(to_text(make_report(facts)), ContainsText(said));
  for (StepSummary& s : facts.summaries) s.begin_ns *= 20, s.end_ns *= 20;
  CHECK_THAT(to_text(make_report(facts)), ContainsText("counted by nvml on 1 GPU") && !ContainsText("updated"));
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

TEST_CASE("an MFU above 1 is no figure but a measurement fault, with what it was computed from") {
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

TEST_CASE("a step that ends before it begins has no time, and is a measurement fault") {
  RunFacts facts = facts_of(4);
  facts.observed.clear();
  // The clock of one host is fitted wrongly: what its ranks end lies before what the others begin.
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

TEST_CASE("the plan in --json has every key of the scenario's plan") {
  Report report;
  report.plan.data_parallel = "parameter-server";
  report.plan.servers = 3;
  report.plan.staleness = 2;
  report.plan.order = "stage 0: F:c0:m0 B:c0:m0";
  report.plan.pass_times = "1 2 1 0 1";
  report.plan.recompute_blocks = 5;
  const nlohmann::json plan = to_json(report)["plan"];
  for (const Key& key : scenario_keys())
    if (key.table == "plan") {
      INFO(key.name);
      CHECK(plan.contains(key.name));
    }
  CHECK(plan["data_parallel"] == "parameter-server");
  CHECK(plan["servers"] == 3);
  CHECK(plan["staleness"] == 2);
  CHECK(plan["order"] == report.plan.order);
  CHECK(plan["pass_times"] == "1 2 1 0 1");
  CHECK(plan["recompute_blocks"] == 5);
  CHECK(plan["sequence_parallel"] == false);
  CHECK(plan["bucket_mib"] == 25.0);
}

TEST_CASE("--json has every key of the design, null where nothing is known, and nothing else") {
  const auto keys_of = [](const nlohmann::json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
  };
  const std::vector<std::string> keys = {"bubble",
                                         "bubble_span",
                                         "budget",
                                         "clock",
                                         "costs",
                                         "device_memory",
                                         "energy",
                                         "faults",
                                         "folded",
                                         "forged_messages",
                                         "hfu",
                                         "links",
                                         "loss_floor",
                                         "lost",
                                         "memory",
                                         "mfu",
                                         "obtained",
                                         "others_cpu_share",
                                         "plan",
                                         "ranks",
                                         "slow_rank",
                                         "step_seconds",
                                         "steps",
                                         "telemetry",
                                         "tflops_per_device",
                                         "time",
                                         "traffic"};
  const nlohmann::json full = to_json(make_report(facts_of(3)));
  const nlohmann::json empty = to_json(make_report(RunFacts{}));
  for (const auto& json : {full, empty}) {
    CHECK(keys_of(json) == keys);
    for (const char* bubble : {"bubble", "bubble_span"})
      CHECK(keys_of(json[bubble]) == std::vector<std::string>{"ideal", "measured", "predicted"});
    CHECK(keys_of(json["time"]) == std::vector<std::string>{"bubble", "compute", "data", "optimizer", "other",
                                                            "pipeline", "recompute", "tensor", "zero"});
    CHECK(keys_of(json["energy"]) == std::vector<std::string>{"counters", "joules_per_step", "joules_per_token",
                                                              "predicted_watts", "source", "unknown", "watts"});
    CHECK(keys_of(json["telemetry"]) == std::vector<std::string>{"dropped", "events", "overhead"});
  }
  CHECK(keys_of(full["steps"][0]) == std::vector<std::string>{"grad_norm", "joules", "loss", "loss_scale", "magnitudes",
                                                              "seconds", "skipped", "step", "tokens_per_s"});
  CHECK(keys_of(full["memory"][0]) == std::vector<std::string>{"activations", "buffers", "context", "gradients", "host",
                                                               "optimizer", "parameters", "peak", "predicted", "rank",
                                                               "ranks_alike", "workspace"});
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

TEST_CASE("a step whose scaled gradients overflow on any rank is reported as skipped, with its loss scale") {
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

TEST_CASE("the data's entropy is printed under the losses if the run has it") {
  RunFacts facts = facts_of(3);
  CHECK(to_json(make_report(facts))["loss_floor"].is_null());
  CHECK(to_text(make_report(facts)).find("floor") == std::string::npos);
  facts.loss_floor = 1.25;
  CHECK(to_json(make_report(facts))["loss_floor"] == 1.25);
  CHECK_THAT(to_text(make_report(facts)), ContainsText("\n floor     1.25000   the entropy of the data\n"));
}

TEST_CASE("the tokens of a whole run are reported in words") {
  const auto words = [](double tokens) {
    Report report = make_report(facts_of(3));
    report.budget = RunBudget{tokens, 32, 1e12, 400};
    return to_text(report);
  };
  CHECK_THAT(words(3e11), ContainsText("300 billion tokens in 32 days, 277.8 MWh at 400 W"));
  CHECK_THAT(words(1.4e12), ContainsText("1.4 trillion tokens"));
  CHECK_THAT(words(2.5e6), ContainsText("2.5 million tokens"));
  CHECK_THAT(words(4096), ContainsText("4096 tokens"));
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

TEST_CASE("predicted memory peaks are aligned in columns, whatever the ranks' names") {
  Report report;
  for (const int rank : {7, 104, 3071}) {
    MemoryBytes memory;
    memory.by_class[static_cast<std::size_t>(MemoryClass::parameters)] = 1 << 30;
    memory.peak = 1 << 30;
    MemoryRow row;
    row.rank = rank;
    row.predicted = memory;
    report.memory.push_back(row);
  }
  const std::string text = to_text(report);
  std::vector<std::size_t> widths;
  for (std::size_t begin = text.find("memory peaks"); widths.size() < 4; begin = text.find('\n', begin) + 1)
    widths.push_back(text.find('\n', begin) - begin);
  INFO(text);
  CHECK(text.find("rank 3071 pred.") != std::string::npos);
  CHECK(widths == std::vector<std::size_t>(4, widths.front()));
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

TEST_CASE("the gap is over the workers, and offloaded optimizer time counts once") {
  // Two workers and a server. Predicted: 100 ns of compute. Measured: as much, and 100 ns of offloaded updates.
  const auto analysis = [](std::int64_t offloaded_ns) {
    StepAnalysis step;
    step.range = {0, 100 + offloaded_ns};
    step.workers = 2;
    step.ranks.resize(3);
    const auto whole = static_cast<double>(step.range.length());
    for (int rank = 0; rank < 3; ++rank) {
      StepShares& shares = step.ranks[static_cast<std::size_t>(rank)];
      BubbleStretch stretch;
      stretch.rank = rank;
      stretch.begin_ns = rank < 2 ? 100 : 0;
      stretch.end_ns = step.range.end_ns;
      if (rank < 2) {
        shares[TimeClass::compute] = 100 / whole;
        shares[TimeClass::optimizer] = static_cast<double>(offloaded_ns) / whole;
        stretch.cause = BubbleCause::exposed_communication;
        stretch.time = TimeClass::optimizer;
        stretch.purpose = Purpose::offload;
      } else {
        shares[TimeClass::other] = 1;
        stretch.cause = BubbleCause::workers;
        stretch.time = TimeClass::other;
      }
      step.stretches.push_back(stretch);
    }
    return step;
  };
  double points = 0;
  for (const GapItem& item : explain_gap(analysis(0), analysis(100))) {
    CHECK(item.rank < 2);
    if (std::abs(item.points) > 1e-9) CHECK(item.time == TimeClass::optimizer);
    points += item.points;
  }
  CHECK(points == Approx(100));
}
