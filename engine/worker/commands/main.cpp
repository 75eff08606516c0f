// rankscope-engine: one program, with a file in commands/ for each command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/host/memory.hpp"
#include "engine/base/host/write_watch.hpp"
#include "engine/execute/checkpoint/checkpoint.hpp"
#include "engine/execute/data/dataset.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/job_to_join.hpp"
#include "kernels/device/device.hpp"
#include "telemetry/stream/join.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace {

using namespace rankscope;
using command::Command;

std::vector<Command> add_commands(CLI::App& app) {
  return {command::plan(app),  command::simulate(app),     command::run(app),          command::verify(app),
          command::sweep(app), command::validate(app),     command::search(app),       command::paths(app),
          command::peak(app),  command::export_model(app), command::export_torch(app), command::lessons(app),
          command::keys(app),  command::worker(app)};
}

/// The names of the listed commands: "plan, simulate and run".
std::string names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& one : commands)
    if (!one.line->get_group().empty()) names.push_back(one.line->get_name());
  return listed(names);
}

/// Position of the key with which a PlanError's message begins: "plan.schedule: …"; the scenario if there is no key.
std::string place_of(const PlanError& error, const Command& command, const std::string& scenario) {
  const std::string what = error.what();
  const std::string key = what.substr(0, what.find(": "));
  const CLI::Option* set = command.line->get_option_no_throw("--set");
  if (find_key(key) == nullptr || !set) return scenario;
  const command::Input input{scenario, set->results()};
  return place_of_key(command::file_of(input), command::overrides_of(input), key);
}

/// Runs the chosen command. A request that cannot be fulfilled gives one line and status::bad_input.
int run_chosen(const std::vector<Command>& commands) {
  const auto chosen = std::ranges::find_if(commands, [](const Command& one) { return bool(*one.line); });
  if (chosen == commands.end()) return status::failed;  // not reached: CLI11 asks for a command
  const CLI::Option* file = chosen->line->get_option_no_throw("SCENARIO");
  const std::string scenario = file ? file->as<std::string>() : "";
  try {
    return chosen->run();
  } catch (const ScenarioError& e) {
    std::cerr << message_line(e.what()) << std::endl;
  } catch (const PlanError& e) {
    std::cerr << place_of(e, *chosen, scenario) << ": " << message_line(e.what()) << std::endl;
  } catch (const DataError& e) {
    std::cerr << scenario << ": " << message_line(e.what()) << std::endl;
  } catch (const CheckpointError& e) {  // of an export; a run's own are RunFailures
    std::cerr << "rankscope-engine: " << message_line(e.what()) << std::endl;
  } catch (const JoinError& e) {
    std::cerr << "rankscope-engine: " << message_line(e.what()) << std::endl;
  } catch (const TraceError& e) {
    std::cerr << "rankscope-engine: --record " << message_line(e.what()) << std::endl;
  } catch (const DeviceError& e) {  // the requested device does not exist; a failure during the run is a RunFailure
    std::cerr << "rankscope-engine: " << message_line(e.what()) << std::endl;
  }
  return status::bad_input;
}

int run_program(int argc, char** argv) {
  CLI::App app("Rankscope's engine: plan, simulate, run and verify a distributed training step.");
  app.require_subcommand(1);
  app.footer(status::help());
  app.set_version_flag("--version", RANKSCOPE_VERSION);
  const std::vector<Command> commands = add_commands(app);

  // Without this, an unknown command is reported as a missing one.
  const auto is_known = [&](const std::string& name) {
    return std::ranges::any_of(commands, [&](const Command& one) { return one.line->get_name() == name; });
  };
  if (argc > 1 && argv[1][0] != '-' && !is_known(argv[1])) {
    std::cerr << "rankscope-engine: unknown command '" << excerpt(argv[1]) << "'; there is " << names_of(commands)
              << std::endl;
    return status::bad_input;
  }
  try {
    app.parse(argc, argv);
    return run_chosen(commands);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    std::cerr << "rankscope-engine: " << message_line(e.what()) << "; see rankscope-engine --help" << std::endl;
    return status::bad_input;
  } catch (const std::exception& e) {
    std::cerr << "rankscope-engine: " << message_line(e.what()) << std::endl;
    return status::failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  end_when_memory_runs_out();
  report_once();
  WriteWatch output(std::cout);
  const int ended = status_with_output(run_program(argc, argv), output, "rankscope-engine");
  if (ended != status::done) let_rank_0_report();
  return ended;
}
