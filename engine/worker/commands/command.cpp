#include "engine/worker/commands/command.hpp"

#include <filesystem>

#include "engine/execute/comm/nccl.hpp"
#include "engine/execute/data/dataset.hpp"
#include "engine/execute/run/platform.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/lost_node.hpp"
#include "engine/plan/scenario/resources.hpp"
#include "engine/worker/run_size.hpp"

namespace rankscope::command {

void add_json(CLI::App* line, bool& json) {
  line->add_flag("--json", json, "print only one JSON object on standard output");
}

void add_input(CLI::App* line, Input& input) {
  line->add_option("SCENARIO", input.scenario, "scenario file (TOML), or the name of a lab or a model")->required();
  line->add_option("--set", input.set, "override a key of the file, as in --set plan.micro_batches=16")->take_all();
  add_json(line, input.json);
}

void add_how(CLI::App* line, RunRequest& request) {
  add_choice(line, "--comm", request.communicator,
             "communication of ranks: loopback (threads of one process), mpi, or nccl (one GPU per rank); "
             "started by mpirun or srun, each process is a rank");
  line->add_option("--hosts", request.hosts,
                   "with --comm mpi: file of hosts for mpirun, one line \"NAME slots=N\" per host");
  add_choice(line, "--device", request.device,
             "where ops run: cpu, cuda (a GPU; under loopback all ranks share it), or sleep (each op sleeps for its "
             "predicted cost)");
  add_choice(line, "--clock", request.clock, "clock of the main figures: wall, device (emulated), or auto");
  line->add_option("--threads", request.threads, "CPU threads per rank")->check(CLI::Range(1, 256));
  add_without(line, request);
  add_any_size(line, request);
}

void add_without(CLI::App* line, RunRequest& request) {
  const std::vector<std::string> names(word_table<FastPath>.begin(), word_table<FastPath>.end());
  line->add_option("--without,--unfused", request.without,
                   "with --device cuda: run without these fast paths, to measure what each gains: "
                   "attention, cudnn, gelu, bias-gradient, norm, measured (separated by commas)")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->allow_extra_args(false)
      ->take_all();
}

void add_any_size(CLI::App* line, RunRequest& request) {
  line->add_flag(any_size_option, request.any_size, "start even if more memory is needed than is available");
}

std::vector<Override> overrides_of(const Input& input) {
  std::vector<Override> overrides;
  for (const std::string& text : input.set) overrides.push_back(parse_override(text));
  return overrides;
}

std::string file_of(const Input& input) {
  const std::filesystem::path file = find_scenario(input.scenario);
  return file.empty() ? input.scenario : file.string();
}

Scenario read(const Input& input, const std::vector<Override>& more) {
  std::vector<Override> overrides = overrides_of(input);
  overrides.insert(overrides.end(), more.begin(), more.end());
  return read_scenario(file_of(input), overrides, complaint_about_data);
}

std::optional<Complaint> complaint_about_data(const Scenario& scenario) {
  if (data_file(scenario).empty()) return std::nullopt;
  try {
    open_dataset(scenario);
    return std::nullopt;
  } catch (const DataError& e) {
    return Complaint{{"data.source"}, e.what()};
  }
}

void refuse_lost_node(const Scenario& scenario) {
  const auto after = after_lost_node(scenario);
  if (after && after->replicas_lost > 0)
    throw ScenarioError(
        fmt::format("cluster.lost_node = {} is for plan, simulate and search, and nothing that runs loses a node: {}; "
                    "to run that, set these keys and cluster.lost_node = -1",
                    scenario.cluster.lost_node, describe_after_loss(*after, scenario.cluster.lost_node)));
}

int status_of(const Report& report) {
  return report.device && !report.device->fits() ? status::does_not_fit : status::done;
}

StepProgram compile_rest(const Scenario& scenario) {
  const auto after = after_lost_node(scenario);
  return compile(after ? after->scenario : scenario);
}

void prepare_device(const RunRequest& request) {
  if (!request.without.empty() && request.device != DeviceKind::cuda)
    throw ScenarioError("--without: only a GPU has these fast paths; use --device cuda, or leave it out");
  prepare_platform(request.device);
  if (request.communicator == CommunicatorKind::nccl) prepare_cuda_for_nccl();
}

}  // namespace rankscope::command
