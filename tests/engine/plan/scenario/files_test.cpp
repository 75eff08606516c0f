// Every file under scenarios/ is valid.
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "engine/execute/data/dataset.hpp"
#include "engine/plan/model/model.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/resources.hpp"
#include "engine/plan/schedule/schedule.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

const std::filesystem::path folder = std::filesystem::path(test::source_folder()) / "scenarios";

std::vector<std::string> toml_files_below(const std::string& below) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / below))  // its subfolder contains translations
    if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
  return files;
}

}  // namespace

TEST_CASE("every lab and model can be read, checked, modelled and split") {
  int count = 0;
  for (const char* below : {"labs", "models"})
    for (const std::string& file : toml_files_below(below)) {
      INFO(file);
      ++count;
      const Scenario scenario = read_scenario(file);
      CHECK_NOTHROW(check_scenario(scenario));
      CHECK(!scenario.title.empty());
      const Model model = make_model(scenario);
      if (scenario.model.is_collective()) {  // nothing is trained
        CHECK(model.parameter_count() == 0);
        continue;
      }
      CHECK(model.parameter_count() > 0);
      CHECK(split_evenly(model, scenario.plan.chunks()).size() == static_cast<std::size_t>(scenario.plan.chunks()) + 1);
      CHECK_NOTHROW(make_schedule(scenario.plan.schedule,
                                  {scenario.plan.pipeline, scenario.plan.virtual_stages, scenario.plan.micro_batches}));
      CHECK(std::isfinite(open_dataset(scenario)->entropy_nats()));
    }
  CHECK(count >= 7);
}

TEST_CASE("every cluster can be read") {
  int count = 0;
  for (const std::string& file : toml_files_below("clusters")) {
    INFO(file);
    ++count;
    const std::string name = std::filesystem::path(file).stem().string();
    const Scenario scenario =
        parse_scenario("[cluster]\nspec = \"" + name + "\"\n", (folder / "labs" / "x.toml").string());
    CHECK(scenario.cluster.peak_flops(DType::f32) > 0);
    CHECK(scenario.cluster.memory_bandwidth > 0);
    CHECK(scenario.cluster.intra_bandwidth > 0);
  }
  CHECK(count == 15);
}

TEST_CASE("every stack can be read, and runs on any machine") {
  int count = 0;
  for (const std::string& file : toml_files_below("software")) {
    INFO(file);
    ++count;
    const std::string name = std::filesystem::path(file).stem().string();
    const Scenario scenario = parse_scenario("[cluster]\nspec = \"dgx-a100\"\n[software]\nstack = \"" + name + "\"\n",
                                             (folder / "labs" / "x.toml").string());
    CHECK(scenario.cluster.software != SoftwareSpec());
    CHECK(scenario.cluster.software.collectives == Collectives::library);
  }
  CHECK(count == 7);
}

TEST_CASE("a cluster's figures are consistent: no share exceeds its whole") {
  for (const char* name : {"selene", "jean-zay", "v100-dgx2h", "h100", "h200", "frontier", "dgx-a100", "dgx-b200",
                           "gb200-nvl72", "mi300x", "l40s", "rtx-4090"}) {
    INFO(name);
    const ClusterSpec c =
        parse_scenario("[cluster]\nspec = \"" + std::string(name) + "\"\n", (folder / "labs" / "x.toml").string())
            .cluster;
    CHECK(c.multiprocessors > 0);
    CHECK(c.peak_flops_fp16 > c.peak_flops_fp32);
    CHECK(c.intra_bandwidth >= c.inter_bandwidth);
    CHECK(c.devices_per_node % c.rails == 0);
    CHECK((c.devices_per_card == 1 || c.card_bandwidth > c.intra_bandwidth));
    // Loads of tiles from the cache must not be slower than the peak: otherwise no product could come near the peak.
    const double loads = 2.0 * (c.tile_rows + c.tile_columns), flops = 2.0 * c.tile_rows * c.tile_columns;
    CHECK((c.cache_bandwidth == 0 || c.cache_bandwidth / loads * flops > c.peak_flops_fp16));
  }
}

TEST_CASE("published machines have the totals that their operators state") {
  const auto cluster = [](const std::string& name) {
    return parse_scenario("[cluster]\nspec = \"" + name + "\"\n", (folder / "labs" / "x.toml").string()).cluster;
  };
  CHECK(cluster("jean-zay").rails * cluster("jean-zay").inter_bandwidth == Approx(50e9));
  CHECK(cluster("selene").rails * cluster("selene").inter_bandwidth == Approx(200e9));
  CHECK(cluster("v100-dgx2h").rails * cluster("v100-dgx2h").inter_bandwidth == Approx(100e9));
  CHECK(cluster("v100-dgx2h").nodes * cluster("v100-dgx2h").devices_per_node == 512);
  CHECK(cluster("frontier").rails * cluster("frontier").inter_bandwidth == Approx(100e9));
  CHECK(cluster("frontier").peak_flops_fp16 * 2 == Approx(383e12));
}

TEST_CASE("every file under scenarios/ is tested") {
  std::set<std::string> folders;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) folders.insert(entry.path().parent_path().lexically_relative(folder).string());
  folders.erase(".");  // the glossary has its own test, and so have courses and translations
  CHECK(folders == std::set<std::string>{"clusters", "courses", "courses/de", "de", "labs", "labs/de", "measured",
                                         "models", "published", "software"});
}

TEST_CASE("the three pipelines differ only in their schedule") {
  Scenario naive = read_scenario((folder / "labs" / "pipeline-naive.toml").string());
  Scenario gpipe = read_scenario((folder / "labs" / "pipeline-gpipe.toml").string());
  const Scenario one = read_scenario((folder / "labs" / "pipeline-1f1b.toml").string());
  CHECK(naive.plan.schedule == "naive");
  CHECK(gpipe.plan.schedule == "gpipe");
  CHECK(one.plan.schedule == "1f1b");
  CHECK(one.plan.pipeline == 4);
  CHECK(one.plan.micro_batches == 8);
  for (Scenario* other : {&naive, &gpipe}) {
    other->plan.schedule = one.plan.schedule;
    other->title = one.title;
    CHECK(to_toml(*other) == to_toml(one));
  }
}

TEST_CASE("the models have the sizes that their comments state") {
  const auto count = [](const char* name) {
    return make_model(read_scenario((folder / "models" / name).string())).parameter_count();
  };
  CHECK(count("gpt2-124m.toml") == 124'439'808);
  CHECK(count("gpt2-1.5b.toml") == 1'557'611'200);
  CHECK(count("resnet-50.toml") == 25'557'032);
  CHECK(count("bench.toml") == 10'844'160);
  const Scenario bench = read_scenario((folder / "models" / "bench.toml").string());
  CHECK(make_model(bench).model_flops_per_sample() == Approx(18.27e9).epsilon(1e-3));
}
