// `rankscope-engine plan`: the ops and the predicted costs of a step. Nothing runs.
#include <fmt/format.h>

#include <iostream>

#include "engine/execute/run/scratch.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/plan/scenario/lost_node.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/print.hpp"
#include "engine/worker/stages.hpp"

namespace rankscope::command {
namespace {

int print_plan(const Input& input, int program_of) {
  const Scenario scenario = with_stages(read(input), false);
  const StepProgram step = compile_rest(scenario);
  if (program_of >= 0) {
    if (program_of >= step.grid.size())
      throw ScenarioError(fmt::format("--program {}: the plan has ranks 0 … {}", program_of, step.grid.size() - 1));
    std::cout << to_text(step.program_for(program_of));
    return 0;
  }
  if (!is_folded(step)) check_runs(step);  // folding detects a deadlock itself
  const Report report = predict_scenario(scenario, add_host_scratch);
  if (!input.json) {
    if (const auto after = after_lost_node(scenario))
      std::cout << describe_after_loss(*after, scenario.cluster.lost_node) << "\n";
    std::cout << plan_text(step);
  }
  print(report, input.json);
  return status_of(report);
}

}  // namespace

Command plan(CLI::App& app) {
  struct Given {
    Input input;
    int program_of = -1;
  };
  const auto given = std::make_shared<Given>();
  auto* line = app.add_subcommand("plan", "show a step without running it: ranks, memory, traffic, ideal bubble");
  add_input(line, given->input);
  line->add_option("--program", given->program_of, "print the program of this rank as text instead")
      ->check(whole_number(0));
  return {line, [given] { return print_plan(given->input, given->program_of); }};
}

}  // namespace rankscope::command
