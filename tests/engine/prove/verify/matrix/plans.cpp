#include "tests/engine/prove/verify/matrix/plans.hpp"

#include <algorithm>
#include <fstream>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/check.hpp"
#include "tests/long.hpp"
#include "tests/places.hpp"

namespace rankscope::testing {
namespace {

constexpr int most_ranks = 16;
constexpr std::size_t least_plans_of_triples = 250;
constexpr std::uint64_t matrix_seed = 20;

bool makes_sense(const Row& row) {
  const Scenario s = scenario_of(row);
  if (s.plan.ranks() > most_ranks || first_complaint(s)) return false;
  // Only these schedules have several chunks per stage; the others have one.
  const bool several = s.plan.schedule == "interleaved" || s.plan.schedule == "zb-v";
  if (several != (s.plan.virtual_stages > 1)) return false;
  try {
    compile(s);
    return true;
  } catch (const PlanError&) {
    return false;
  }
}

}  // namespace

const std::vector<PlanOption>& plan_options() {
  static const std::vector<PlanOption> options{
      {"data", {"1", "2", "3", "4"}, [](Scenario& s, const std::string& v) { s.plan.data = std::stoi(v); }},
      {"data_parallel",
       {"all-reduce", "main-device", "parameter-server"},
       [](Scenario& s, const std::string& v) { s.plan.data_parallel = v; }},
      {"staleness", {"0", "1", "3"}, [](Scenario& s, const std::string& v) { s.plan.staleness = std::stoi(v); }},
      {"tensor", {"1", "2", "4"}, [](Scenario& s, const std::string& v) { s.plan.tensor = std::stoi(v); }},
      {"sequence_parallel",
       {"no", "yes"},
       [](Scenario& s, const std::string& v) { s.plan.sequence_parallel = v == "yes"; }},
      {"pipeline", {"1", "2", "4"}, [](Scenario& s, const std::string& v) { s.plan.pipeline = std::stoi(v); }},
      {"virtual", {"1", "2"}, [](Scenario& s, const std::string& v) { s.plan.virtual_stages = std::stoi(v); }},
      {"schedule",
       {"naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v", "1f1b-async"},
       [](Scenario& s, const std::string& v) { s.plan.schedule = v; }},
      {"weight_stashing",
       {"no", "yes"},
       [](Scenario& s, const std::string& v) { s.plan.weight_stashing = v == "yes"; }},
      {"micro_batches",
       {"1", "2", "4", "8"},
       [](Scenario& s, const std::string& v) { s.plan.micro_batches = std::stoi(v); }},
      {"zero", {"0", "1", "2", "3"}, [](Scenario& s, const std::string& v) { s.plan.zero = std::stoi(v); }},
      {"offload", {"none", "optimizer"}, [](Scenario& s, const std::string& v) { s.plan.offload = v; }},
      {"recompute",
       {"none", "blocks", "sqrt", "selective"},
       [](Scenario& s, const std::string& v) { s.plan.recompute = v; }},
      {"recompute_blocks",
       {"1", "3"},
       [](Scenario& s, const std::string& v) { s.plan.recompute_blocks = std::stoi(v); }},
      {"precision", {"fp64", "fp32", "bf16", "fp16"}, [](Scenario& s, const std::string& v) { s.plan.precision = v; }},
      {"optimizer",
       {"sgd", "momentum", "adagrad", "adam", "adamw", "radam", "adafactor", "adam8bit", "sophia", "lars", "lamb"},
       [](Scenario& s, const std::string& v) { s.train.optimizer = v; }},
      {"kind",
       {"gpt", "llama"},
       [](Scenario& s, const std::string& v) {
         s.model.kind = v;
         s.model.key_value_heads = v == "llama" ? std::max(2, s.plan.tensor) : 0;  // of 4 heads
       }},
      {"tied", {"yes", "no"}, [](Scenario& s, const std::string& v) { s.model.tied = v == "yes"; }},
      {"dropout", {"0", "0.1"}, [](Scenario& s, const std::string& v) { s.model.dropout = std::stod(v); }},
      {"clip", {"0", "0.5"}, [](Scenario& s, const std::string& v) { s.train.clip = std::stod(v); }},
      {"collective",
       {"auto", "ring", "tree", "halving-doubling", "naive"},
       [](Scenario& s, const std::string& v) { s.plan.collective = v; }},
      {"bucket_mib", {"0.01", "25"}, [](Scenario& s, const std::string& v) { s.plan.bucket_mib = std::stod(v); }},
      {"stages", {"even", "cost"}, [](Scenario& s, const std::string& v) { s.plan.stages = v; }},
      {"vocabulary", {"64", "61"}, [](Scenario& s, const std::string& v) { s.model.vocabulary = std::stoi(v); }},
  };
  return options;
}

Scenario scenario_of(const Row& row) {
  Scenario s;
  s.title = "matrix";
  s.model = {"gpt", 8, 32, 4, 16, 64, true, 0.0};
  const auto& options = plan_options();
  for (std::size_t o = 0; o < options.size(); ++o)
    options[o].set(s, options[o].values[static_cast<std::size_t>(row[o])]);
  s.model.layers = std::max(4, s.plan.pipeline * s.plan.virtual_stages);  // few, so that all these plans take a minute
  s.train.global_batch = s.plan.data * s.plan.micro_batches;
  s.train.steps = 5;
  return s;
}

std::string describe(const Row& row) {
  std::string text;
  const auto& options = plan_options();
  for (std::size_t o = 0; o < options.size(); ++o)
    text += (o ? " " : "") + options[o].name + "=" + options[o].values[static_cast<std::size_t>(row[o])];
  return text;
}

std::string describe(const Pair& pair) {
  const auto words = [](int option, int value) {
    const PlanOption& o = plan_options()[static_cast<std::size_t>(option)];
    return o.name + "=" + o.values[static_cast<std::size_t>(value)];
  };
  return words(pair[0], pair[1]) + " " + words(pair[2], pair[3]);
}

std::map<std::string, std::string> impossible_pairs() {
  std::ifstream file(test::source_folder() + "/tests/engine/prove/verify/matrix/impossible.txt");
  std::map<std::string, std::string> pairs;
  std::string reason;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# "))
      reason = line.substr(2);
    else if (!line.empty())
      pairs[line] = reason;
  }
  return pairs;
}

const CoveringArray& plan_matrix() {
  static const CoveringArray matrix = [] {  // this takes seconds
    std::vector<int> values;
    for (const PlanOption& option : plan_options()) values.push_back(static_cast<int>(option.values.size()));
    return covering_array(values, makes_sense, test::is_long() ? least_plans_of_triples : 0, matrix_seed);
  }();
  return matrix;
}

}  // namespace rankscope::testing
