// `rankscope-engine run` and `sweep`: real training; and `worker`, the process that `run` starts for its ranks.
#include <fmt/format.h>

#include <memory>

#include "engine/execute/run/platform.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/job_to_join.hpp"
#include "engine/worker/launch.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/run_size.hpp"
#include "engine/worker/stages.hpp"
#include "engine/worker/supervise.hpp"
#include "engine/worker/sweep.hpp"

namespace rankscope::command {
namespace {

/// The options of `run`.
struct RunLine {
  Input input;
  RunRequest request;
  std::optional<int> steps, checkpoint_every;  ///< in place of keys of [train]
};

Scenario read_to_run(const RunLine& given) {
  std::vector<Override> instead;
  if (given.steps) instead.push_back({"train.steps", std::to_string(*given.steps)});
  if (given.checkpoint_every) instead.push_back({"train.checkpoint_every", std::to_string(*given.checkpoint_every)});
  return read(given.input, instead);
}

int supervise(const RunLine& given, const Scenario& read) {
  prepare_device(given.request);
  check_platform(given.request.device);
  const Scenario scenario =
      with_stages(read, computes(given.request.device), given.request.device, given.request.threads);
  refuse_lost_node(scenario);
  const StepProgram step = compile(scenario);
  check_fits(step, given.request);
  check_runs(step);
  return run_supervised(scenario, given.request);
}

/// A process of a job that a launcher has started.
int run_in_job(RunLine given) {
  const Scenario scenario = read_to_run(given);
  check_job_size(scenario, given.request);
  if (given.request.launched->rank > 0) {
    report_again();
    prepare_device(given.request);
    WorkerJob job;
    job.request = given.request;
    const int ended = run_worker(job);
    // Dismissed: rank 0 must still report why, and the launcher ends all processes when the first one ends.
    if (ended == status::bad_input) report_once();
    return ended;
  }
  const int launcher_errors = continue_as_supervisor();
  if (given.request.launched->launcher == Launcher::mpirun) given.request.launched->launcher_errors = launcher_errors;
  try {
    return supervise(given, scenario);
  } catch (...) {
    dismiss_ranks();
    throw;
  }
}

int run_plan(RunLine given, bool comm_given) {
  given.request.json = given.input.json;
  if (!given.request.hosts.empty() && !comm_given) given.request.communicator = CommunicatorKind::mpi;
  given.request = joined(given.request, comm_given);
  return given.request.launched ? run_in_job(given) : supervise(given, read_to_run(given));
}

int sweep_plans(const Input& input, SweepRequest request) {
  refuse_launcher("sweep");
  prepare_device(request.run);
  check_platform(request.run.device);
  request.scenario = file_of(input);
  request.set = overrides_of(input);
  request.json = input.json;
  refuse_lost_node(read(input));
  return run_sweep(request, complaint_about_data);
}

}  // namespace

Command run(CLI::App& app) {
  const auto given = std::make_shared<RunLine>();
  RunRequest& request = given->request;
  auto* line = app.add_subcommand("run", "train with the ranks of the plan");
  add_input(line, given->input);
  add_how(line, request);
  line->add_option("--steps", given->steps, "number of steps; replaces train.steps")->check(whole_number(1));
  line->add_option("--record", request.record, "write a recording (MCAP)");
  line->add_option("--publish", request.publish, "serve viewers at this endpoint (tcp://…, ipc://…)");
  line->add_option("--await-viewers", request.await_viewers,
                   "wait at the end, at most 10 s, until this many viewers have joined and received everything")
      ->check(whole_number(0));
  line->add_option("--keep", request.keep, "details to record: all, every:N steps, or last:TIME such as last:30s");
  line->add_option("--checkpoint", request.checkpoint, "folder for checkpoints (see train.checkpoint_every)");
  line->add_option("--checkpoint-every", given->checkpoint_every,
                   "steps between checkpoints, 0 for none; replaces train.checkpoint_every")
      ->check(whole_number(0));
  line->add_option("--stop-on", request.stop_on, "nan: end the run when its loss is infinite or not a number")
      ->check(CLI::IsMember({"nan"}));
  line->add_option("--grace", request.grace,
                   "with checkpoints: seconds for the checkpoint of the last step when the run is asked to stop by "
                   "SIGTERM, SIGUSR1, SIGINT or SIGHUP; a second signal ends it at once")
      ->check(whole_number(0));
  line->add_option(
      "--resume", request.resume,
      "continue from this checkpoint, or from the newest complete one in this folder, with this scenario's plan; if an "
      "empty folder or the run's own has none yet, begin at step 0");
  line->add_option("--restarts", request.restarts,
                   "when a rank is lost, continue from the newest complete checkpoint, at most N times")
      ->check(whole_number(0));
  line->add_option("--join-file", request.join_files,
                   "write a join file for viewers elsewhere (endpoint and keys); creates keys, which an "
                   "endpoint for other machines must have. If repeated, each file has its own key, which "
                   "rankscope-trace revoke FILE revokes during the run")
      ->take_all()
      ->allow_extra_args(false);
  return {line, [given, line] { return run_plan(*given, line->count("--comm") > 0); }};
}

Command sweep(CLI::App& app) {
  struct Given {
    Input input;
    SweepRequest request;
  };
  const auto given = std::make_shared<Given>();
  SweepRequest& request = given->request;
  auto* line = app.add_subcommand("sweep", "run a scenario with several values of its keys: strong and weak scaling");
  add_input(line, given->input);
  line->add_option("--over", request.over,
                   "a key and its values, as in --over plan.data=1,2,4; if repeated for other keys, all combinations "
                   "are run")
      ->take_all()
      ->allow_extra_args(false);
  line->add_flag("--weak", request.weak,
                 "weak scaling: the global batch grows with the ranks, from the scenario's batch at the first point "
                 "(default: strong scaling, constant batch)");
  line->add_option("--steps", request.steps,
                   fmt::format("of each run; without it what --set train.steps says, or else {}", sweep_steps))
      ->check(whole_number(1));
  line->add_option("--repeat", request.repeats, "runs of each point, in rounds over all points")
      ->check(whole_number(1));
  add_how(line, request.run);
  line->add_option("--record", request.record, "write the measurements of each run to a recording (MCAP)");
  return {line, [given] { return sweep_plans(given->input, given->request); }};
}

Command worker(CLI::App& app) {
  auto* line = app.add_subcommand("worker", "")->group("");  // not listed: started by run
  return {line, [] {
            report_again();
            const WorkerJob job = job_from_environment();
            prepare_device(job.request);
            return run_worker(job);
          }};
}

}  // namespace rankscope::command
