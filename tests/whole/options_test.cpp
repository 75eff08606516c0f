// Options of the commands that change the results for the user: each by its effect seen from outside.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"
#include "telemetry/store/run_store.hpp"
#include "telemetry/stream/publisher.hpp"
#include "telemetry/stream/viewer_client.hpp"
#include "telemetry/trace/trace_reader.hpp"
#include "tests/catch.hpp"
#include "tests/comparison.hpp"
#include "tests/places.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

std::vector<double> losses_of(const Ended& ended) {
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  std::vector<double> losses;
  const json object = only_object(ended);
  for (const json& step : object["steps"]) losses.push_back(step["loss"]);
  return losses;
}

/// A recording of the small 1F1B lab.
std::string recorded(const Folder& folder, int steps, const std::vector<std::string>& further = {}) {
  const std::string file = (folder / "run.mcap").string();
  std::vector<std::string> arguments{"run", lab("pipeline-1f1b"), "--steps", std::to_string(steps), "--record", file};
  arguments.insert(arguments.end(), further.begin(), further.end());
  const Ended ended = engine(folder, with_small_model(arguments));
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  return file;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The steps of which a recording has spans on the device or wall clock.
std::set<std::uint32_t> detailed_steps(const std::string& file) {
  RunStore store;
  REQUIRE(read_trace(file, store));
  const auto view = store.view();
  std::set<std::uint32_t> steps;
  for (const Obtained obtained : {Obtained::measured, Obtained::emulated})
    for (const std::uint32_t step : view->steps(obtained))
      if (!view->step_spans(obtained, step).empty()) steps.insert(step);
  return steps;
}

}  // namespace

TEST_CASE("every key of a scenario file is listed with its meaning, its default and what it accepts") {
  const Folder folder;
  const Ended all = engine(folder, {"keys"});
  CHECK(all.status == 0);
  for (const Key& key : scenario_keys()) {
    INFO(key.path());
    CHECK(all.out.find(std::string("\n") + std::string(key.name) + " = ") != std::string::npos);
    CHECK(all.out.find("\n    " + std::string(key.meaning) + "\n") != std::string::npos);
    CHECK_FALSE(key.meaning.empty());
  }
  const Ended train = engine(folder, {"keys", "train"});
  CHECK(train.out.starts_with("[train]\nglobal_batch = "));
  CHECK(train.out.find("    integer from 1\n") != std::string::npos);
  CHECK(train.out.find("[plan]") == std::string::npos);
  // A figure of the default cluster is that of its file.
  const Ended cluster = engine(folder, {"keys", "cluster"});
  CHECK(cluster.out.starts_with("[cluster]\nspec = \"laptop\"\n"));
  CHECK(cluster.out.find("\npeak_flops_fp32 = 0\n") == std::string::npos);
  const Ended unknown = engine(folder, {"keys", "plans"});
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("'plans' is no table or key of a scenario file; the tables are ") != std::string::npos);
  // What would fill the memory is refused before it is laid out.
  const std::vector<std::string> large{"simulate", "gpt3-175b", "--set", "collective=halving-doubling"};
  const Ended refused = engine(folder, large);
  CHECK(refused.status == 2);
  CHECK(refused.err.find("one by one, more than 953.67 MiB; identical ranks cannot be folded into one: ") !=
        std::string::npos);
  CHECK(refused.err.ends_with("; --any-size lays them out\n"));
  CHECK(engine(folder, {"simulate", "gpt3-175b", "--set", "collective=ring"}).status == 0);
  const Ended one = engine(folder, {"keys", "plan.zero"});
  CHECK(one.out == engine(folder, {"keys", "zero"}).out);
  CHECK(one.out.starts_with("[plan]\nzero = 0\n"));
  CHECK(std::count(one.out.begin(), one.out.end(), '\n') == 4);
}

TEST_CASE("a model learns a text and a file of tokens, and the same tokens give the same losses") {
  const Folder folder;
  // A sentence repeated many times: the next token is known after a few tokens.
  std::string text, tokens;
  while (text.size() < 20'000) text += "ranks send what others wait for; ";
  for (const char c : text) {
    tokens += c;
    tokens += '\0';  // 16 bits, little-endian
  }
  const std::string book = folder.file("book.txt", text), words = folder.file("book.tokens", tokens);
  const auto losses = [&](const std::string& source) {
    return losses_of(engine(
        folder, with_small_model({"run", lab("data-parallel"), "--json", "--steps", "60", "--set",
                                  "data.source=" + source, "model.vocabulary=256", "train.learning_rate=0.003"})));
  };
  const std::vector<double> of_text = losses("text:" + book), of_tokens = losses("tokens:" + words);
  REQUIRE(of_text.size() == 60);
  CHECK(of_text == of_tokens);
  CHECK(of_text.front() == Approx(std::log(256)).epsilon(0.1));
  CHECK(of_text.back() < 0.7 * of_text.front());
  CHECK(of_text != losses("synthetic"));
  const Ended none = engine(folder, {"run", lab("data-parallel"), "--set", "data.source=text:/nowhere/book.txt"});
  CHECK(none.status == 2);
  CHECK_THAT(none.err, ContainsText("/nowhere/book.txt"));
}

TEST_CASE("with more threads each rank computes on more of them, and the losses stay the same") {
  const Folder folder;
  std::map<int, std::vector<double>> losses;
  std::map<int, std::size_t> most;
  for (const int threads : {1, 3}) {
    Process run(folder, engine_command(with_small_model({"run", lab("data-parallel"), "--json", "--steps", "120",
                                                         "--threads", std::to_string(threads)})));
    // Of the program and of the worker that it starts, during their lifetime.
    bool begun = false;
    wait_until(a_minute, [&] {
      const std::vector<pid_t> processes = folder.processes();
      std::size_t now = 0;
      for (const pid_t process : processes) {
        std::error_code gone;
        std::filesystem::directory_iterator task("/proc/" + std::to_string(process) + "/task", gone);
        for (; !gone && task != std::filesystem::directory_iterator(); task.increment(gone)) ++now;
      }
      most[threads] = std::max(most[threads], now);
      begun = begun || !processes.empty();
      return begun && processes.empty();
    });
    losses[threads] = losses_of(run.wait(a_minute));
  }
  REQUIRE(losses[1].size() == 120);
  CHECK(largest_relative_error(losses[3], losses[1]) < 1e-6);
  // Four ranks have two more each.
  CHECK(most[3] >= most[1] + 4 * 2);
}

TEST_CASE("--keep chooses the steps whose detail is recorded; each step's summary always is") {
  constexpr int steps = 20;
  const std::string keep = GENERATE(as<std::string>{}, "all", "every:6");
  const Folder folder;
  const std::string file = recorded(folder, steps, {"--keep", keep});
  std::set<std::uint32_t> expected;
  for (std::uint32_t s = 0; s < steps; s += keep == "all" ? 1 : 6) expected.insert(s);
  INFO(keep);
  CHECK(detailed_steps(file) == expected);
  CHECK(only_object(trace_tool(folder, {"stats", file, "--json"}))["steps"].size() == steps);
}

TEST_CASE("--keep last:TIME records only the detail of the end, and each step's summary") {
  constexpr int steps = 400;
  const Folder folder;
  const std::string file = recorded(folder, steps, {"--keep", "last:100ms"});
  const std::set<std::uint32_t> detailed = detailed_steps(file);
  REQUIRE_FALSE(detailed.empty());
  CHECK(*detailed.rbegin() == steps - 1);
  CHECK(*detailed.begin() > 50);
  CHECK(detailed.size() == *detailed.rbegin() - *detailed.begin() + 1);
  const json stats = only_object(trace_tool(folder, {"stats", file, "--json"}));
  CHECK(stats["steps"].size() == steps);
  CHECK(stats["bubble"]["measured"].is_number());
  CHECK_THAT(trace_tool(folder, {"info", file}).out, !ContainsText("damage"));
}

TEST_CASE("an unknown keep policy is refused") {
  const Folder folder;
  const Ended refused = engine(folder, {"run", lab("pipeline-1f1b"), "--keep", "some"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, ContainsText("every:N") && ContainsText("last:"));
}

TEST_CASE("plan --program prints a rank's program, which parses back and is the one that is run") {
  const Folder folder;
  for (const int rank : {0, 3}) {
    const Ended ended = engine(folder, {"plan", lab("pipeline-1f1b"), "--program", std::to_string(rank)});
    INFO(ended.err);
    REQUIRE(ended.status == 0);
    const RankProgram expected = compile(read_scenario(lab("pipeline-1f1b"))).program_for(rank);
    CHECK(to_text(parse_program(ended.out)) == to_text(expected));
  }
  const Ended none = engine(folder, {"plan", lab("pipeline-1f1b"), "--program", "4"});
  CHECK(none.status == 2);
  CHECK(std::count(none.err.begin(), none.err.end(), '\n') == 1);
}

TEST_CASE("export --obtained has only the spans obtained in that way") {
  const Folder folder;
  const std::string file = recorded(folder, 4);
  const auto rows = [&](const std::vector<std::string>& further) {
    std::vector<std::string> arguments{"export", file, "--format", "csv"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    const Ended ended = trace_tool(folder, arguments);
    INFO(ended.err);
    REQUIRE(ended.status == 0);
    std::vector<std::string> lines = lines_of(ended.out);
    REQUIRE_FALSE(lines.empty());
    CHECK(lines.front().starts_with("rank,lane,obtained,step,"));
    lines.erase(lines.begin());
    return lines;
  };
  std::multiset<std::string> together;
  for (const std::string obtained : {"measured", "emulated", "simulated"}) {
    const auto some = rows({"--obtained", obtained});
    INFO(obtained);
    CHECK_FALSE(some.empty());
    for (const std::string& row : some)
      if (row.find("," + obtained + ",") == std::string::npos) FAIL_CHECK(row);
    together.insert(some.begin(), some.end());
  }
  const auto all = rows({});
  CHECK(together == std::multiset<std::string>(all.begin(), all.end()));
}

TEST_CASE("a replay that stays open serves viewers that connect after its end, until it is interrupted") {
  const Folder folder;
  const std::string file = recorded(folder, 10);
  Process replay(folder, {program("rankscope-trace"), "replay", file, "--speed", "max", "--stay", "--publish",
                          "tcp://127.0.0.1:*"});
  const std::string endpoint = replay.line_of_errors("replaying " + file + " at ", a_minute);
  REQUIRE(!endpoint.empty());
  RunStore recorded_store;
  REQUIRE(read_trace(file, recorded_store));
  for (int viewer = 0; viewer < 2; ++viewer) {  // the second one arrives when the first has seen the end
    RunStore store;
    ViewerClient client({.join = parse_join(endpoint), .limits = {}}, store);
    INFO("viewer " << viewer);
    CHECK(wait_until(a_minute, [&] { return store.view()->ends().size() == recorded_store.view()->ends().size(); }));
    CHECK(wait_until(a_minute, [&] { return store.view()->summaries(3).size() == 10; }));
  }
  replay.signal(SIGINT);
  const Ended ended = replay.wait(a_minute);
  INFO(ended.err);
  CHECK(ended.in_time);
  CHECK(ended.status == 0);
}

TEST_CASE("a relay by itself passes on what workers send to viewers and to its recording") {
  const Folder folder;
  const std::string file = (folder / "relay.mcap").string(), viewer_file = (folder / "viewer").string(),
                    worker_file = (folder / "worker").string();
  Process relay(folder, {program("rankscope-trace"), "relay", "--publish", "tcp://127.0.0.1:*", "--join-file",
                         viewer_file, "--worker-join-file", worker_file, "--record", file});
  REQUIRE(!relay.line_of_errors("relay at ", a_minute).empty());
  RunStore seen;
  ViewerClient viewer({.join = read_join_file(viewer_file), .limits = {}}, seen);
  constexpr std::uint32_t steps = 50;
  {
    PublisherOptions options;
    options.session = SessionId{7, 9};
    options.relay = read_join_file(worker_file);
    Publisher worker(options);
    for (std::uint32_t step = 0; step < steps; ++step) {
      StepSummary summary;
      summary.rank = 2;
      summary.step = step;
      summary.loss = 1.0 / (step + 1);
      CHECK(worker.summary(summary));
    }
    CHECK(worker.close(a_minute));
  }
  CHECK(wait_until(a_minute, [&] { return seen.view()->summaries(2).size() == steps; }));
  relay.signal(SIGINT);
  const Ended ended = relay.wait(a_minute);
  INFO(ended.err);
  CHECK(ended.status == 0);
  CHECK_THAT(ended.err, ContainsText("0 lost, 0 unreadable, 0 forged"));
  RunStore recorded_store;
  REQUIRE(read_trace(file, recorded_store));
  REQUIRE(recorded_store.view()->summaries(2).size() == steps);
  CHECK(recorded_store.view()->summaries(2)[9].loss == 0.1);
}

TEST_CASE("options of validate that need --own say so") {
  const Folder folder;
  const std::vector<std::vector<std::string>> commands{{"validate", "--rounds", "2"},
                                                       {"validate", "--write", folder.path().string()},
                                                       {"validate", "--own", "--name", "mine"}};
  for (const std::vector<std::string>& arguments : commands) {
    const Ended ended = engine(folder, arguments);
    INFO(ended.err);
    CHECK(ended.status == 2);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  }
}
