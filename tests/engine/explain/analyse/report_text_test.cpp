// The report as JSON and as text: all keys, and what a reader sees.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/plan/scenario/keys.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/report_facts.hpp"

using namespace rankscope;
using namespace rankscope::four_stages;

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
    if (key.is_of_plan() && !key.only_read) {
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

TEST_CASE("the text is one of lines, whatever characters the title and other words of a recording have") {
  RunFacts facts = facts_of(2);
  facts.title = "a\nb\x1b[31mred";
  CHECK(to_text(make_report(facts)).starts_with("a b [31mred\n"));
}

TEST_CASE("--json has every key of the design, null where nothing is known, and nothing else") {
  const auto keys_of = [](const nlohmann::json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
  };
  const std::vector<std::string> keys = {"analysed_step",
                                         "awaited_rank",
                                         "bubble",
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
                                         "peak_spread",
                                         "plan",
                                         "predicted_step_seconds",
                                         "ranks",
                                         "slow_rank",
                                         "step_seconds",
                                         "steps",
                                         "telemetry",
                                         "tflops_per_device",
                                         "time",
                                         "tokens_per_s",
                                         "tokens_per_s_per_device",
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
                                                               "ranks_alike", "unclassified", "workspace"});
  CHECK(keys_of(full["traffic"][0]) ==
        std::vector<std::string>{"bytes_per_rank", "collective", "count", "group", "payload_per_rank", "predicted",
                                 "purpose"});
  // From recordings made before ranks reported the receivers of their bytes.
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

TEST_CASE("on the wall clock the share of the cores that other programs had is reported, from 2 % on") {
  Report report;
  report.obtained = Obtained::measured;
  report.clock = ClockDomain::wall;
  report.others_share = 0.31;
  CHECK_THAT(to_text(report),
             ContainsText("contention") && ContainsText("other programs had 31.0 % of this machine's cores"));
  report.others_share = 0.01;
  CHECK_THAT(to_text(report), !ContainsText("contention"));
  report.others_share = 0.31;
  report.clock = ClockDomain::device;  // its costs are CPU time
  CHECK_THAT(to_text(report), !ContainsText("contention"));
}

TEST_CASE("a peak measured on a busy machine is reported with the MFU that uses it") {
  Report report;
  report.mfu = 0.4;
  CHECK_THAT(to_text(report), !ContainsText("not steady"));
  report.peak_spread = 0.005;
  CHECK_THAT(to_text(report), !ContainsText("not steady"));
  report.peak_spread = 0.12;
  CHECK_THAT(to_text(report), ContainsText("the peak is not steady: its best products differ by 12.0 %"));
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
