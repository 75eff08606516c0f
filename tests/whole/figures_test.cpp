// Figures that are shares of a measured value, and predictions that can be shared: from the command line.
#include <cmath>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

/// A separate folder for stored data about this machine.
StartOptions with_cache(const Folder& folder) { return {{"XDG_CACHE_HOME=" + (folder / "cache").string()}, {}}; }

json stored_peak(const Folder& folder, const std::string& precision, int threads) {
  std::ifstream file(folder / "cache/rankscope/peaks.json");
  for (const json& peak : json::parse(file))
    if (peak["precision"] == precision && peak["threads"] == threads) return peak;
  return nullptr;
}

std::vector<std::string> with_slow_rank(std::vector<std::string> arguments) {
  arguments = with_small_model(std::move(arguments));
  for (const char* word : {"--set", "fault.slow_rank=2", "--set", "fault.slow_factor=4"}) arguments.emplace_back(word);
  return arguments;
}

}  // namespace

TEST_CASE("MFU is a share of the stored peak on the clock of its steps, on both clocks and with any threads") {
  const Folder folder;
  const std::string clock = GENERATE(as<std::string>{}, "device", "wall");
  const int threads = GENERATE(1, 2);
  CAPTURE(clock, threads);
  std::vector<std::string> arguments = with_small_model({"run", lab("data-parallel"), "--steps", "3", "--json"});
  for (const std::string& word : {std::string("--set"), std::string("plan.data=1"), std::string("--clock"), clock,
                                  std::string("--threads"), std::to_string(threads)})
    arguments.push_back(word);
  const json run = only_object(engine(folder, arguments, with_cache(folder)));
  const json peak = stored_peak(folder, "fp32", threads);
  REQUIRE(peak.is_object());
  for (const char* key : {"host", "cpu", "libraries", "measured_utc"}) CHECK(!peak[key].get<std::string>().empty());
  CHECK(run["faults"].empty());
  REQUIRE(run["mfu"].is_number());
  CHECK(run["mfu"].get<double>() > 0);
  CHECK(run["mfu"].get<double>() < 1);
  const double used = 1e12 * run["tflops_per_device"].get<double>() / run["mfu"].get<double>();
  CHECK(used == Approx(peak[clock + "_flops"].get<double>()).epsilon(1e-9));
}

TEST_CASE("peak prints the stored peak, and measures it again only on request") {
  const Folder folder;
  const auto peak = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"peak", "--precision", "fp32", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = engine(folder, arguments, with_cache(folder));
    CHECK(ended.status == 0);
    return json::parse(ended.out).at(0);
  };
  const json first = peak({});
  CHECK(first["measured_now"] == true);
  CHECK(first["not_stored"].is_null());
  CHECK(first["device_flops"].get<double>() > 0);
  const json again = peak({"--again"});
  CHECK(stored_peak(folder, "fp32", 1)["samples"] == again["samples"]);
  if (again["measured_now"] == false) {
    // This machine was busy: a steady value does not change.
    CHECK(first["steady"] == true);
    CHECK(again["samples"] == first["samples"]);
    CHECK(again["not_stored"].get<std::string>().find("not steady") != std::string::npos);
  }
  const Ended refused = engine(folder, {"peak", "--precision", "fp7"}, with_cache(folder));
  CHECK(refused.status == 2);
  CHECK(refused.err.find("fp64, fp32, bf16 or fp16") != std::string::npos);
}

TEST_CASE("a rank that the scenario slows down is slow on the device clock, as simulated, and is named") {
  const Folder folder;
  const json simulated = only_object(engine(folder, with_slow_rank({"simulate", lab("pipeline-1f1b"), "--json"})));
  const json even = only_object(
      engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--json", "--steps", "6", "--clock", "device"})));
  const json run = only_object(engine(folder, with_slow_rank({"run", lab("pipeline-1f1b"), "--json", "--steps", "6"})));
  CHECK(run["clock"] == "device");
  CHECK(even["slow_rank"].is_null());
  for (const json* report : {&simulated, &run}) {
    REQUIRE((*report)["slow_rank"].is_object());
    CHECK((*report)["slow_rank"]["rank"] == 2);
    CHECK((*report)["slow_rank"]["factor"].get<double>() == Approx(4).epsilon(0.02));
  }
  // Three of four ranks wait more, in the run and in its prediction. The difference depends on the machine: on how
  // much longer than the others the last stage needs, with the head.
  const auto more = [&](const char* how) {
    return run["bubble"][how].get<double>() - even["bubble"][how].get<double>();
  };
  CHECK(more("measured") > 0.1);
  CHECK(more("measured") == Approx(more("predicted")).margin(0.1));
  CHECK(run["bubble"]["predicted"].get<double>() == Approx(run["bubble"]["measured"].get<double>()).margin(0.1));
  const Ended wall = engine(folder, with_slow_rank({"run", lab("pipeline-1f1b"), "--steps", "2", "--clock", "wall"}));
  CHECK(wall.status == 2);
  CHECK(wall.err.find("use --clock device") != std::string::npos);
}

TEST_CASE("the predicted bubble is the run's where ranks run into the next step: zero bubble without clipping") {
  const Folder folder;
  const std::string schedule = GENERATE("zb-h2", "zb-2p", "zb-v");
  const int chunks = schedule == "zb-v" ? 2 : 1;
  CAPTURE(schedule);
  // Costs are measured before the run, which changes them if the machine becomes busy: one of several runs must agree.
  constexpr double tolerance = 0.015;
  constexpr int most_runs = 4;
  json run;
  double predicted = 0, measured = 1;
  for (int i = 0; i < most_runs && std::fabs(predicted - measured) >= tolerance; ++i) {
    run = only_object(
        engine(folder, {"run", lab("pipeline-zb-h1"), "--steps", "8", "--json", "--set", "schedule=" + schedule,
                        "--set", "virtual=" + std::to_string(chunks), "--set", "clip=0"}));
    predicted = run["bubble"]["predicted"], measured = run["bubble"]["measured"];
  }
  // A prediction of the last step, which has no successor, is 2.3 points too large here. The ideal is no bound: it
  // assumes that the three passes have equal durations, which is not so on some machines.
  CHECK(std::fabs(predicted - measured) < tolerance);
  const double step = run["step_seconds"], predicted_step = run["predicted_step_seconds"];
  CHECK(predicted_step > 0);
  CHECK(predicted_step < 2 * step);
}

TEST_CASE("simulate says whose costs it used: the cluster's, or with --here this machine's") {
  const Folder folder;
  const Ended cluster = engine(folder, with_small_model({"simulate", lab("data-parallel")}));
  CHECK(cluster.out.find("costs                  cluster 'laptop' with ") != std::string::npos);
  CHECK(cluster.out.find(", not measured on this machine\n") != std::string::npos);
  const json here = only_object(
      engine(folder, with_small_model({"simulate", lab("data-parallel"), "--here", "--json"}), with_cache(folder)));
  const Ended elsewhere =
      engine(folder, with_small_model({"simulate", lab("data-parallel"), "--here", "--set", "cluster.spec=selene"}),
             with_cache(folder));
  CHECK(elsewhere.status == 0);  // whatever software that cluster runs
  CHECK(elsewhere.out.find("links of cluster 'selene'") != std::string::npos);
  CHECK(here["obtained"] == "simulated");
  CHECK(here["costs"].get<std::string>().find("measured on ") == 0);
  CHECK(here["costs"].get<std::string>().find("links of cluster 'laptop'") != std::string::npos);
  CHECK(here["step_seconds"].get<double>() > 0);
  CHECK(here["mfu"].get<double>() < 1);
  const Ended folded = engine(folder, {"simulate", "gpt-1t-frontier", "--here"});
  CHECK(folded.status == 2);
  CHECK(folded.err.find("leave out --here") != std::string::npos);
}

TEST_CASE("a simulated step is recorded, labelled simulated, and gives the numbers that simulate printed") {
  const Folder folder;
  const std::string plan = GENERATE(as<std::string>{}, "pipeline-1f1b", "gpt-1t-frontier");
  const bool folded = plan == "gpt-1t-frontier";
  CAPTURE(plan);
  const std::string file = (folder / "simulated.mcap").string();
  const Ended ended = engine(folder, {"simulate", plan, "--json", "--record", file});
  CHECK(ended.status == 0);
  const json printed = only_object(ended);
  const Ended stats = trace_tool(folder, {"stats", file, "--json"});
  CHECK(stats.status == 0);
  const json recorded = only_object(stats);
  CHECK(recorded["obtained"] == "simulated");
  for (const char* key :
       {"plan", "ranks", "clock", "obtained", "step_seconds", "bubble", "time", "traffic", "mfu", "folded", "costs"}) {
    INFO(key);
    CHECK(recorded[key] == printed[key]);
  }
  const Ended info = trace_tool(folder, {"info", file});
  CHECK(info.status == 0);
  CHECK(info.out.find("simulated") != std::string::npos);
  const Ended exported = trace_tool(folder, {"export", file, "-o", (folder / "simulated.json").string()});
  CHECK(exported.status == 0);
  CHECK(std::filesystem::file_size(folder / "simulated.json") > (folded ? 100'000 : 10'000));
}
