// `rankscope-engine verify`: whether a plan trains the same model as one rank.
#include "engine/prove/verify/verify.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/progress/progress_line.hpp"
#include "engine/execute/run/fast_paths.hpp"
#include "engine/execute/run/platform.hpp"
#include "engine/execute/run/scratch.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/print.hpp"
#include "engine/worker/run_size.hpp"
#include "engine/worker/stages.hpp"
#include "engine/worker/supervise.hpp"

namespace rankscope::command {
namespace {

int verify_plan(const Input& input, const RunRequest& request) {
  prepare_device(request);
  const DeviceKind device = request.device;
  check_platform(device);
  if (request.communicator == CommunicatorKind::nccl) check_nccl(request);
  const Scenario scenario = with_stages(read(input), true, device);
  refuse_lost_node(scenario);
  const StepProgram step = compile(scenario);
  check_fits(step, request);
  check_runs(step);
  RunSettings settings;
  settings.device = device;
  settings.gpu_options = without_paths(request.without);
  settings.gpu_options.notice = [](const std::string& line) { std::cerr << worker_note + line + "\n" << std::flush; };
  if (request.communicator == CommunicatorKind::nccl)
    settings = over_nccl(settings, step.grid.size());
  else if (device == DeviceKind::cuda) {
    settings.platform = open_platform(device, settings.threads_per_rank, 0, settings.gpu_options);
    std::cerr << worker_note << gpu_line(*settings.platform) << std::endl;
  }
  const VerifyResult result = [&] {
    ProgressLine line("verify");
    return rankscope::verify(scenario, settings, line.progress());
  }();
  if (input.json) {
    nlohmann::json json = rankscope::to_json(predict_step(step, add_host_scratch));
    json["verify"] = rankscope::to_json(result);
    print_json(json);
  } else {
    std::cout << to_text(result);
  }
  if (result.outcome == Outcome::equal) return status::done;
  return result.outcome == Outcome::different ? status::failed : status::not_shown;
}

}  // namespace

Command verify(CLI::App& app) {
  struct Given {
    Input input;
    RunRequest request;
  };
  const auto given = std::make_shared<Given>();
  auto* line = app.add_subcommand(
      "verify",
      "check that the plan trains the same model as one rank; exit status 0: same, 1: different, 3: not shown");
  add_input(line, given->input);
  add_choice(line, "--device", given->request.device,
             "where ops run: cpu, or cuda (a GPU; under loopback all ranks share it)", {"cpu", "cuda"});
  add_choice(line, "--comm", given->request.communicator,
             "communication of ranks (threads of this process): loopback, or nccl (one GPU per rank)",
             {"loopback", "nccl"});
  add_without(line, given->request);
  add_any_size(line, given->request);
  return {line, [given] { return verify_plan(given->input, given->request); }};
}

}  // namespace rankscope::command
