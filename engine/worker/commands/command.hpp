// A command of rankscope-engine: its options and its function. One file for each; main.cpp lists
// them.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/explain/analyse/report.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/choice_option.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/whole_number_option.hpp"
#include "engine/worker/exit_status.hpp"
#include "engine/worker/worker.hpp"

namespace rankscope::command {

/// One command. Its function keeps the values of its options.
struct Command {
  CLI::App* line;            ///< its options; true once it was chosen
  std::function<int()> run;  ///< the exit status (engine/worker/exit_status.hpp)
};

Command plan(CLI::App& app);
Command simulate(CLI::App& app);
Command run(CLI::App& app);
Command verify(CLI::App& app);
Command sweep(CLI::App& app);
Command validate(CLI::App& app);
Command search(CLI::App& app);
Command paths(CLI::App& app);
Command peak(CLI::App& app);
Command export_model(CLI::App& app);
Command export_torch(CLI::App& app);
Command lessons(CLI::App& app);
Command keys(CLI::App& app);
Command worker(CLI::App& app);

/// The options of commands on a scenario.
struct Input {
  std::string scenario;
  std::vector<std::string> set;
  bool json = false;
};

void add_input(CLI::App* line, Input& input);
void add_json(CLI::App* line, bool& json);
/// Device, communicator and clock of a run: the same options for one run and for a sweep.
void add_how(CLI::App* line, RunRequest& request);
/// Which of a GPU's fast paths are switched off.
void add_without(CLI::App* line, RunRequest& request);
/// The option to skip check_fits (engine/worker/run_size.hpp).
void add_any_size(CLI::App* line, RunRequest& request);

std::vector<Override> overrides_of(const Input& input);
/// The file; or that of the lab or model of this name, if there is no such file.
std::string file_of(const Input& input);
/// The scenario with its overrides, and with `more` of them. Throws ScenarioError with file, line and column.
Scenario read(const Input& input, const std::vector<Override>& more = {});
/// Rejects a data file that is too short, or has tokens outside the model's vocabulary.
std::optional<Complaint> complaint_about_data(const Scenario& scenario);

/// Throws ScenarioError if the scenario loses a node: the plan that continues without it is not the plan that runs.
void refuse_lost_node(const Scenario& scenario);
/// The exit status of a prediction, which is printed in any case.
int status_of(const Report& report);
/// The step to predict: that of the remaining plan, if the scenario loses a node.
StepProgram compile_rest(const Scenario& scenario);

/// Call it before any use of a GPU: prepares the process whose ranks compute on one, or communicate by NCCL.
void prepare_device(const RunRequest& request);

}  // namespace rankscope::command
