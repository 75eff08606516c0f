// The same model, trained in different ways: twice, by threads or by processes, by many ranks or by one.

#include "engine/plan/scenario/read.hpp"
#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/summaries.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;
using rankscope::testing::Summaries;

namespace {

json report_of(const Folder& folder, std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Ended ended = engine(folder, std::move(arguments));
  INFO(ended.out);
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  return parse_json(ended.out);
}

std::vector<double> losses_of(const json& report) {
  std::vector<double> losses;
  for (const json& step : report["steps"]) losses.push_back(step["loss"]);
  return losses;
}

/// The reports of one rank, in the order of its steps.
std::vector<double> losses_of(const Summaries& summaries) {
  std::vector<double> losses;
  for (const StepSummary& step : summaries.all) losses.push_back(step.loss);
  return losses;
}

/// Enough for a layer in every chunk.
int layers_of(const std::string& name) { return name == "pipeline-interleaved" ? 8 : 4; }

}  // namespace

TEST_CASE("a plan trains the same numbers every time, to the last bit") {
  const Folder folder;
  const std::string name = GENERATE(as<std::string>{}, "data-parallel", "pipeline-gpipe", "pipeline-1f1b");
  INFO(name);
  const std::vector<std::string> arguments = with_small_model({"run", lab(name), "--steps", "20"});
  const json first = report_of(folder, arguments), second = report_of(folder, arguments);
  REQUIRE(first["steps"].size() == 20);
  for (std::size_t s = 0; s < 20; ++s) {
    INFO(s);
    CHECK(first["steps"][s]["loss"] == second["steps"][s]["loss"]);
    CHECK(first["steps"][s]["grad_norm"] == second["steps"][s]["grad_norm"]);
  }
}

TEST_CASE("one rank of the program is the reference that verify compares with, bit for bit") {
  const Folder folder;
  Scenario scenario = read_scenario(lab("data-parallel"), {{"layers", "2"}, {"width", "32"}, {"steps", "6"}});
  const Scenario reference = reference_of(scenario);
  REQUIRE(reference.plan.ranks() == 1);
  REQUIRE(reference.plan.micro_batches == 4);
  Summaries observer;
  RunSettings settings;
  settings.steps = 6;
  run_loopback(compile(reference), settings, [&](int) { return &observer; });

  const json program =
      report_of(folder, {"run", lab("data-parallel"), "--comm", "loopback", "--steps", "6", "--set", "layers=2",
                         "--set", "width=32", "--set", "data=1", "--set", "micro_batches=4"});
  CHECK(program["ranks"] == 1);
  CHECK(losses_of(program) == losses_of(observer));
}

TEST_CASE("four ranks have the losses of one rank") {
  const Folder folder;
  const std::string name = GENERATE(as<std::string>{}, "data-parallel", "pipeline-naive", "pipeline-gpipe",
                                    "pipeline-1f1b", "pipeline-interleaved", "pipeline-zb-h1");
  INFO(name);
  const bool data = name == "data-parallel";
  const std::vector<std::string> arguments = with_small_model({"run", lab(name), "--steps", "8"}, layers_of(name));
  std::vector<std::string> alone = arguments;
  for (const char* set :
       {"--set", data ? "data=1" : "pipeline=1", "--set", data ? "micro_batches=4" : "micro_batches=8"})
    alone.emplace_back(set);
  const std::vector<double> many = losses_of(report_of(folder, arguments)), one = losses_of(report_of(folder, alone));
  REQUIRE(many.size() == 8);
  REQUIRE(one.size() == 8);
  for (std::size_t s = 0; s < 8; ++s) CHECK(many[s] == Approx(one[s]).epsilon(1e-5));
}

TEST_CASE("processes train the same as threads, and a ring all-reduce moves 2(n-1)·S bytes per group on both") {
  if (!can_use_mpi()) return;
  const Folder folder;
  const std::vector<std::string> arguments =
      with_small_model({"run", lab("data-parallel"), "--steps", "8", "--set", "collective=ring"});
  std::vector<std::string> with_mpi = arguments;
  with_mpi.insert(with_mpi.end(), {"--comm", "mpi"});
  const json threads = report_of(folder, arguments), processes = report_of(folder, with_mpi);
  REQUIRE(threads["steps"].size() == 8);
  REQUIRE(processes["steps"].size() == 8);
  for (std::size_t s = 0; s < 8; ++s) {
    INFO(s);
    CHECK(processes["steps"][s]["loss"].get<double>() ==
          Approx(threads["steps"][s]["loss"].get<double>()).epsilon(1e-6));
  }
  CHECK(processes["traffic"] == threads["traffic"]);
  CHECK(processes["memory"] == threads["memory"]);
  // 12Lh² + 13Lh + (V + s)h + 2h parameters, each a gradient of four bytes.
  const double n = 4, layers = 4, h = 32, vocabulary = 256, context = 16;
  const double bytes = 4 * (12 * layers * h * h + 13 * layers * h + (vocabulary + context) * h + 2 * h);
  for (const json* report : {&threads, &processes}) {
    double sent = 0;
    for (const json& row : (*report)["traffic"])
      if (row["purpose"] == "data_gradient") sent += n * row["bytes_per_rank"].get<double>();
    CHECK(sent == 2 * (n - 1) * bytes);
  }
}

TEST_CASE("a pipeline of processes trains the same as one of threads, and its messages are counted the same") {
  if (!can_use_mpi()) return;
  const Folder folder;
  const std::vector<std::string> arguments =
      with_small_model({"run", lab("pipeline-1f1b"), "--steps", "5", "--set", "collective=ring", "--set", "data=2",
                        "--set", "pipeline=2", "--set", "micro_batches=4"});
  std::vector<std::string> with_mpi = arguments;
  with_mpi.insert(with_mpi.end(), {"--comm", "mpi"});
  const json threads = report_of(folder, arguments), processes = report_of(folder, with_mpi);
  const std::vector<double> a = losses_of(threads), b = losses_of(processes);
  REQUIRE(a.size() == b.size());
  for (std::size_t s = 0; s < a.size(); ++s) CHECK(a[s] == Approx(b[s]).epsilon(1e-6));
  CHECK(processes["traffic"] == threads["traffic"]);
}

TEST_CASE("processes train the same as threads, whatever is sharded") {
  if (!can_use_mpi()) return;
  const Folder folder;
  using Set = std::vector<std::string>;
  const auto plan = GENERATE(
      Set{"data=2", "tensor=2", "sequence_parallel=true", "zero=3", "bucket_mib=0.01"},
      Set{"data=1", "tensor=2", "pipeline=2", "schedule=zb-h1", "recompute=selective"},
      Set{"data=2", "pipeline=2", "zero=2", "offload=optimizer", "precision=bf16"},
      Set{"data=2", "pipeline=2", "schedule=interleaved", "virtual=2", "zero=1", "precision=fp16"},
      Set{"data=3", "data_parallel=main-device"}, Set{"data=2", "data_parallel=parameter-server", "servers=2"});
  std::vector<std::string> arguments = with_small_model({"run", lab("data-parallel"), "--steps", "3"});
  for (const char* set : {"global_batch=24", "micro_batches=4", "collective=ring"})
    arguments.insert(arguments.end(), {"--set", set});
  std::string words;
  for (const std::string& set : plan) {
    arguments.insert(arguments.end(), {"--set", set});
    words += set + " ";
  }
  INFO(words);
  std::vector<std::string> with_mpi = arguments;
  with_mpi.insert(with_mpi.end(), {"--comm", "mpi"});
  const json threads = report_of(folder, arguments), processes = report_of(folder, with_mpi);
  REQUIRE(threads["steps"].size() == 3);
  REQUIRE(processes["steps"].size() == 3);
  // Rings add in the same order wherever their ranks are.
  CHECK(losses_of(processes) == losses_of(threads));
  for (std::size_t s = 0; s < 3; ++s)
    CHECK(processes["steps"][s]["grad_norm"].get<double>() ==
          Approx(threads["steps"][s]["grad_norm"].get<double>()).epsilon(1e-12));
  CHECK(processes["traffic"] == threads["traffic"]);
}

TEST_CASE("verify accepts the labs") {
  const Folder folder;
  const std::string name =
      GENERATE(as<std::string>{}, "data-parallel", "pipeline-naive", "pipeline-gpipe", "pipeline-1f1b",
               "pipeline-interleaved", "pipeline-zb-h1", "tensor-parallel", "parameter-server");
  INFO(name);
  const Ended ended = engine(folder, with_small_model({"verify", lab(name), "--json"}, layers_of(name)));
  INFO(ended.err);
  CHECK(ended.status == 0);
  const json verified = parse_json(ended.out)["verify"];
  CHECK(verified["passed"] == true);
  for (const char* what : {"losses", "gradients", "parameters"}) {
    INFO(what);
    CHECK(verified[what].get<double>() < 1e-5);
  }
}

TEST_CASE("verify catches every planted fault") {
  const Folder folder;
  const std::string plant =
      GENERATE(as<std::string>{}, "gradient_scale", "dropped_micro_batch", "skipped_norm_term", "untied_embedding");
  INFO(plant);
  // Clipped in every step: otherwise a wrong norm would not change the training.
  const Ended ended = engine(folder, with_small_model({"verify", lab("pipeline-1f1b"), "--json", "--set",
                                                       "plant=" + plant, "--set", "clip=0.05"}));
  INFO(ended.err);
  CHECK(ended.status == 1);
  CHECK(parse_json(ended.out)["verify"]["passed"] == false);
}
