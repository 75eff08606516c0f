// The output of rankscope-engine: one object with all the documented keys, and consistent numbers.

#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

/// "a, b": the keys that are missing in `object`.
std::string missing(const json& object, const std::vector<std::string>& keys) {
  std::string names;
  for (const std::string& key : keys)
    if (!object.contains(key)) names += (names.empty() ? "" : ", ") + key;
  return names;
}

void check_keys(const json& report) {
  CHECK(missing(report, {"plan", "ranks", "clock", "obtained", "step_seconds", "steps", "bubble", "bubble_span", "time",
                         "mfu", "hfu", "tflops_per_device", "memory", "traffic", "telemetry"}) == "");
  CHECK(missing(report["plan"], {"data", "tensor", "pipeline", "virtual", "schedule", "micro_batches", "zero",
                                 "recompute", "sequence_parallel", "precision"}) == "");
  for (const json& step : report["steps"])
    CHECK(missing(step, {"step", "loss", "grad_norm", "seconds", "tokens_per_s"}) == "");
  for (const char* name : {"bubble", "bubble_span"})
    CHECK(missing(report[name], {"ideal", "predicted", "measured"}) == "");
  CHECK(missing(report["time"],
                {"compute", "recompute", "tensor", "pipeline", "data", "zero", "optimizer", "bubble", "other"}) == "");
  const std::vector<std::string> classes{"parameters", "gradients", "optimizer", "activations",
                                         "buffers",    "workspace", "peak"};
  for (const json& rank : report["memory"]) {
    CHECK(missing(rank, {"rank", "predicted"}) == "");
    CHECK(missing(rank, classes) == "");
    CHECK(missing(rank["predicted"], classes) == "");
  }
  for (const json& row : report["traffic"])
    CHECK(missing(row, {"purpose", "collective", "count", "bytes_per_rank", "predicted"}) == "");
  CHECK(missing(report["telemetry"], {"events", "dropped", "overhead"}) == "");
}

void check_time(const json& report) {
  double sum = 0;
  for (const auto& [name, share] : report["time"].items()) {
    INFO(name);
    CHECK(share.get<double>() >= 0);
    sum += share.get<double>();
  }
  CHECK(sum == Approx(1).margin(1e-9));
  CHECK(report["time"]["compute"].get<double>() > 0);
  CHECK(report["time"]["recompute"].get<double>() == 0);
  CHECK(report["time"]["bubble"].get<double>() == Approx(report["bubble"]["measured"].get<double>()).margin(1e-9));
  CHECK(report["mfu"].get<double>() > 0);
  CHECK(report["mfu"].get<double>() < 1);
  CHECK(report["hfu"] == report["mfu"]);  // nothing is computed twice in these plans
}

void check_steps(const json& report, int steps, double tokens_per_step) {
  REQUIRE(report["steps"].size() == static_cast<std::size_t>(steps));
  for (int s = 0; s < steps; ++s) {
    const json& step = report["steps"][static_cast<std::size_t>(s)];
    INFO(to_text(step));
    CHECK(step["step"] == s);
    CHECK(step["loss"] > report["loss_floor"]);
    CHECK(step["loss"].get<double>() < 6.0);  // a little above ln 256 = 5.55
    CHECK(step["grad_norm"].get<double>() > 0);
    CHECK(step["seconds"].get<double>() > 0);
    CHECK(step["tokens_per_s"].get<double>() * step["seconds"].get<double>() == Approx(tokens_per_step));
  }
  CHECK(report["steps"].back()["loss"].get<double>() < report["steps"].front()["loss"].get<double>() - 0.3);
  CHECK(report["loss_floor"].get<double>() == Approx(1.14).margin(0.01));  // of the labs' language of 256 words
  CHECK(report["step_seconds"].get<double>() > 0);
}

void check_memory(const json& report) {
  REQUIRE(report["memory"].size() == report["ranks"].get<std::size_t>());
  for (std::size_t r = 0; r < report["memory"].size(); ++r) {
    const json& rank = report["memory"][r];
    INFO(to_text(rank));
    CHECK(rank["rank"] == r);
    std::int64_t sum = 0;
    for (const char* name : {"parameters", "gradients", "optimizer", "activations"}) {
      CHECK(rank[name] == rank["predicted"][name]);
      CHECK(rank[name].get<std::int64_t>() > 0);
    }
    CHECK(rank["workspace"].get<std::int64_t>() > 0);
    CHECK(rank["workspace"] == rank["predicted"]["workspace"]);
    CHECK(rank["context"] == 0);  // only of a GPU
    for (const char* name : {"parameters", "gradients", "optimizer", "activations", "buffers", "workspace"})
      sum += rank[name].get<std::int64_t>();
    // AdamW keeps two numbers per parameter.
    CHECK(rank["optimizer"].get<std::int64_t>() == 2 * rank["parameters"].get<std::int64_t>());
    CHECK(rank["peak"].get<double>() == Approx(rank["predicted"]["peak"].get<double>()).epsilon(0.02));
    CHECK(rank["peak"].get<std::int64_t>() <= sum);
    CHECK(rank["peak"].get<std::int64_t>() > sum / 2);
  }
}

void check_traffic(const json& report) {
  CHECK(!report["traffic"].empty());
  for (const json& row : report["traffic"]) {
    INFO(to_text(row));
    CHECK(row["count"].get<double>() >= 1);
    CHECK(row["bytes_per_rank"].get<double>() > 0);
    CHECK(row["bytes_per_rank"].get<double>() == row["predicted"].get<double>());
  }
}

}  // namespace

TEST_CASE("measured stages are printed, run and recorded as a list of layers") {
  const Folder folder;
  const std::vector<std::string> set{"--set", "plan.stages=measured", "vocabulary=8192", "width=32", "--json"};
  const auto stages_of = [&](std::vector<std::string> command, const std::string& known_from) {
    command.insert(command.end(), set.begin(), set.end());
    const Ended ended = engine(folder, command);
    CHECK(ended.status == 0);
    const json report = only_object(ended);  // its plan is that of the recorded scenario
    const std::string stages = report["plan"]["stages"];
    INFO(stages << "\n" << ended.err);
    CHECK(ended.err.find("stages = \"" + stages + "\"") != std::string::npos);
    CHECK(ended.err.find(known_from) != std::string::npos);
    return stages;
  };
  // The head costs about as much as twenty blocks: the last stage has only the one block that it must have.
  CHECK(stages_of({"run", lab("pipeline-1f1b"), "--steps", "2"}, "measured on this machine").ends_with(" 1"));
  CHECK(stages_of({"simulate", lab("pipeline-1f1b")}, "modelled from the figures of cluster").ends_with(" 1"));
}

TEST_CASE("run --json prints one object whose numbers fit together, for every lab") {
  const Folder folder;
  const std::string name = GENERATE(as<std::string>{}, "data-parallel", "pipeline-naive", "pipeline-gpipe",
                                    "pipeline-1f1b", "pipeline-interleaved", "pipeline-zb-h1");
  INFO(name);
  const Ended ended = engine(folder, {"run", lab(name), "--steps", "12", "--json"});
  CHECK(ended.status == 0);
  CHECK(ended.err.empty());
  const json report = only_object(ended);
  check_keys(report);
  CHECK(report["ranks"] == 4);
  check_steps(report, 12, 32 * 64);
  check_time(report);
  check_memory(report);
  check_traffic(report);
  CHECK(report["telemetry"]["events"].get<std::int64_t>() > 12 * 4 * 20);
  CHECK(report["telemetry"]["dropped"] == 0);
  const double p = 4, m = 8;
  const double ideal = name == "data-parallel"          ? 0
                       : name == "pipeline-naive"       ? 1 - 1 / p
                       : name == "pipeline-interleaved" ? (p - 1) / (2 * m + p - 1)
                       : name == "pipeline-zb-h1"       ? (p - 1) / (3 * m + p - 1)
                                                        : (p - 1) / (m + p - 1);
  CHECK(report["bubble"]["ideal"].get<double>() == Approx(ideal).margin(1e-9));
  CHECK(folder.sessions().empty());
  CHECK(folder.processes().empty());
}

TEST_CASE(
    "1F1B keeps min(p - r, m) micro-batches' activations on rank r, GPipe all m, as the run's own ledger counts") {
  const Folder folder;
  const auto activations = [&](const char* name) {
    const json report = only_object(engine(folder, with_small_model({"run", lab(name), "--steps", "2", "--json"})));
    std::vector<double> bytes;
    for (const json& rank : report["memory"]) bytes.push_back(rank["activations"]);
    return bytes;
  };
  const std::vector<double> one_f_one_b = activations("pipeline-1f1b"), gpipe = activations("pipeline-gpipe");
  for (std::size_t r = 1; r < 3; ++r)  // first and last stage also have an embedding or a head
    CHECK(one_f_one_b[r] / gpipe[r] == Approx((4.0 - static_cast<double>(r)) / 8).epsilon(0.01));
}

TEST_CASE("simulate and plan print the same keys, and null for what only a run can know") {
  const Folder folder;
  const std::string command = GENERATE(as<std::string>{}, "simulate", "plan");
  const Ended ended = engine(folder, {command, lab("pipeline-1f1b"), "--json"});
  CHECK(ended.status == 0);
  CHECK(ended.err.empty());
  const json report = only_object(ended);
  check_keys(report);
  CHECK(report["obtained"] == "simulated");
  for (const json& step : report["steps"]) {
    CHECK(step["seconds"] == report["step_seconds"]);  // predicted steps are identical
    CHECK(step["loss"].is_null());
    CHECK(step["grad_norm"].is_null());
  }
  CHECK(report["bubble"]["measured"].is_null());
  CHECK(report["bubble"]["predicted"].get<double>() > report["bubble"]["ideal"].get<double>());
  CHECK(report["memory"].size() == 4);
  for (const json& rank : report["memory"]) {
    CHECK(rank["activations"].is_null());
    CHECK(rank["predicted"]["activations"].get<std::int64_t>() > 0);
  }
  for (const json& row : report["traffic"]) {
    CHECK(row["bytes_per_rank"].is_null());
    CHECK(row["predicted"].get<double>() > 0);
  }
  CHECK(report["telemetry"]["events"].is_null());
}

TEST_CASE("a recording gives the numbers that the run printed") {
  const Folder folder;
  const std::string file = (folder / "run.mcap").string();
  const json run = only_object(
      engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "10", "--json", "--record", file})));
  const Ended stats = trace_tool(folder, {"stats", file, "--json"});
  CHECK(stats.status == 0);
  const json recorded = only_object(stats);
  for (const char* key : {"plan", "ranks", "clock", "obtained", "steps", "step_seconds", "bubble", "bubble_span",
                          "time", "memory", "traffic", "mfu"}) {
    INFO(key);
    CHECK(recorded[key] == run[key]);
  }
}

TEST_CASE("the printed text has the same bubble as --json") {
  const Folder folder;
  const Ended ended = engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "2"}));
  CHECK(ended.status == 0);
  CHECK(ended.err.empty());
  CHECK(ended.out.find("27.3 % ideal") != std::string::npos);
  CHECK(ended.out.find("pipeline_forward") != std::string::npos);
}

TEST_CASE("three thousand ranks are simulated from the command line like four, with the cost of a whole run") {
  const Folder folder;
  const Ended ended = engine(folder, {"simulate", "gpt-1t-frontier", "--json", "--tokens", "20e12"});
  CHECK(ended.status == 0);
  const json report = only_object(ended);
  check_keys(report);
  CHECK(report["ranks"] == 3072);
  CHECK(report["folded"] == true);
  double sum = 0;
  for (const json& share : report["time"]) sum += share.get<double>();
  CHECK(sum == Approx(1));
  CHECK(report["hfu"].get<double>() / report["mfu"].get<double>() == Approx(4.0 / 3).epsilon(0.02));
  int ranks = 0;
  for (const json& row : report["memory"]) ranks += row["ranks_alike"].get<int>();
  CHECK(ranks == 3072);
  CHECK(report["device_memory"]["fits"] == true);
  CHECK(report["budget"]["days"].get<double>() > 100);
  CHECK(report["budget"]["joules"].get<double>() > 1e12);
}

TEST_CASE("validate and search print one object each") {
  const Folder folder;
  const json published = only_object(engine(folder, {"validate", "--json"}));
  CHECK(published["tables"].size() >= 8);
  for (const json& table : published["tables"])
    CHECK(missing(table, {"table", "title", "source", "constants", "unit", "judged", "rows", "mean_error",
                          "worst_error", "kendalls_tau"}) == "");

  const Ended ended = engine(folder, {"search", "gpt2-1.5b", "--json", "--best", "3"});
  CHECK(ended.status == 0);
  const json found = only_object(ended);
  CHECK(found["best"].size() == 3);
  CHECK(found["best"][0]["step_seconds"] <= found["best"][1]["step_seconds"]);
  CHECK(found["simulated"] <= found["plans"]);
  CHECK(!found["front"].empty());

  const Ended some = engine(folder, {"search", "pipeline-1f1b", "--strategy", "bayes", "--budget", "12", "--json"});
  CHECK(some.status == 0);
  const json tried = only_object(some);
  CHECK(missing(tried, {"strategy", "judged", "plans", "tried", "out_of_memory", "refused", "knobs", "importance",
                        "points", "best", "front", "trajectory", "runner_up_loses"}) == "");
  CHECK(tried["tried"] == 12);
  CHECK(tried["plans"] > 1000);
  CHECK(tried["trajectory"].back()["step_seconds"] ==
        tried["points"][tried["best"][0].get<std::size_t>()]["step_seconds"]);
}
