// `rankscope-engine validate`: compares predictions with measurements, published and on this machine.
#include "engine/explain/validate/validate.hpp"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/progress/progress_line.hpp"
#include "engine/explain/validate/leave_one_out.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/own_runs.hpp"
#include "engine/worker/print.hpp"

namespace rankscope::command {
namespace {

int validate_all(bool json, bool without_each) {
  const std::vector<PublishedTable> published = read_all_published();
  ProgressLine line("validate");
  if (without_each) {
    line.progress()("fitting without each table in turn", share_not_known);
    const std::vector<LeftOutTable> left_out = leave_one_out(published);
    line.clear();
    print(left_out, json);
    return 0;
  }
  std::vector<ValidatedTable> tables;
  for (const PublishedTable& table : published) {
    line.progress()(fmt::format("table {} of {}, {}", tables.size() + 1, published.size(), table.file),
                    static_cast<double>(tables.size()) / static_cast<double>(published.size()));
    tables.push_back(rankscope::validate(table));
  }
  line.clear();
  print(tables, json);
  return 0;
}

}  // namespace

Command validate(CLI::App& app) {
  struct Given {
    bool without_each = false, own = false;
    OwnRunsRequest own_runs;
  };
  const auto given = std::make_shared<Given>();
  auto* line = app.add_subcommand("validate", "compare predictions with published measurements, row by row");
  add_json(line, given->own_runs.json);
  line->add_flag("--leave-one-out", given->without_each,
                 "errors of each table with constants fitted to all other tables of its device");
  auto* own = line->add_flag("--own", given->own,
                             "run Rankscope's own rows on this machine and compare them with their simulation");
  auto* write = line->add_option("--write", given->own_runs.folder,
                                 "with --own: folder of scenarios to write the measurements to");
  write->needs(own);
  line->add_option("--name", given->own_runs.name, "with --write: name of the file of measured ops")->needs(write);
  line->add_option("--rounds", given->own_runs.rounds,
                   "with --own: runs of every row; with several, each error has its standard error")
      ->check(whole_number(1))
      ->needs(own);
  return {line, [given] {
            return given->own ? validate_own(given->own_runs) : validate_all(given->own_runs.json, given->without_each);
          }};
}

}  // namespace rankscope::command
