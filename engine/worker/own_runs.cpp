#include "engine/worker/own_runs.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/analyse/scaling.hpp"
#include "engine/calibrate/measure_ops.hpp"
#include "engine/scenario/measured.hpp"
#include "engine/scenario/read.hpp"
#include "engine/validate/validate.hpp"
#include "engine/worker/provenance.hpp"
#include "engine/worker/supervise.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* table_name = "own-runs";
constexpr int steps = 24;

/// "AMD EPYC, 2 cores".
std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, model = "unknown processor";
  int cores = 0;
  while (std::getline(info, line)) {
    cores += line.starts_with("processor");
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) model = line.substr(colon + 2);
  }
  while (!model.empty() && model.back() == ' ') model.pop_back();
  return model + ", " + std::to_string(cores) + " cores";
}

PublishedTable own_table() {
  for (PublishedTable& table : read_all_published())
    if (table.file == table_name) return std::move(table);
  throw ScenarioError("the table published/" + std::string(table_name) + ".toml is not installed");
}

bool on_the_wall(const PublishedRow& row) { return row.name.find("wall clock") != std::string::npos; }

/// Seconds of a step of the row's plan, run here: the median on the device clock; on the wall, which whatever else runs
/// here delays, the first quartile.
double run_row(const PublishedRow& row) {
  Scenario scenario = row.choices.front();
  scenario.train.steps = steps;
  RunRequest request;
  request.clock = on_the_wall(row) ? "wall" : "device";
  const Attempt attempt = run_session(with_absolute_data(scenario), request);
  if (attempt.status != 0 || !attempt.facts) throw std::runtime_error(row.name + ": " + attempt.message);
  const SweepRun run = sweep_run(make_report(*attempt.facts), 0, 0);
  if (run.step_seconds.empty()) throw std::runtime_error(row.name + ": no step's time is known");
  return quartile(run.step_seconds, on_the_wall(row) ? 1 : 2);
}

/// The table's file with what was measured now behind `published =` and `source =`.
std::string with_figures(const fs::path& file, const std::vector<double>& figures, const std::string& source) {
  std::ifstream in(file);
  std::string text, line;
  std::size_t row = 0;
  const std::string key = "published = ";
  while (std::getline(in, line)) {
    if (line.starts_with("source = ")) line = "source = \"" + source + "\"";
    if (const auto at = line.find(key); at != std::string::npos && row < figures.size()) {
      std::ostringstream figure;
      figure.precision(4);
      figure << figures[row++];
      line = line.substr(0, at + key.size()) + figure.str() + line.substr(line.find(',', at));
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

int validate_own(const std::string& folder, const std::string& name, bool json) {
  PublishedTable table = own_table();
  const auto measure = [sizes = measured_sizes("fp32")] {
    std::cerr << "measuring this machine's ops on sizes of their own" << std::endl;
    OpMeasurement ops;
    ops.pass(sizes);
    return ops;
  };
  OpMeasurement before = measure(), all = before;
  std::vector<double> figures;
  for (PublishedRow& row : table.rows) {
    std::cerr << "running " << row.name << std::endl;
    row.published = run_row(row) / unit_of(table.unit);
    figures.push_back(row.published);
    // A machine's pace drifts over minutes: a run is held against what ops cost just before and just after it.
    OpMeasurement after = measure();
    all.add(after);
    before.add(after);
    for (Scenario& choice : row.choices) choice.cluster.costs = before.costs();
    before = std::move(after);
  }
  MeasuredTable measured;
  measured.title = machine() + ": this engine's CPU kernels on one thread";
  measured.source = "rankscope-engine validate --own, " + utc_now().substr(0, 10);
  measured.rows = all.costs();
  table.title += ", repeated";
  table.source = machine() + "; " + measured.source;
  table.constants = std::to_string(measured.rows.size()) +
                    " ops measured before and after each run, on other sizes and for one rank alone";
  const std::vector<ValidatedTable> result = {validate(table)};
  std::cout << (json ? to_json(result).dump(2) + "\n" : to_text(result));
  if (folder.empty()) return 0;
  const fs::path published = fs::path(folder) / "published" / (std::string(table_name) + ".toml");
  fs::create_directories(fs::path(folder) / "measured");
  std::ofstream(fs::path(folder) / "measured" / (name + ".toml")) << to_toml(measured);
  const std::string text = with_figures(published, figures, table.source);
  std::ofstream(published) << text;
  return 0;
}

}  // namespace rankscope
