// `rankscope-engine search`: the best plans for a model on as many ranks. Nothing runs.
#include "engine/predict/search/search.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/progress/progress_line.hpp"
#include "engine/plan/scenario/lost_node.hpp"
#include "engine/worker/commands/command.hpp"

namespace rankscope::command {
namespace {

int search_plans(const Input& input, std::size_t best) {
  const Scenario scenario = read(input), left = left_to_search(scenario);
  if (scenario.cluster.lost_node >= 0 && !input.json)
    std::cout << "node " << scenario.cluster.lost_node << " is lost: plans of " << left.plan.ranks() << " ranks for "
              << left.train.global_batch << " samples a step\n";
  const SearchResult result = [&] {
    ProgressLine line("search");
    return rankscope::search(left, best, 0, line.progress());
  }();
  if (input.json)
    std::cout << to_json(result).dump(2) << "\n";
  else
    std::cout << to_text(result);
  return result.best.empty() ? failed : 0;
}

}  // namespace

Command search(CLI::App& app) {
  struct Given {
    Input input;
    std::size_t best = 10;
  };
  const auto given = std::make_shared<Given>();
  auto* line = app.add_subcommand(
      "search", "find the best plans for the scenario's model on as many ranks of its cluster; nothing runs");
  add_input(line, given->input);
  line->add_option("--best", given->best, "how many of the fastest plans to print")->check(whole_number(1));
  return {line, [given] { return search_plans(given->input, given->best); }};
}

}  // namespace rankscope::command
