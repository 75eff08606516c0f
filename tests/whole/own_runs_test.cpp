// rankscope-engine validate --own: the user's own table is run here, predicted with this machine's costs, and written.
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

const char* const table = R"(title = "One small row"
source = "nobody yet"
constants = "none"
quantity = "program_seconds"
unit = "ms"

rows = [
  { name = "pipeline 2, 1F1B, device clock", published = 111, plan = { pipeline = 2, micro_batches = 4 }, train = { global_batch = 8 } },
]

[common]
model = { layers = 2, width = 64, heads = 2, context = 32, vocabulary = 64, tied = true }
plan = { precision = "fp32" }
cluster = { spec = "laptop" }
)";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The number after `published = `.
double published_in(const std::string& text) {
  const std::string key = "published = ";
  const std::size_t at = text.find(key);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + key.size()));
}

}  // namespace

TEST_CASE("validate --own runs a row here, predicts it with this machine's costs, and writes both for others to read") {
  const Folder folder;
  const std::filesystem::path own = folder / "published" / "own-runs.toml";
  std::filesystem::create_directories(own.parent_path());
  std::ofstream(own) << table;
  const StartOptions here{.environment = {"RANKSCOPE_RESOURCES=" + folder.path().string()}, .input = {}};

  const Ended ended = Process(folder,
                              engine_command({"validate", "--own", "--rounds", "1", "--write", folder.path().string(),
                                              "--name", "mine", "--json"}),
                              here)
                          .wait(5 * a_minute);
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  const json tables = parse_json(ended.out).at("tables");
  INFO(to_text(tables));
  REQUIRE(tables.size() == 1);
  CHECK(tables[0]["title"] == "One small row, repeated");
  REQUIRE(tables[0]["rows"].size() == 1);
  const json& row = tables[0]["rows"][0];
  const double measured = row["published"], predicted = row["predicted"];
  CHECK(measured > 0.1);  // ms: about a thousand products
  CHECK(measured < 10'000);
  // Ops were measured around the run on the same machine. A factor of ten would be another quantity, or a wrong unit.
  CHECK(predicted > measured / 10);
  CHECK(predicted < measured * 10);
  CHECK(row["error"].get<double>() == Approx(predicted / measured - 1).epsilon(1e-6));

  // The table has the new figure and its source, and is otherwise unchanged.
  std::string written = text_of(own), before = table;
  CHECK(published_in(written) == Approx(measured).epsilon(1e-3));
  CHECK(written.find("rankscope-engine validate --own, 20") != std::string::npos);
  const auto without_figures = [](std::string text) {
    std::istringstream lines(text);
    std::string rest;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("source = ")) continue;
      if (const std::size_t at = line.find("published = "); at != std::string::npos)
        line.erase(at, line.find(',', at) - at);
      rest += line + "\n";
    }
    return rest;
  };
  CHECK(without_figures(written) == without_figures(before));

  // Any other plan can use the costs as cluster.measured.
  const std::string costs = text_of(folder / "measured" / "mine.toml");
  CHECK(costs.find("rankscope-engine validate --own, 20") != std::string::npos);
  const std::vector<std::string> simulate{"simulate", lab("pipeline-1f1b"), "--set", "cluster.measured=mine", "--json"};
  const Ended simulated = Process(folder, engine_command(simulate), here).wait(a_minute);
  INFO(simulated.err);
  CHECK(simulated.status == 0);
  CHECK(only_object(simulated)["step_seconds"].get<double>() > 0);
}
