#include "engine/plan/scenario/read.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/resources.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

const char* const example = R"(
title = "1F1B against GPipe on four stages"
[model]
layers = 8
width = 128
heads = 4
context = 64
vocabulary = 256
[plan]
pipeline = 4
schedule = "1f1b"
micro_batches = 8
precision = "bf16"
[train]
global_batch = 32
learning_rate = 1   # an integer will do for a number
seed = 9223372036854774784
[fault]
slow_rank = 0
slow_factor = 1.5
)";

/// Equal, except for the file's path.
bool same(const Scenario& a, const Scenario& b) {
  return a.title == b.title && a.model == b.model && a.data == b.data && a.plan == b.plan && a.train == b.train &&
         a.cluster == b.cluster && a.fault == b.fault;
}

}  // namespace

TEST_CASE("a scenario is read key by key, and what it leaves out has its default") {
  const Scenario scenario = parse_scenario(example, "lab.toml");
  CHECK(scenario.title == "1F1B against GPipe on four stages");
  CHECK(scenario.file == "lab.toml");
  CHECK(scenario.model.layers == 8);
  CHECK(scenario.plan.pipeline == 4);
  CHECK(scenario.plan.schedule == "1f1b");
  CHECK(scenario.plan.precision == "bf16");
  CHECK(scenario.compute_type() == DType::bf16);
  CHECK(scenario.train.learning_rate == 1.0);
  CHECK(scenario.train.seed == 9223372036854774784u);
  CHECK(scenario.fault.slow_rank == 0);
  CHECK(scenario.micro_batch_size() == 4);
  CHECK(scenario.train.optimizer == TrainSpec{}.optimizer);
  CHECK(scenario.data == DataSpec{});
}

TEST_CASE("an empty scenario is the default one on a laptop") {
  const Scenario scenario = parse_scenario("", "empty.toml");
  CHECK(scenario.model == ModelSpec{});
  CHECK(scenario.plan == PlanSpec{});
  CHECK(scenario.cluster.spec == "laptop");
  CHECK(scenario.cluster.devices_per_node == 8);
  CHECK(scenario.cluster.peak_flops(DType::f32) == 60.8e9);
  CHECK(scenario.cluster.peak_flops(DType::f64) == 30.4e9);
  CHECK_THROWS_AS(scenario.cluster.peak_flops(DType::i32), std::invalid_argument);
}

TEST_CASE("reading what was written gives the same scenario, for every key") {
  // Change each key in turn from its default to another valid value.
  for (const Key& key : scenario_keys()) {
    INFO(key.path());
    Scenario scenario;
    scenario.title = "quotes \" and \\ and\nlines, é";
    const Field field = key.field(scenario);
    if (auto* i = std::get_if<int*>(&field)) **i += 1;
    if (auto* d = std::get_if<double*>(&field)) **d = **d / 3 + 0.1;
    if (key.path() == "cluster.slow_node_factor") std::get<double*>(field)[0] = 1.5;
    if (auto* u = std::get_if<std::uint64_t*>(&field)) **u += 1;
    if (auto* b = std::get_if<bool*>(&field)) **b = !**b;
    if (auto* i = std::get_if<std::optional<int>*>(&field)) **i = 3;
    if (auto* d = std::get_if<std::optional<double>*>(&field)) **d = 0.3;
    if (auto* b = std::get_if<std::optional<bool>*>(&field)) **b = true;
    if (auto* s = std::get_if<std::string*>(&field)) {
      if (key.path() == "data.source") **s = "text:a \"book\".txt";
      if (key.path() == "train.optimizer") **s = "sgd";
      if (key.path() == "cluster.spec") **s = "somewhere else";
    }
    if (auto* choice = std::get_if<AnyChoice*>(&field))
      CHECK(
          (*choice)->take((*choice)->name() == (*choice)->names()[0] ? (*choice)->names()[1] : (*choice)->names()[0]));
    if (!key.only_read) CHECK(same(parse_recorded_scenario(to_toml(scenario)), scenario));
  }
  const Scenario read = parse_scenario(example, "lab.toml");
  CHECK(same(parse_scenario(to_toml(read), "again.toml"), read));
  CHECK(to_toml(parse_scenario(to_toml(read), "again.toml")) == to_toml(read));
}

TEST_CASE("a recorded scenario needs neither its data nor its cluster's file, nor an engine that can run it") {
  Scenario scenario;
  scenario.data.source = "text:/nonexistent/book.txt";
  scenario.cluster.spec = "a machine far away";
  scenario.plan.schedule = "interleaved";
  CHECK(same(parse_recorded_scenario(to_toml(scenario)), scenario));
  CHECK_THROWS_AS(check_scenario(scenario), ScenarioError);
}

TEST_CASE("overrides win over the file, in their order, with or without the table's name") {
  const auto with = [](std::vector<std::string> texts) {
    std::vector<Override> overrides;
    for (const std::string& text : texts) overrides.push_back(parse_override(text));
    return parse_scenario(example, "lab.toml", overrides);
  };
  CHECK(with({"plan.pipeline=2"}).plan.pipeline == 2);
  CHECK(with({"pipeline=2", "pipeline = 1"}).plan.pipeline == 1);
  CHECK(with({"schedule=gpipe"}).plan.schedule == "gpipe");
  CHECK(with({"schedule=\"gpipe\""}).plan.schedule == "gpipe");
  CHECK(with({"title=A, b = c"}).title == "A, b = c");
  CHECK(with({"title=7"}).title == "7");
  CHECK(with({"learning_rate=1e-2"}).train.learning_rate == 0.01);
  CHECK(with({"tied=false"}).model.tied == false);
  CHECK(with({"train.seed=5"}).train.seed == 5);
  CHECK(with({"virtual=1"}).plan.virtual_stages == 1);
  CHECK(with({"data=2"}).plan.data == 2);
  // A value that is valid only together with another override.
  CHECK(with({"micro_batches=16", "global_batch=48"}).micro_batch_size() == 3);
}

TEST_CASE("keys of the cluster in the scenario win over the cluster's file") {
  const Scenario scenario = parse_scenario("[cluster]\nspec = \"laptop\"\nintra_bandwidth = 1.25e9\n", "slow.toml");
  CHECK(scenario.cluster.intra_bandwidth == 1.25e9);
  // Changed values can be distinguished from those of the cluster's file.
  const auto changed = changed_figures(scenario.cluster);
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].name == "intra_bandwidth");
  CHECK(std::stod(changed[0].value) == 1.25e9);
  CHECK(changed_figures(parse_scenario("[cluster]\nspec = \"laptop\"\n", "plain.toml").cluster).empty());
  ClusterSpec elsewhere = scenario.cluster;
  elsewhere.spec = "a cluster without a file";
  CHECK(changed_figures(elsewhere).empty());
  CHECK(scenario.cluster.peak_flops_fp32 == 60.8e9);
  const std::vector<Override> set{{"cluster.spec", "laptop"}, {"cluster.intra_latency_s", "1e-3"}};
  CHECK(parse_scenario("", "x.toml", set).cluster.intra_latency_s == 1e-3);
}

TEST_CASE("a cluster is found beside the scenario, above it, and where RANKSCOPE_RESOURCES says") {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("rankscope-clusters-" + std::to_string(::getpid()));
  fs::create_directories(root / "course" / "week1" / "clusters");
  fs::create_directories(root / "course" / "clusters");
  fs::create_directories(root / "installed" / "clusters");
  const std::string laptop = find_resource("clusters", "laptop", "x.toml").string();
  REQUIRE(!laptop.empty());
  const auto cluster = [&](const fs::path& folder, const std::string& name) {
    fs::copy_file(laptop, folder / "clusters" / (name + ".toml"));
  };
  cluster(root / "course" / "week1", "near");
  cluster(root / "course", "near");
  cluster(root / "course", "above");
  cluster(root / "installed", "far");
  const fs::path scenario = root / "course" / "week1" / "lab.toml";
  CHECK(find_resource("clusters", "near", scenario) == root / "course" / "week1" / "clusters" / "near.toml");
  CHECK(find_resource("clusters", "above", scenario) == root / "course" / "clusters" / "above.toml");
  CHECK(find_resource("clusters", "far", scenario).empty());
  REQUIRE(::setenv("RANKSCOPE_RESOURCES", (root / "installed").c_str(), 1) == 0);
  CHECK(find_resource("clusters", "far", scenario) == root / "installed" / "clusters" / "far.toml");
  ::unsetenv("RANKSCOPE_RESOURCES");
  fs::remove_all(root);
}

TEST_CASE("the cluster's software has its own table, and its keys are also read from [cluster] in older files") {
  const Scenario now = parse_scenario("[software]\noverlap = false\nattention = \"stored\"\n", "now.toml");
  const Scenario then = parse_scenario("[cluster]\noverlap = false\nattention = \"stored\"\n", "then.toml");
  CHECK_FALSE(now.cluster.software.overlap);
  CHECK(now.cluster.software.attention == AttentionKernel::stored);
  CHECK(then.cluster == now.cluster);
  CHECK(to_toml(now).find("\n[software]\n") != std::string::npos);
  for (const char* key : {"software.overlap", "cluster.overlap", "overlap"}) {
    INFO(key);
    CHECK_FALSE(parse_scenario("", "x.toml", {{key, "false"}}).cluster.software.overlap);
    CHECK(full_key(key, "here") == "software.overlap");
  }
  // The key overrides the cluster's file like the cluster's own figures, in either table.
  for (const char* table : {"cluster", "software"}) {
    const std::string text = "[cluster]\nspec = \"selene\"\n" +
                             (std::string(table) == "cluster" ? std::string() : "[software]\n") + "fused = true\n";
    const SoftwareSpec software = parse_scenario(text, "x.toml").cluster.software;
    CHECK(software.fused);
    CHECK(software.accumulation == Accumulation::added);
  }
}
