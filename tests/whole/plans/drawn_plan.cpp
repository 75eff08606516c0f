#include "tests/whole/plans/drawn_plan.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/choices.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope::test {
namespace {

std::string table_of(const std::string& path) { return path.substr(0, path.find('.')); }
std::string name_of_key(const std::string& path) { return path.substr(path.find('.') + 1); }

std::string tenths(Draw& draw, int least, int greatest) {
  return plain(static_cast<double>(draw.between(least, greatest)) / 100);
}

}  // namespace

DrawnPlan::DrawnPlan(Draw& draw) {
  draw_model(draw);
  draw_grid(draw);
  draw_plan(draw);
  draw_train(draw);
  draw_machine(draw);
  if (draw.chance(6)) draw_mistake(draw);
}

int DrawnPlan::number(const std::string& path, int otherwise) const {
  return has(path) ? std::stoi(at(path)) : otherwise;
}

void DrawnPlan::draw_model(Draw& draw) {
  if (draw.chance(20)) {
    word("model.kind", "resnet");
    set("model.layers", draw.chance(90) ? draw.one_of<std::string>({"4", "8"}) : "5");
    set("model.width", std::to_string(4 * draw.between(1, 3)));
    set("model.image", draw.one_of<std::string>({"32", "40", "64"}));
    if (draw.chance(50)) set("model.classes", std::to_string(draw.between(2, 12)));
    if (draw.chance(3)) set("model.dropout", "0.1");
    return;
  }
  if (draw.chance(30)) word("model.kind", "gpt");
  set("model.layers", std::to_string(draw.between(1, 8)));
  const int heads = draw.one_of<int>({1, 2, 2, 3, 4, 4, 6, 8});
  set("model.heads", std::to_string(heads));
  set("model.width", std::to_string(draw.chance(90) ? heads * draw.one_of<int>({4, 8, 10}) : draw.between(5, 64)));
  set("model.context", draw.one_of<std::string>({"4", "7", "8", "16", "32"}));
  set("model.vocabulary", draw.one_of<std::string>({"16", "33", "64", "256"}));
  if (draw.chance(50)) set("model.tied", draw.chance(50) ? "true" : "false");
  if (draw.chance(30)) set("model.dropout", draw.one_of<std::string>({"0.0", "0.1", "0.5"}));
}

void DrawnPlan::draw_grid(Draw& draw) {
  const bool resnet = has("model.kind") && at("model.kind") == "\"resnet\"";
  do {
    set("plan.data", std::to_string(draw.one_of<int>({1, 1, 2, 2, 3, 4})));
    set("plan.tensor", std::to_string(resnet && draw.chance(95) ? 1 : draw.one_of<int>({1, 1, 1, 2, 2, 3, 4})));
    set("plan.pipeline", std::to_string(draw.one_of<int>({1, 1, 2, 2, 3, 4})));
  } while (number("plan.data", 1) * number("plan.tensor", 1) * number("plan.pipeline", 1) > 8);
  std::vector<std::string> schedules = choices("plan.schedule");
  const std::string schedule = draw.one_of(schedules);
  if (draw.chance(85)) word("plan.schedule", schedule);
  if (schedule == "zb-v" || schedule == "interleaved" || draw.chance(5))
    set("plan.virtual", std::to_string(draw.chance(85) ? 2 : draw.between(1, 3)));
  int micro_batches = draw.between(1, 8);
  const int pipeline = number("plan.pipeline", 1);
  if (schedule == "interleaved" && draw.chance(90)) micro_batches = pipeline * draw.between(1, 2);
  if (draw.chance(90)) set("plan.micro_batches", std::to_string(micro_batches));
  if (schedule == "zb-2p" && draw.chance(80))
    word("plan.pass_times", tenths(draw, 20, 200) + " " + tenths(draw, 20, 200) + " " + tenths(draw, 20, 200) + " " +
                                tenths(draw, 0, 100) + " " + tenths(draw, 10, 100));
  if (schedule == "1f1b-async" ? draw.chance(70) : draw.chance(2))
    set("plan.weight_stashing", draw.chance(70) ? "true" : "false");
  if (schedule == "by-hand" && draw.chance(90)) {
    const PipelineShape shape{pipeline, 1, number("plan.micro_batches", 1)};
    std::string order = rankscope::to_text(make_schedule(draw.one_of<std::string>({"gpipe", "1f1b", "zb-h1"}), shape));
    std::replace(order.begin(), order.end(), '\n', ';');
    word("plan.order", order);
  }
}

void DrawnPlan::draw_plan(Draw& draw) {
  if (draw.chance(20)) {
    std::string stages;
    int left = number("model.layers", 4);
    const int chunks = number("plan.pipeline", 1) * number("plan.virtual", 1);
    for (int c = 0; c < chunks; ++c) {
      const int layers =
          c + 1 == chunks ? left : draw.between(draw.chance(90) ? std::min(1, left) : 0, std::max(1, left / 2));
      stages += (c > 0 ? " " : "") + std::to_string(layers);
      left -= layers;
    }
    word("plan.stages", draw.chance(50) ? stages : draw.one_of<std::string>({"even", "cost", "measured"}));
  }
  if (draw.chance(25)) {
    const std::string kind = draw.one_of(choices("plan.data_parallel"));
    word("plan.data_parallel", kind);
    if (kind == "parameter-server" && draw.chance(90)) {
      set("plan.tensor", "1");
      set("plan.pipeline", "1");
      word("plan.schedule", "1f1b");
      for (const char* key : {"plan.virtual", "plan.order", "plan.stages"}) remove(key);
    }
    if (kind == "parameter-server" || draw.chance(5)) {
      set("plan.servers", std::to_string(draw.between(1, 3)));
      set("plan.staleness", std::to_string(draw.between(0, 2)));
    }
  }
  if (draw.chance(40)) set("plan.zero", std::to_string(draw.between(0, 3)));
  if (draw.chance(12)) word("plan.offload", "optimizer");
  if (draw.chance(45)) word("plan.recompute", draw.one_of(choices("plan.recompute")));
  if (has("plan.recompute") && draw.chance(at("plan.recompute") == "\"blocks\"" ? 50 : 4))
    set("plan.recompute_blocks", std::to_string(draw.between(1, 3)));
  if (draw.chance(30)) set("plan.sequence_parallel", draw.chance(70) ? "true" : "false");
  word("plan.precision", draw.one_of<std::string>({"fp64", "fp64", "fp32", "fp32", "fp32", "bf16", "bf16", "fp16"}));
  if (draw.chance(60)) set("plan.bucket_mib", draw.one_of<std::string>({"0.01", "0.05", "1.0", "25.0"}));
  if (draw.chance(70)) word("plan.collective", draw.one_of(choices("plan.collective")));
}

void DrawnPlan::draw_train(Draw& draw) {
  const int unit = number("plan.data", 1) * number("plan.micro_batches", 1);
  set("train.global_batch", std::to_string(draw.chance(92) ? unit * draw.between(1, 3) : draw.between(1, 32)));
  set("train.steps", "3");
  const std::string optimizer = draw.one_of(choices("train.optimizer"));
  if (draw.chance(85)) word("train.optimizer", optimizer);
  set("train.learning_rate", draw.one_of<std::string>({"1e-4", "1e-3", "1e-2", "1e-1"}));
  if (draw.chance(30)) set("train.clip", draw.one_of<std::string>({"0.0", "0.1", "1.0"}));
  if (draw.chance(20)) set("train.warmup_steps", std::to_string(draw.between(0, 3)));
  if (draw.chance(20)) word("train.decay", draw.one_of(choices("train.decay")));
  if (draw.chance(has("train.decay") ? 40 : 2)) set("train.min_learning_rate", "1e-5");
  if (draw.chance(has("train.decay") ? 40 : 2)) set("train.decay_steps", std::to_string(draw.between(1, 5)));
  if (draw.chance(15)) set("train.magnitudes_every", "1");
  if (draw.chance(10)) set("train.checkpoint_every", std::to_string(draw.between(0, 2)));
  if (draw.chance(30)) set("train.seed", std::to_string(draw.between(0, 99999)));
  if (draw.chance(30)) set("data.seed", std::to_string(draw.between(0, 99999)));
  if (draw.chance(5)) word("data.source", draw.one_of<std::string>({"synthetic", "text:book.txt", "text:none.txt"}));
  // Keys of single rules and of fp16.
  Scenario scenario;
  for (const Key& key : scenario_keys()) {
    if (key.table != "train" || has(key.path()) || !draw.chance(3)) continue;
    const Field field = key.field(scenario);
    if (std::holds_alternative<std::string*>(field) || std::holds_alternative<AnyChoice*>(field)) continue;
    const bool is_true = std::holds_alternative<std::optional<bool>*>(field) || std::holds_alternative<bool*>(field);
    const bool whole = std::holds_alternative<int*>(field) || std::holds_alternative<std::optional<int>*>(field);
    set(key.path(), is_true ? "true" : whole ? std::to_string(std::max(1, static_cast<int>(key.range.least))) : "0.5");
  }
}

void DrawnPlan::draw_machine(Draw& draw) {
  Scenario scenario;
  for (const Key& key : scenario_keys()) {
    const bool fault = key.table == "fault", spec = key.path() == "cluster.spec";
    if ((!key.is_of_cluster() && !spec && !fault) || key.name == "lost_node" || !draw.chance(1)) continue;
    const Field field = key.field(scenario);
    if (const auto* yes = std::get_if<bool*>(&field))
      set(key.path(), **yes ? "false" : "true");
    else if (const std::vector<std::string> known = choices(key.path()); !known.empty())
      word(key.path(), fault ? "" : draw.one_of(known));
    else if (spec)
      word(key.path(), draw.one_of<std::string>({"laptop", "frontier", "nowhere"}));
    else if (std::holds_alternative<std::string*>(field))
      continue;
    else
      set(key.path(), std::holds_alternative<int*>(field)
                          ? std::to_string(draw.between(static_cast<int>(key.range.least),
                                                        static_cast<int>(std::min(key.range.greatest, 9.0))))
                          : plain(std::min(key.range.greatest, key.range.least + draw.between(1, 9))));
  }
}

/// One key out of its range, an unknown word, or a mistyped name.
void DrawnPlan::draw_mistake(Draw& draw) {
  std::vector<std::string> paths;
  for (const auto& [path, value] : values_) paths.push_back(path);
  const std::string path = draw.one_of(paths);
  const bool is_word = at(path).starts_with('"');
  if (is_word)
    word(path, draw.chance(50) ? "zb" : "");
  else
    set(path, draw.one_of<std::string>({"-1", "0", "-3", "1e9"}));
}

std::string DrawnPlan::to_toml() const {
  std::string text = "title = \"drawn\"\n", table;
  for (const auto& [path, value] : values_) {  // sorted, so that each table is contiguous
    if (table_of(path) != table) text += "[" + (table = table_of(path)) + "]\n";
    text += name_of_key(path) + " = " + value + "\n";
  }
  return text;
}

std::string DrawnPlan::key_in_line(int line) const {
  std::istringstream lines(to_toml());
  std::string row, table;
  for (int i = 0; i < line && std::getline(lines, row); ++i)
    if (row.starts_with('[')) table = row.substr(1, row.size() - 2);
  const auto equals = row.find(" = ");
  return equals == std::string::npos || table.empty() ? "" : table + "." + row.substr(0, equals);
}

}  // namespace rankscope::test
