// `rankscope-engine simulate`: a step predicted from a cluster's figures, or from the costs of ops on this machine; and
// its recording, labelled simulated.
#include <array>
#include <cmath>
#include <iostream>
#include <map>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/host/provenance.hpp"
#include "engine/execute/run/scratch.hpp"
#include "engine/explain/facts/forecast.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/op/words.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "engine/prove/calibrate/calibrate.hpp"
#include "engine/prove/calibrate/stored_peak.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/print.hpp"
#include "engine/worker/run_size.hpp"
#include "engine/worker/stages.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace rankscope::command {
namespace {

struct SimulateRequest {
  Input input;
  double tokens = 0;
  bool here = false;
  bool any_size = false;
  int threads = 1;
  std::string record;
};

/// "300e9" of "300B", as papers write it; an example if the text is no such number.
std::string as_typed(const std::string& text) {
  constexpr std::string_view suffixes = "KkMmBbGgTt";
  constexpr std::array exponents{3, 6, 9, 9, 12};
  const std::size_t suffix = text.empty() ? std::string_view::npos : suffixes.find(text.back());
  if (suffix == std::string_view::npos) return "300e9";
  const std::string number = text.substr(0, text.size() - 1);
  if (number.size() > 12 || number.find_first_not_of("0123456789.") != std::string::npos || !number_in<double>(number))
    return "300e9";
  return fmt::format("{}e{}", number, exponents[suffix / 2]);
}

/// CLI11's own message for an invalid number contains the limits of double.
CLI::Validator number_of_tokens() {
  constexpr double most = 1e18;
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const auto tokens = number_in<double>(text);
        if (!tokens || !std::isfinite(*tokens))
          return fmt::format("'{}' is not a number of tokens; write {}", excerpt(text), as_typed(text));
        if (*tokens >= 1 && *tokens <= most) return {};
        return fmt::format("'{}' is out of range; a training run has 1 to 1e18 tokens, such as 300e9", excerpt(text));
      },
      "", "");
}

/// The costs of the plan's ops on this machine's CPU, measured now; and its peak on the same clock.
OtherCosts costs_here(const Scenario& scenario, int threads) {
  const std::shared_ptr<const Platform> platform = open_platform("cpu", threads);
  const MachinePeak peak =
      peak_of_machine(scenario.compute_type(), *platform, PeakStore(peak_file()), false, utc_now());
  OtherCosts here;
  here.from = costs_measured_on(host_name(), scenario.cluster);
  here.peak_flops = peak.peak.measured.best.device;
  here.costs = [platform](const StepProgram& step) {
    return slowed_costs(predict_costs(step, platform), step.scenario.fault);
  };
  return here;
}

/// Writes the predicted steps as a recording. Throws TraceError.
void record(const SimulateRequest& request, const Scenario& predicted, const StepPrediction& step, double peak_flops) {
  Hello hello;
  hello.device = hello.communicator = simulated_device;
  hello.host = request.here ? host_name() : "";
  hello.started_utc = utc_now();
  hello.peak_flops = peak_flops;
  TraceWriter writer(request.record);
  const SessionId session = new_session_id();
  std::map<int, std::pair<std::uint64_t, std::uint64_t>> sent;  // by sender: messages, and control messages of these
  const EventPublisher publish = [&](int rank, Event event) {
    auto& [messages, controls] = sent[rank];
    if (is_control(event)) ++controls;
    writer.accept(Message{session, rank, ++messages, controls, std::move(event)});
  };
  if (step.facts)
    publish_forecast(predicted, step.facts->programs, step.facts->predicted->spans, publish, hello);
  else
    publish_folded_forecast(predicted, step.report.step_seconds, publish, hello);
  if (!writer.close())
    throw TraceError(writer.error() + "; " + counted(writer.lost_messages(), "message") + " are not in the recording");
}

/// A default that costs a device most of its speed is said.
void note_precision(const Input& input, const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const double times = cluster.peak_flops_bf16 / cluster.peak_flops_fp32;
  const std::string file = file_of(input);
  const bool is_default = place_of_key(file, overrides_of(input), "plan.precision") == file + ":1:1";
  if (scenario.model.is_collective() || scenario.plan.precision != Precision::fp32 || !is_default || !(times >= 2))
    return;
  std::cerr << fmt::format(
      "rankscope-engine: note: plan.precision is fp32, the default; products of cluster '{}' are "
      "{:.3g} times as fast with --set precision=bf16\n",
      cluster.label(), times);
}

/// A plan that is too large is refused with the option that lays it out.
void check_laid_out(const StepProgram& step, double most_bytes) {
  try {
    check_size(step, most_bytes);
  } catch (const PlanError& large) {
    throw PlanError(std::string(large.what()) +
                    (most_bytes == usual_bytes ? fmt::format("; {} lays them out", any_size_option) : ""));
  }
  check_runs(step, most_bytes);
}

int print_simulation(const SimulateRequest& request) {
  Scenario scenario = with_stages(read(request.input), request.here, DeviceKind::cpu, request.threads);
  note_precision(request.input, scenario);
  if (request.here) {  // the costs are of this engine's ops; links, and who uses them, are the cluster's
    SoftwareSpec own;
    own.collectives = scenario.cluster.software.collectives;
    scenario.cluster.software = own;
  }
  const StepProgram step = compile_rest(scenario);
  const double most_bytes = request.any_size ? memory_for_ops() : usual_bytes;
  if (!is_folded(step)) check_laid_out(step, most_bytes);
  std::optional<OtherCosts> other;
  if (request.here && !is_folded(step)) other = costs_here(scenario, request.threads);
  if (request.here && is_folded(step)) other = OtherCosts{};  // which predict_with_facts rejects
  StepPrediction predicted = predict_with_facts(scenario, add_host_scratch, other, is_folded, most_bytes);
  if (request.tokens > 0)
    predicted.report.budget =
        budget_of(predicted.report, step.scenario.cluster, request.tokens, step.scenario.train.checkpoint_every);
  if (!request.record.empty()) record(request, step.scenario, predicted, other ? other->peak_flops : 0);
  print(predicted.report, request.input.json);
  return status_of(predicted.report);
}

}  // namespace

Command simulate(CLI::App& app) {
  const auto given = std::make_shared<SimulateRequest>();
  auto* line = app.add_subcommand("simulate", "predict a step on the scenario's cluster; nothing runs");
  add_input(line, given->input);
  line->add_option("--tokens", given->tokens,
                   "tokens of a whole training run, such as 300e9: predict its days and energy")
      ->check(number_of_tokens());
  auto* here = line->add_flag("--here", given->here,
                              "with costs of the plan's ops on this machine's CPU, measured now in some tenths of a "
                              "second, instead of the cluster's figures; links are still the cluster's");
  line->add_option("--threads", given->threads, "with --here: CPU threads per rank")
      ->check(CLI::Range(1, 256))
      ->needs(here);
  line->add_flag(
      any_size_option, given->any_size,
      "lay out also the ops of plans that need more than a gigabyte, as long as this machine has the memory");
  line->add_option("--record", given->record, "write the predicted steps to a recording (MCAP), labelled simulated");
  return {line, [given] { return print_simulation(*given); }};
}

}  // namespace rankscope::command
