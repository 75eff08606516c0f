// The text of scripts, and scenarios that have no script. tests/oracle/torch_scripts.py tests that they train the same.
#include "engine/lesson/torch/torch_script.hpp"

#include <filesystem>
#include <sstream>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

using Settings = std::vector<std::string>;

Scenario lab(const std::string& name, const Settings& settings = {}) {
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  return read_scenario(test::source_folder() + "/scenarios/labs/" + name + ".toml", overrides);
}

bool holds(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

std::string join(const Settings& settings) {
  std::string text;
  for (const std::string& setting : settings) text += " " + setting;
  return text;
}

}  // namespace

TEST_CASE("every lab has a script, or one line that names the key for which it has none") {
  int scripts = 0, refused = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::source_folder() + "/scenarios/labs")) {
    if (file.path().extension() != ".toml") continue;
    INFO(file.path().filename());
    const Scenario scenario = read_scenario(file.path().string());
    const std::string why = why_no_torch(scenario);
    INFO(why);
    if (why.empty()) {
      CHECK(holds(torch_script(scenario), "loss.item()"));
      ++scripts;
      continue;
    }
    CHECK(find_key(why.substr(0, why.find(": "))) != nullptr);
    CHECK_FALSE(holds(why, "\n"));
    CHECK_THROWS_WITH(torch_script(scenario), why);
    ++refused;
  }
  CHECK(scripts >= 12);
  CHECK(refused >= 5);
}

TEST_CASE("a plan's script has PyTorch's calls for what it uses, and no others") {
  struct Row {
    std::string lab;
    Settings settings;
    std::vector<std::string> has, has_not;
  };
  const std::string ddp = "DistributedDataParallel(", sharded = "fully_shard(", stage = "PipelineStage(",
                    column = "ColumnLinear(", group = "import torch.distributed";
  const std::vector<Row> rows{
      {"data-parallel", {}, {ddp, "bucket_cap_mb=1)", "clip_grad_norm_"}, {sharded, stage, column, "no_sync"}},
      {"data-parallel", {"micro_batches=4"}, {ddp, "no_sync"}, {"clip_gradients"}},
      {"zero", {"zero=0"}, {ddp}, {"ZeroRedundancyOptimizer", sharded}},
      {"zero", {"zero=1"}, {ddp, "ZeroRedundancyOptimizer("}, {sharded}},
      {"zero", {"zero=2"}, {sharded, "reshard_after_forward=False"}, {ddp, "reshard_after_forward=True"}},
      {"zero", {"zero=3"}, {sharded, "reshard_after_forward=True"}, {ddp, "reshard_after_forward=False"}},
      {"pipeline-1f1b", {}, {stage, "Schedule1F1B(stages[0]", "embedding_group"}, {ddp, column, "ScheduleGPipe"}},
      {"pipeline-1f1b", {"tied=false"}, {"lm_head"}, {"embedding_group"}},
      {"pipeline-gpipe", {}, {"ScheduleGPipe(stages[0], MICRO_BATCHES"}, {"Schedule1F1B"}},
      {"pipeline-naive", {}, {"ScheduleGPipe(stages[0], 1"}, {"Schedule1F1B"}},
      {"pipeline-interleaved",
       {},
       {"ScheduleInterleaved1F1B(stages,", "LAYERS_OF_CHUNK = [1, 1, 1, 1, 1, 1, 1, 1]"},
       {}},
      {"pipeline-1f1b", {"stages=3 2 2 1"}, {"LAYERS_OF_CHUNK = [3, 2, 2, 1]"}, {}},
      {"tensor-parallel", {}, {column, "RowLinear(", "OwnWords(", "clip_gradients"}, {ddp, stage, "no_sync"}},
      {"grid", {}, {ddp, stage, column, "(\"pipeline\", \"data\", \"tensor\")"}, {sharded}},
      {"walls", {}, {"python3 THIS_FILE"}, {group, "torchrun", "clip"}},
      {"walls", {"precision=fp64"}, {"set_default_dtype(torch.float64)"}, {}},
      {"walls", {"recompute=blocks"}, {"checkpoint(block"}, {}},
      {"whole-run", {}, {"def learning_rate", "math.cos"}, {}},
      {"walls", {"optimizer=momentum", "nesterov=true"}, {"SGD(", "momentum=0.9, nesterov=True"}, {"AdamW"}},
  };
  for (const Row& row : rows) {
    const std::string script = torch_script(lab(row.lab, row.settings));
    INFO(row.lab << join(row.settings));
    for (const std::string& words : row.has) {
      INFO(words);
      CHECK(holds(script, words));
    }
    for (const std::string& words : row.has_not) {
      INFO("not " << words);
      CHECK_FALSE(holds(script, words));
    }
  }
}

TEST_CASE("scenarios without a script are refused by their key") {
  struct Row {
    std::string lab;
    Settings settings;
    std::string key;
  };
  const std::vector<Row> rows{
      {"resnet-two-devices", {}, "model.kind"},
      {"collectives-eight", {}, "model.kind"},
      {"walls", {"dropout=0.1"}, "model.dropout"},
      {"walls", {"precision=bf16"}, "plan.precision"},
      {"precision", {}, "plan.precision"},
      {"walls", {"optimizer=sophia"}, "train.optimizer"},
      {"walls", {"optimizer=adam8bit"}, "train.optimizer"},
      {"walls", {"recompute=sqrt"}, "plan.recompute"},
      {"walls", {"recompute=blocks", "recompute_blocks=2"}, "plan.recompute"},
      {"walls", {"offload=optimizer"}, "plan.offload"},
      {"walls", {"virtual=2", "schedule=interleaved"}, "plan.virtual"},
      {"parameter-server", {}, "plan.data_parallel"},
      {"data-parallel", {"data_parallel=main-device"}, "plan.data_parallel"},
      {"tensor-parallel", {"sequence_parallel=true"}, "plan.sequence_parallel"},
      {"tensor-parallel", {"vocabulary=5"}, "plan.tensor"},
      {"pipeline-zb-h1", {}, "plan.schedule"},
      {"pipeline-1f1b", {"stages=measured"}, "plan.stages"},
      {"grid", {"zero=2"}, "plan.zero"},
      {"pipeline-1f1b", {"plant=untied_embedding"}, "fault.plant"},
  };
  for (const Row& row : rows) {
    INFO(row.lab << join(row.settings));
    const Scenario scenario = lab(row.lab, row.settings);
    const std::string why = why_no_torch(scenario);
    CHECK(why.substr(0, why.find(": ")) == row.key);
    CHECK_THROWS_AS(torch_script(scenario), PlanError);
  }
}

TEST_CASE("a title stays a comment, whatever its text") {
  Scenario scenario = lab("walls");
  scenario.title = "mine\nimport os\r\"\"\"";
  CHECK(holds(torch_script(scenario), "\n# mine import os \"\"\"\n"));
}

TEST_CASE("lines are as short as the repository's own") {
  for (const char* name :
       {"data-parallel", "zero", "grid", "failover", "whole-run", "pipeline-interleaved", "recomputation"})
    for (const Settings& settings : {Settings{}, Settings{"precision=fp64", "tied=false", "optimizer=radam"}}) {
      std::istringstream script(torch_script(lab(name, settings)));
      for (std::string line; std::getline(script, line);) {
        INFO(name << ": " << line);
        CHECK(line.size() <= 120);
        CHECK_FALSE(line.ends_with(' '));
      }
    }
}
