// rankscope-engine: plan, simulate, run, verify, sweep, validate, search, paths, peak, export.
#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/analyse/figure_text.hpp"
#include "engine/checkpoint/hugging_face.hpp"
#include "engine/comm/nccl.hpp"
#include "engine/data/dataset.hpp"
#include "engine/facts/prediction.hpp"
#include "engine/run/scratch.hpp"
#include "engine/scenario/read.hpp"
#include "engine/scenario/resources.hpp"
#include "engine/search/search.hpp"
#include "engine/simulate/lost_node.hpp"
#include "engine/validate/leave_one_out.hpp"
#include "engine/validate/validate.hpp"
#include "engine/verify/verify.hpp"
#include "engine/worker/own_runs.hpp"
#include "engine/worker/paths.hpp"
#include "engine/worker/peak_command.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/stages.hpp"
#include "engine/worker/supervise.hpp"
#include "engine/worker/sweep.hpp"
#include "engine/worker/worker.hpp"
#include "telemetry/stream/join.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace {

using namespace rankscope;

constexpr int bad_input = 2, failed = 1;

/// What every command is given.
struct Input {
  std::string scenario;
  std::vector<std::string> set;
  bool json = false;
};

void add_input(CLI::App* command, Input& input) {
  command->add_option("SCENARIO", input.scenario, "a scenario file (TOML), or the name of a lab or a model")
      ->required();
  command->add_option("--set", input.set, "override a key of the file, as in --set plan.micro_batches=16")->take_all();
  command->add_flag("--json", input.json, "print one JSON object on standard output, and nothing else there");
}

/// A data file that is too short, or whose tokens the model does not have.
std::optional<Complaint> complaint_about_data(const Scenario& scenario) {
  if (data_file(scenario).empty()) return std::nullopt;
  try {
    open_dataset(scenario);
    return std::nullopt;
  } catch (const DataError& e) {
    return Complaint{{"data.source"}, e.what()};
  }
}

/// What options say in a key's place.
struct Instead {
  std::optional<int> steps, checkpoint_every;
};

std::vector<Override> overrides_of(const Input& input) {
  std::vector<Override> overrides;
  for (const std::string& text : input.set) overrides.push_back(parse_override(text));
  return overrides;
}

/// The lab of that name, where there is no such file.
std::string file_of(const Input& input) {
  const std::filesystem::path file = find_scenario(input.scenario);
  return file.empty() ? input.scenario : file.string();
}

Scenario read(const Input& input, const Instead& instead = {}) {
  std::vector<Override> overrides = overrides_of(input);
  if (instead.steps) overrides.push_back({"train.steps", std::to_string(*instead.steps)});
  if (instead.checkpoint_every)
    overrides.push_back({"train.checkpoint_every", std::to_string(*instead.checkpoint_every)});
  return read_scenario(file_of(input), overrides, complaint_about_data);
}

/// A whole number from `least`; CLI11's own words for a wrong one name the limits of double.
CLI::Validator whole_number(int least) {
  return CLI::Validator(
      [least](std::string& text) -> std::string {
        int value = 0;
        const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (bad == std::errc{} && end == text.data() + text.size() && value >= least) return {};
        return "'" + text + "' is no whole number from " + std::to_string(least) + " up";
      },
      "", "");
}

void add_scratch(const StepProgram& of, std::span<RankProgram> programs) {
  set_scratch(of, programs, *open_platform("cpu"));
}

Report predicted_report(const StepProgram& step) { return predict_step(step, add_scratch); }

/// A run has the ranks of its plan: what goes on without a node is another plan.
void refuse_lost_node(const Scenario& scenario) {
  const auto after = after_lost_node(scenario);
  if (after && after->replicas_lost > 0)
    throw ScenarioError("cluster.lost_node = " + std::to_string(scenario.cluster.lost_node) +
                        " is for plan, simulate and search, and nothing that runs loses a node: " +
                        what_is_left(*after, scenario.cluster.lost_node) +
                        "; to run that, set these keys and cluster.lost_node = -1");
}

/// The plan of what is left where a node is lost.
StepProgram compile_rest(const Scenario& scenario) {
  const auto after = after_lost_node(scenario);
  return compile(after ? after->scenario : scenario);
}

int plan(const Input& input, int program_of) {
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

int simulate_plan(const Input& input, double tokens) {
  const Scenario scenario = with_stages(read(input), false);
  const StepProgram step = compile_rest(scenario);
  if (!is_folded(step)) check_runs(step);
  Report report = predict_scenario(scenario, add_scratch);
  if (tokens > 0)
    report.budget = budget_of(report, step.scenario.cluster, tokens, step.scenario.train.checkpoint_every);
  print(report, input.json);
  return 0;
}

int verify_plan(const Input& input, const RunRequest& request) {
  const std::string& device = request.device;
  check_platform(device);
  if (request.communicator == "nccl") check_nccl(request);
  const Scenario scenario = with_stages(read(input), true, device);
  refuse_lost_node(scenario);
  const StepProgram step = compile(scenario);
  check_runs(step);
  RunSettings settings;
  settings.device = device;
  if (request.communicator == "nccl") settings = over_nccl(settings, step.grid.size());
  const VerifyResult result = verify(scenario, settings);
  if (input.json) {
    nlohmann::json json = to_json(predicted_report(step));
    double losses = 0, gradients = 0, parameters = 0, tolerance = 0;
    int tensors = 0, bit_equal = 0;
    for (const ParityRun& run : result.runs) {
      tolerance = std::max(tolerance, run.tolerance);
      tensors += run.errors.tensors;
      bit_equal += run.errors.bit_equal;
      losses = std::max(losses, run.errors.losses);
      gradients = std::max(gradients, run.errors.gradients);
      if (run.judges_parameters) parameters = std::max(parameters, run.errors.parameters);
    }
    json["verify"] = {{"passed", result.passed}, {"replayed", result.replayed}, {"losses", losses},
                      {"gradients", gradients},  {"parameters", parameters},    {"tolerance", tolerance},
                      {"tensors", tensors},      {"bit_equal", bit_equal}};
    std::cout << json.dump(2) << "\n";
  } else {
    std::cout << to_text(result);
  }
  return result.passed ? 0 : failed;
}

int validate_all(bool json, bool without_each) {
  const std::vector<PublishedTable> published = read_all_published();
  if (without_each) {
    const std::vector<LeftOutTable> left_out = leave_one_out(published);
    std::cout << (json ? to_json(left_out).dump(2) + "\n" : to_text(left_out));
    return 0;
  }
  std::vector<ValidatedTable> tables;
  for (const PublishedTable& table : published) tables.push_back(validate(table));
  if (json)
    std::cout << to_json(tables).dump(2) << "\n";
  else
    std::cout << to_text(tables);
  return 0;
}

int search_plans(const Input& input, std::size_t best) {
  const Scenario scenario = read(input), left = left_to_search(scenario);
  if (scenario.cluster.lost_node >= 0 && !input.json)
    std::cout << "node " << scenario.cluster.lost_node << " is lost: plans of " << left.plan.ranks() << " ranks for "
              << left.train.global_batch << " samples a step\n";
  const SearchResult result = search(left, best);
  if (input.json)
    std::cout << to_json(result).dump(2) << "\n";
  else
    std::cout << to_text(result);
  return result.best.empty() ? failed : 0;
}

int run_plan(const Input& input, RunRequest request, const Instead& instead) {
  check_platform(request.device);
  const Scenario scenario =
      with_stages(read(input, instead), is_platform(request.device), request.device, request.threads);
  refuse_lost_node(scenario);
  check_runs(compile(scenario));
  request.json = input.json;
  return run_supervised(scenario, request);
}

/// What `export` is given.
struct ExportRequest {
  std::string checkpoint, folder;
};

int export_model(const ExportRequest& request, bool json) {
  const std::vector<std::string> found = checkpoints_in(request.checkpoint);
  if (found.empty()) throw CheckpointError(request.checkpoint + ": there is no complete checkpoint");
  const Checkpoint checkpoint(found.back());
  const SavedModel saved = write_hugging_face(checkpoint, request.folder);
  if (json)
    std::cout << nlohmann::ordered_json{{"folder", request.folder},
                                        {"checkpoint", checkpoint.directory()},
                                        {"steps_done", checkpoint.steps_done()},
                                        {"parameters", saved.parameters},
                                        {"bytes", saved.bytes}}
                     .dump(2)
              << "\n";
  else
    std::cout << request.folder << ": " << saved.parameters << " parameters after " << checkpoint.steps_done()
              << " steps, fp32, " << figure::format("%.1f MiB", static_cast<double>(saved.bytes) / (1 << 20))
              << "; transformers' GPT2LMHeadModel reads it\n";
  return 0;
}

int sweep_plans(const Input& input, SweepRequest request) {
  check_platform(request.run.device);
  request.scenario = file_of(input);
  request.set = overrides_of(input);
  request.json = input.json;
  refuse_lost_node(read(input));
  return run_sweep(request, complaint_about_data);
}

/// What runs, how its ranks talk and which clock counts: the same for one run and for many.
void add_how(CLI::App* command, RunRequest& request) {
  command
      ->add_option("--comm", request.communicator,
                   "how ranks talk: loopback (threads of one process), mpi, or nccl (a GPU for each rank)")
      ->check(CLI::IsMember({"loopback", "mpi", "nccl"}));
  command
      ->add_option("--device", request.device,
                   "what computes: cpu, cuda (a GPU; under loopback all ranks share it), or sleep (each op sleeps its "
                   "predicted cost)")
      ->check(CLI::IsMember({"cpu", "cuda", "sleep"}));
  command->add_option("--clock", request.clock, "of the headline numbers: wall, device (emulated), or auto")
      ->check(CLI::IsMember({"auto", "wall", "device"}));
  command->add_option("--threads", request.threads, "CPU threads of each rank's compute")->check(CLI::Range(1, 256));
}

bool has_command(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; }).empty();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Rankscope's engine: a training step as data, planned, simulated, run and verified.");
  app.require_subcommand(1);
  app.set_version_flag("--version", RANKSCOPE_VERSION);

  Input input;
  int program_of = -1;
  auto* plan_command =
      app.add_subcommand("plan", "show what a step consists of: ranks, memory, traffic, the textbook's bubble");
  add_input(plan_command, input);
  plan_command->add_option("--program", program_of, "print this rank's program in its text form instead")
      ->check(whole_number(0));

  auto* simulate_command = app.add_subcommand("simulate", "predict a step on the scenario's cluster; nothing runs");
  add_input(simulate_command, input);
  double tokens = 0;
  simulate_command->add_option("--tokens", tokens, "of a whole training run, such as 300e9: days and energy it takes")
      ->check(CLI::PositiveNumber);

  RunRequest request;
  Instead instead;
  auto* run_command = app.add_subcommand("run", "train for real, with as many ranks as the plan has");
  add_input(run_command, input);
  add_how(run_command, request);
  run_command->add_option("--steps", instead.steps, "instead of train.steps")->check(whole_number(1));
  run_command->add_option("--record", request.record, "write a trace (MCAP)");
  run_command->add_option("--publish", request.publish, "serve viewers at this endpoint (tcp://…, ipc://…)");
  run_command->add_option("--keep", request.keep, "detail to keep: all, every:N steps, or last:TIME such as last:30s");
  run_command->add_option("--checkpoint", request.checkpoint,
                          "folder for the checkpoints that train.checkpoint_every asks for");
  run_command
      ->add_option("--checkpoint-every", instead.checkpoint_every,
                   "instead of train.checkpoint_every: steps, 0 is never")
      ->check(whole_number(0));
  run_command->add_option("--resume", request.resume,
                          "go on from this checkpoint, or from the newest in this folder, under this scenario's plan");
  run_command
      ->add_option("--restarts", request.restarts,
                   "when a rank is lost, go on by itself from the newest checkpoint, so many times at most")
      ->check(whole_number(0));
  run_command->add_option("--join-file", request.join_file,
                          "write what a viewer elsewhere needs (endpoint and keys) to this file; makes keys, which an "
                          "endpoint beyond this machine must have");

  auto* verify_command = app.add_subcommand("verify", "prove that the plan trains the same model as one rank");
  add_input(verify_command, input);
  verify_command
      ->add_option("--device", request.device, "what computes: cpu, or cuda (a GPU; under loopback all ranks share it)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  verify_command
      ->add_option("--comm", request.communicator,
                   "how ranks, threads of this process, talk: loopback, or nccl (a GPU for each rank)")
      ->check(CLI::IsMember({"loopback", "nccl"}));

  SweepRequest sweep;
  auto* sweep_command =
      app.add_subcommand("sweep", "run a scenario with keys of it changed in turn: strong and weak scaling");
  add_input(sweep_command, input);
  sweep_command
      ->add_option("--over", sweep.over,
                   "a key and its values, as in --over plan.data=1,2,4; given again for another key, all combinations "
                   "are run")
      ->take_all()
      ->allow_extra_args(false);
  sweep_command->add_flag("--weak", sweep.weak,
                          "weak scaling: the global batch grows with the ranks, from the scenario's at the first point "
                          "(without it: strong scaling, the batch stays)");
  sweep_command
      ->add_option("--steps", sweep.steps,
                   "of each run; without it what --set train.steps says, or else " + std::to_string(sweep_steps))
      ->check(whole_number(1));
  sweep_command->add_option("--repeat", sweep.repeats, "runs of each point, round by round through all of them")
      ->check(whole_number(1));
  add_how(sweep_command, sweep.run);
  sweep_command->add_option("--record", sweep.record, "write what was measured, run by run, to a trace (MCAP)");

  auto* worker_command = app.add_subcommand("worker", "")->group("");  // started by run

  auto* validate_command =
      app.add_subcommand("validate", "hold predictions against what others have measured and printed, row by row");
  validate_command->add_flag("--json", input.json, "print one JSON object on standard output, and nothing else there");

  bool without_each = false;
  validate_command->add_flag("--leave-one-out", without_each,
                             "each table's errors with the constants that all others of its device give");

  bool own = false;
  OwnRunsRequest own_runs;
  auto* own_flag = validate_command->add_flag(
      "--own", own, "run our own rows on this machine, and hold them against their simulation");
  auto* write_option = validate_command->add_option("--write", own_runs.folder,
                                                    "with --own: folder of scenarios to write what was measured to");
  write_option->needs(own_flag);
  validate_command->add_option("--name", own_runs.name, "with --write: of the file of measured ops")
      ->needs(write_option);
  validate_command
      ->add_option("--rounds", own_runs.rounds,
                   "with --own: times that every row runs; of several, each error comes with its standard error")
      ->check(whole_number(1))
      ->needs(own_flag);

  std::size_t best = 10;
  auto* search_command = app.add_subcommand(
      "search", "find the best plans for the scenario's model on as many ranks of its cluster; nothing runs");
  add_input(search_command, input);
  search_command->add_option("--best", best, "how many of the fastest plans to print")->check(whole_number(1));

  PathsInput walked;
  auto* paths_command = app.add_subcommand(
      "paths", "let the optimizers walk on a surface of two parameters, in fp64; no model is trained");
  paths_command->add_option("SURFACE", walked.surface, "ravine (the default), saddle, rosenbrock or beale");
  paths_command->add_option("--optimizer", walked.optimizers, "which walk, as in --optimizer sgd,adam; without it all")
      ->delimiter(',');
  paths_command
      ->add_option("--rate", walked.rates,
                   "learning rates, as in --rate sgd=0.09,adam=0.1, or one for all; else what suits the surface")
      ->delimiter(',');
  paths_command->add_option("--steps", walked.steps, "of each path; without it in which the surface shows most")
      ->check(whole_number(1));
  paths_command->add_option("--noise", walked.noise,
                            "standard deviation of the noise of each gradient's components, the same for all");
  paths_command->add_option("--seed", walked.seed, "of the noise");
  paths_command->add_option("--start", walked.start, "where they begin, as in --start=-4,1");
  paths_command->add_option("--condition", walked.condition, "of the ravine: its greatest over its least curvature");
  paths_command->add_option("--set", walked.set, "a key of [train] for those that take it, as in --set momentum=0.5")
      ->take_all();
  paths_command->add_flag("--json", walked.json, "print one JSON object on standard output, and nothing else there");

  PeakRequest peak;
  auto* peak_command =
      app.add_subcommand("peak", "this machine's peak, which MFU is a share of: stored, and checked at each start");
  peak_command->add_option("--precision", peak.precisions, "as in --precision fp32,bf16")->delimiter(',');
  peak_command->add_option("--threads", peak.threads, "CPU threads of a rank's compute")->check(CLI::Range(1, 256));
  peak_command->add_flag("--again", peak.again, "measure it again, and forget what is stored");
  peak_command->add_flag("--json", peak.json, "print one JSON array on standard output, and nothing else there");

  ExportRequest exported;
  auto* export_command = app.add_subcommand("export", "save a checkpoint's model in Hugging Face's format of GPT-2");
  export_command->add_option("CHECKPOINT", exported.checkpoint, "a checkpoint, or a folder of them: its newest")
      ->required();
  export_command->add_option("FOLDER", exported.folder, "to make: config.json and model.safetensors")->required();
  export_command->add_flag("--json", input.json, "print one JSON object on standard output, and nothing else there");

  // Without this, an unknown command is called a missing one.
  if (argc > 1 && argv[1][0] != '-' && !has_command(app, argv[1])) {
    std::cerr << "rankscope-engine: there is no command '" << argv[1]
              << "'; there is plan, simulate, run, verify, sweep, validate, search, paths, peak and export" << std::endl;
    return bad_input;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    std::cerr << "rankscope-engine: " << e.what() << "; see rankscope-engine --help" << std::endl;
    return bad_input;
  }
  try {
    WorkerJob job;
    if (*worker_command) job = job_from_environment();
    // Whichever process it is whose ranks compute on a GPU, or talk by NCCL: before anything asks for one.
    const RunRequest& asked = *worker_command ? job.request : *sweep_command ? sweep.run : request;
    prepare_platform(asked.device);
    if (asked.communicator == "nccl") prepare_cuda_for_nccl();
    if (*plan_command) return plan(input, program_of);
    if (*simulate_command) return simulate_plan(input, tokens);
    if (*run_command) return run_plan(input, request, instead);
    if (*verify_command) return verify_plan(input, request);
    if (*sweep_command) return sweep_plans(input, std::move(sweep));
    own_runs.json = input.json;
    if (*validate_command) return own ? validate_own(own_runs) : validate_all(input.json, without_each);
    if (*search_command) return search_plans(input, best);
    if (*paths_command) return print_paths(walked);
    if (*peak_command) return print_peaks(peak);
    if (*export_command) return export_model(exported, input.json);
    if (*worker_command) return run_worker(job);
    return failed;  // not reached: CLI11 asks for a command
  } catch (const ScenarioError& e) {
    std::cerr << e.what() << std::endl;
    return bad_input;
  } catch (const PlanError& e) {
    std::cerr << input.scenario << ": " << e.what() << std::endl;
    return bad_input;
  } catch (const CheckpointError& e) {  // of an export; a run's own are RunFailures
    std::cerr << "rankscope-engine: " << e.what() << std::endl;
    return bad_input;
  } catch (const JoinError& e) {
    std::cerr << "rankscope-engine: " << e.what() << std::endl;
    return bad_input;
  } catch (const TraceError& e) {
    std::cerr << "rankscope-engine: --record " << e.what() << std::endl;
    return bad_input;
  } catch (const DataError& e) {
    std::cerr << input.scenario << ": " << e.what() << std::endl;
    return bad_input;
  } catch (const DeviceError& e) {  // what is asked for is not there; what fails while it runs is a RunFailure
    std::cerr << "rankscope-engine: " << e.what() << std::endl;
    return bad_input;
  } catch (const std::exception& e) {
    std::cerr << "rankscope-engine: " << e.what() << std::endl;
    return failed;
  }
}
