// `rankscope-engine verify`: whether a plan trains the same model as one rank.
#include "engine/verify/verify.hpp"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/run/platform.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/commands/predict.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/stages.hpp"
#include "engine/worker/supervise.hpp"

namespace rankscope::command {
namespace {

nlohmann::json to_json(const VerifyResult& result) {
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
  return {{"passed", result.passed},  {"replayed", result.replayed}, {"losses", losses},   {"gradients", gradients},
          {"parameters", parameters}, {"tolerance", tolerance},      {"tensors", tensors}, {"bit_equal", bit_equal}};
}

int verify_plan(const Input& input, const RunRequest& request) {
  prepare_device(request);
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
  const VerifyResult result = rankscope::verify(scenario, settings);
  if (input.json) {
    nlohmann::json json = rankscope::to_json(predicted_report(step));
    json["verify"] = to_json(result);
    std::cout << json.dump(2) << "\n";
  } else {
    std::cout << to_text(result);
  }
  return result.passed ? 0 : failed;
}

}  // namespace

Command verify(CLI::App& app) {
  struct Given {
    Input input;
    RunRequest request;
  };
  const auto given = std::make_shared<Given>();
  auto* line = app.add_subcommand("verify", "prove that the plan trains the same model as one rank");
  add_input(line, given->input);
  line->add_option("--device", given->request.device,
                   "what computes: cpu, or cuda (a GPU; under loopback all ranks share it)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  line->add_option("--comm", given->request.communicator,
                   "how ranks, threads of this process, communicate: loopback, or nccl (a GPU for each rank)")
      ->check(CLI::IsMember({"loopback", "nccl"}));
  return {line, [given] { return verify_plan(given->input, given->request); }};
}

}  // namespace rankscope::command
