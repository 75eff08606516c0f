// The window predicts like the command line.
#include "app/session/prediction.hpp"

#include <QProcess>
#include <nlohmann/json.hpp>

#include "engine/plan/scenario/resources.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// The output of `rankscope-engine simulate --json`.
nlohmann::json simulated(const std::string& file, const std::vector<std::string>& set) {
  QProcess engine;
  QStringList arguments{"simulate", QString::fromStdString(file), "--json"};
  for (const std::string& one : set) arguments << "--set" << QString::fromStdString(one);
  engine.start(QString::fromStdString(test::program("rankscope-engine")), arguments);
  REQUIRE(engine.waitForFinished(300'000));
  INFO(engine.readAllStandardError().toStdString());
  REQUIRE(engine.exitCode() == 0);
  return nlohmann::json::parse(engine.readAllStandardOutput().toStdString());
}

}  // namespace

TEST_CASE("The window and `simulate --json` give the same figures") {
  struct Row {
    const char* lab;
    std::vector<std::string> set;
  };
  const auto row = GENERATE(values<Row>({{"pipeline-1f1b", {}},
                                         {"zero", {}},
                                         {"tensor-parallel", {"precision=bf16"}},
                                         {"recomputation", {"plan.recompute=blocks"}},
                                         {"resnet-two-devices", {}},
                                         {"bloom-jean-zay", {}},
                                         {"topology", {"cluster.lost_node=5"}}}));
  INFO(row.lab);
  const std::string file = find_scenario(row.lab).string();
  std::vector<Override> overrides;
  for (const std::string& one : row.set) overrides.push_back(parse_override(one));
  const Prediction prediction = predict(read_scenario(file, overrides));
  INFO(prediction.refusal);
  REQUIRE(prediction.refusal.empty());
  const nlohmann::json window = to_json(prediction.report), engine = simulated(file, row.set);
  for (const auto& [key, figure] : engine.items()) {
    INFO(key);
    CHECK(window[key] == figure);
  }
  CHECK(window.size() == engine.size());
  // They include kernels' scratch and the device's memory.
  for (const nlohmann::json& rank : engine["memory"])
    CHECK((engine["folded"].get<bool>() || rank["predicted"]["workspace"].get<std::int64_t>() > 0));
}
