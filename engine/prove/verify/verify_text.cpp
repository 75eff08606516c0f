// The result of verify, as text and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/op/words.hpp"
#include "engine/prove/verify/parity.hpp"
#include "engine/prove/verify/verify.hpp"

namespace rankscope {
namespace {

std::string words_of(const ParityRun& run, const std::string& truth) {
  switch (run.outcome) {
    case Outcome::equal: return "equals " + truth;
    case Outcome::different: return "DIFFERS from " + truth;
    case Outcome::not_shown: break;
  }
  return "NOT SHOWN to equal " + truth;
}

/// JSON has no NaN: null.
nlohmann::json number(double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr); }

nlohmann::json row_of(const ParityRun& run) {
  nlohmann::json growth = nlohmann::json::array();
  for (const double by_then : run.growth) growth.push_back(number(by_then));
  return {{"optimizer", run.optimizer},
          {"outcome", name_of(run.outcome)},
          {"reason", run.reason.empty() ? nlohmann::json(nullptr) : nlohmann::json(run.reason)},
          {"losses", number(run.errors.losses)},
          {"gradients", number(run.errors.gradients)},
          {"parameters", run.judges_parameters ? number(run.errors.parameters.worst) : nlohmann::json(nullptr)},
          {"tolerance", run.tolerance},
          {"twin", growth},
          {"twins", run.twins},
          {"judged_steps", run.judged_steps}};
}

std::string text_of(const ContentsProof& proof) {
  std::string text = fmt::format("{:<9} {} its definition  {} numbers on {} compared in each of {} steps\n",
                                 name_of(proof.operation), proof.wrong.empty() ? "equals" : "DIFFERS from",
                                 proof.elements, counted(proof.ranks, "rank"), proof.steps);
  if (!proof.wrong.empty()) text += fmt::format("{:<9} because {}\n", "", proof.wrong);
  return text;
}

nlohmann::json json_of(const ContentsProof& proof) {
  return {{"operation", name_of(proof.operation)},
          {"ranks", proof.ranks},
          {"steps", proof.steps},
          {"elements", proof.elements}};
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::equal: return "equal";
    case Outcome::different: return "different";
    case Outcome::not_shown: break;
  }
  return "not shown";
}

std::string to_text(const VerifyResult& result) {
  const std::string truth = result.replayed         ? "a serial replay of its arrivals"
                            : result.by_micro_batch ? "one rank that updates after each micro-batch"
                                                    : "one rank";
  const auto at = [](const std::string& worst) { return worst.empty() ? worst : " (" + worst + ")"; };
  if (result.contents) return text_of(*result.contents);
  std::string text;
  if (!result.stale_weights.empty()) text = "not the same training as one rank: " + result.stale_weights + "\n";
  for (const ParityRun& run : result.runs) {
    const ParityErrors& e = run.errors;
    text += fmt::format("{:<9} {}  losses {:.1e}  gradients {:.1e}{}  ", run.optimizer, words_of(run, truth), e.losses,
                        e.gradients, at(e.worst_gradient));
    text += run.judges_parameters ? fmt::format("parameters {:.1e}{}", e.parameters.worst, at(e.parameters.where))
                                  : std::string("parameters not compared");
    text += fmt::format("  tolerance {:.0e}  {} of {} tensors bit-equal\n", run.tolerance, e.parameters.bit_equal,
                        e.parameters.tensors);
    if (!run.reason.empty()) text += fmt::format("{:<9} because {}\n", "", run.reason);
    if (!run.growth.empty())
      text += fmt::format(
          "{:<9} tolerance: {:.0f} times the change in the reference from rounding each weight once{}: {} by the last "
          "step; {} of {} steps can show a difference\n",
          "", ParityRun::over_twin, run.twins > 1 ? fmt::format(" (the largest of {} trainings)", run.twins) : "",
          fmt::format("{:.1e}", run.growth.back()), run.judged_steps, run.growth.size());
  }
  return text;
}

nlohmann::json to_json(const VerifyResult& result) {
  double losses = 0, gradients = 0, parameters = 0, tolerance = 0;
  int tensors = 0, bit_equal = 0;
  nlohmann::json reason, rows = nlohmann::json::array();
  const auto raise = [](double& to, double error) {
    if (parity::is_worse(error, to)) to = error;
  };
  for (const ParityRun& run : result.runs) {
    tolerance = std::max(tolerance, run.tolerance);
    tensors += run.errors.parameters.tensors;
    bit_equal += run.errors.parameters.bit_equal;
    raise(losses, run.errors.losses);
    raise(gradients, run.errors.gradients);
    if (run.judges_parameters) raise(parameters, run.errors.parameters.worst);
    if (reason.is_null() && run.outcome == result.outcome && !run.reason.empty()) reason = run.reason;
    rows.push_back(row_of(run));
  }
  if (result.contents && !result.contents->wrong.empty()) reason = result.contents->wrong;
  if (!result.stale_weights.empty()) reason = result.stale_weights;
  const bool trains = !result.contents;
  const auto of_training = [&](double error) { return trains ? number(error) : nlohmann::json(nullptr); };
  return {{"passed", result.passed},
          {"outcome", name_of(result.outcome)},
          {"reason", reason},
          {"replayed", result.replayed},
          {"stale_weights", !result.stale_weights.empty()},
          {"losses", of_training(losses)},
          {"gradients", of_training(gradients)},
          {"parameters", of_training(parameters)},
          {"tolerance", tolerance},
          {"tensors", tensors},
          {"bit_equal", bit_equal},
          {"runs", rows},
          {"contents", result.contents ? json_of(*result.contents) : nlohmann::json(nullptr)}};
}

}  // namespace rankscope
