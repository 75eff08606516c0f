// `rankscope-engine plan` and `simulate`: what a step consists of, and what it would cost. Nothing runs.
#include "engine/worker/commands/predict.hpp"

#include <iostream>

#include "engine/run/scratch.hpp"
#include "engine/simulate/lost_node.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/stages.hpp"

namespace rankscope::command {

void add_scratch(const StepProgram& of, std::span<RankProgram> programs) {
  set_scratch(of, programs, *open_platform("cpu"));
}

Report predicted_report(const StepProgram& step) { return predict_step(step, add_scratch); }

namespace {

int print_plan(const Input& input, int program_of) {
  const Scenario scenario = with_stages(read(input), false);
  const StepProgram step = compile_rest(scenario);
  if (program_of >= 0) {
    if (program_of >= step.grid.size())
      throw ScenarioError("--program " + std::to_string(program_of) + ": the plan has ranks 0 … " +
                          std::to_string(step.grid.size() - 1));
    std::cout << to_text(step.program_for(program_of));
    return 0;
  }
  if (!is_folded(step)) check_runs(step);  // what is folded finds a circle itself
  const Report report = predict_scenario(scenario, add_scratch);
  if (!input.json) {
    if (const auto after = after_lost_node(scenario))
      std::cout << what_is_left(*after, scenario.cluster.lost_node) << "\n";
    std::cout << plan_text(step);
  }
  print(report, input.json);
  return 0;
}

int print_simulation(const Input& input, double tokens) {
  const Scenario scenario = with_stages(read(input), false);
  const StepProgram step = compile_rest(scenario);
  if (!is_folded(step)) check_runs(step);
  Report report = predict_scenario(scenario, add_scratch);
  if (tokens > 0)
    report.budget = budget_of(report, step.scenario.cluster, tokens, step.scenario.train.checkpoint_every);
  print(report, input.json);
  return 0;
}

}  // namespace

Command plan(CLI::App& app) {
  struct Given {
    Input input;
    int program_of = -1;
  };
  const auto given = std::make_shared<Given>();
  auto* line =
      app.add_subcommand("plan", "show what a step consists of: ranks, memory, traffic, the textbook's bubble");
  add_input(line, given->input);
  line->add_option("--program", given->program_of, "print this rank's program in its text form instead")
      ->check(whole_number(0));
  return {line, [given] { return print_plan(given->input, given->program_of); }};
}

Command simulate(CLI::App& app) {
  struct Given {
    Input input;
    double tokens = 0;
  };
  const auto given = std::make_shared<Given>();
  auto* line = app.add_subcommand("simulate", "predict a step on the scenario's cluster; nothing runs");
  add_input(line, given->input);
  line->add_option("--tokens", given->tokens, "of a whole training run, such as 300e9: days and energy it takes")
      ->check(CLI::PositiveNumber);
  return {line, [given] { return print_simulation(given->input, given->tokens); }};
}

}  // namespace rankscope::command
