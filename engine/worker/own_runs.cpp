#include "engine/worker/own_runs.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "engine/base/host/provenance.hpp"
#include "engine/base/progress/progress_line.hpp"
#include "engine/execute/run/core_ticks.hpp"
#include "engine/explain/analyse/scaling.hpp"
#include "engine/explain/validate/validate.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/measured.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/prove/calibrate/machine.hpp"
#include "engine/prove/calibrate/measure_ops.hpp"
#include "engine/worker/print.hpp"
#include "engine/worker/supervise.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* table_name = "own-runs";
constexpr int steps = 24;
constexpr int most_attempts = 4;

PublishedTable own_table() {
  for (PublishedTable& table : read_all_published())
    if (table.file == table_name) return std::move(table);
  throw ScenarioError("the table published/" + std::string(table_name) + ".toml is not installed");
}

bool on_the_wall(const PublishedRow& row) { return row.name.find("wall clock") != std::string::npos; }

OpMeasurement measure_ops_here(const Progress& progress) {
  OpMeasurement ops;
  const std::vector<Scenario> sizes = measured_sizes(Precision::fp32);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    progress(fmt::format("measuring this machine's ops, size {} of {}", i + 1, sizes.size()), share_not_known);
    ops.pass({sizes[i]});
  }
  return ops;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of the values' mean; 0 for a single value.
double standard_error(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean(values)) * (value - mean(values));
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / (count - 1) / count);
}

PublishedRow with_costs(PublishedRow row, double measured, const OpMeasurement& ops) {
  row.published = measured;
  for (Scenario& choice : row.choices) choice.cluster.costs = ops.costs();
  return row;
}

/// The results of a row's rounds.
struct OwnRow {
  std::vector<double> measured, errors;  ///< in the table's unit; relative, of that round's prediction
  OpMeasurement ops;                     ///< of all rounds, before and after this row's runs

  void add(PublishedTable table, std::size_t row, double figure, const OpMeasurement& around) {
    ops.add(around);
    measured.push_back(figure);
    table.rows = {with_costs(table.rows[row], figure, around)};
    errors.push_back(validate(table).rows.front().error());
  }
};

/// A row's plan, run here.
struct OwnRun {
  double seconds = 0;  ///< a step: the mean on the device clock, like the ops that predict it; on the wall clock,
                       ///< which other programs may delay, the first quartile
  double taken = 0;    ///< share of the cores that other machines and programs used meanwhile
};

OwnRun run_once(const PublishedRow& row, const Progress& progress) {
  Scenario scenario = row.choices.front();
  scenario.train.steps = steps;
  RunRequest request;
  request.clock = on_the_wall(row) ? ClockChoice::wall : ClockChoice::device;
  const CoreTicks before = CoreTicks::now();
  const SessionOutcome attempt = run_session(with_absolute_data(scenario), request, progress);
  const double taken = before.taken_since();
  if (attempt.status != 0 || !attempt.facts) throw std::runtime_error(row.name + ": " + attempt.message);
  const SweepRun run = sweep_run(make_report(*attempt.facts), 0, 0);
  if (run.step_seconds.empty()) throw std::runtime_error(row.name + ": no step has a time");
  return {on_the_wall(row) ? quartile(run.step_seconds, 1) : mean(run.step_seconds), taken};
}

/// On the wall clock, the quietest of a few runs, up to the first quiet one; on the device clock one run.
OwnRun run_row(const PublishedRow& row, const Progress& progress) {
  OwnRun quietest = run_once(row, progress), last = quietest;
  for (int attempt = 1; on_the_wall(row) && last.taken > disturbing_share && attempt < most_attempts; ++attempt) {
    const std::string again = "again, for others had " + figure::percent(last.taken) + " of the cores: ";
    last = run_once(row, [&](std::string_view doing, double share) { progress(again + std::string(doing), share); });
    if (last.taken < quietest.taken) quietest = last;
  }
  return quietest;
}

/// The table's file with the new measurements after `published =` and `source =`.
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

int validate_own(const OwnRunsRequest& request) {
  PublishedTable table = own_table();
  std::vector<OwnRow> rows(table.rows.size());
  std::optional<ProgressLine> line(std::in_place, "validate");
  OpMeasurement before = measure_ops_here(line->progress()), all = before;
  double taken = 0;  // of runs on the wall clock
  for (int round = 0; round < request.rounds; ++round)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      // Shares are of all runs, each with the measurement after it.
      const auto of_all = [&, show = line->progress()](std::string_view doing, double) {
        const std::size_t done = static_cast<std::size_t>(round) * rows.size() + i;
        const std::size_t runs = static_cast<std::size_t>(request.rounds) * rows.size();
        show(fmt::format("run {} of {}, {}: {}", done + 1, runs, table.rows[i].name, doing),
             static_cast<double>(done) / static_cast<double>(runs));
      };
      const OwnRun run = run_row(table.rows[i], of_all);
      if (on_the_wall(table.rows[i])) taken = std::max(taken, run.taken);
      // A machine's speed changes within minutes: a run is compared with costs measured just before and just after it.
      OpMeasurement after = measure_ops_here(of_all);
      all.add(after);
      before.add(after);
      rows[i].add(table, i, run.seconds / unit_of(table.unit), before);
      before = std::move(after);
    }

  line.reset();
  std::vector<double> figures;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    figures.push_back(mean(rows[i].measured));
    table.rows[i] = with_costs(table.rows[i], figures.back(), rows[i].ops);
  }
  MeasuredTable measured;
  measured.title = describe(this_machine()) + ": this engine's CPU kernels on one thread";
  measured.source = "rankscope-engine validate --own, " + utc_now().substr(0, 10);
  measured.rows = all.costs();
  table.title += ", repeated";
  table.source = describe(this_machine()) + "; " + measured.source;
  if (taken > disturbing_share)
    table.source +=
        "; other programs used up to " + figure::percent(taken) + " of the cores during runs on the wall clock";
  table.constants = fmt::format("{} measured before and after each run, on other sizes and for one rank alone",
                                counted(measured.rows.size(), "op"));
  std::vector<ValidatedTable> result = {validate(table)};
  for (std::size_t i = 0; i < rows.size(); ++i) result[0].rows[i].uncertainty = standard_error(rows[i].errors);
  print(result, request.json);
  if (request.folder.empty()) return 0;
  const fs::path published = fs::path(request.folder) / "published" / (std::string(table_name) + ".toml");
  fs::create_directories(fs::path(request.folder) / "measured");
  std::ofstream(fs::path(request.folder) / "measured" / (request.name + ".toml")) << to_toml(measured);
  const std::string text = with_figures(published, figures, table.source);
  std::ofstream(published) << text;
  return 0;
}

}  // namespace rankscope
