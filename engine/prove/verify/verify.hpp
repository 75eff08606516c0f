// Is it the same training? Compares a plan with one rank that accumulates the same micro-batches in the same order; or,
// with asynchronous parameter servers, with the contributions that arrived, computed and applied one after the
// other.
//
// The outcomes:
// - equal: losses, gradients and parameters differ by no more than a bound, and every tensor has changed enough for
//   its difference to mean something. A tensor that changed by fewer than ten roundings of its type counts if it did
//   change and has the same bits as the reference's: a missing or wrongly scaled update would have left other bits.
// - different: something differs by more than its bound. A NaN is more than any bound.
//   A plan whose stages run forward with stale weights is always different, even if little was measured; the
//   measured differences are also reported.
// - not shown: nothing differs by more than its bound, but not all can be judged, and `reason` states why: tensors
//   that changed too little and differ in their last bits, or a training that amplifies roundings until nothing can be
//   compared. It proves neither.
//
// The bound is the tolerance of the plan's precision. If that is exceeded, the cause may be only roundings: some
// trainings are chaotic, and amplify any error from step to step. So the reference is trained again as a twin,
// each of its initial weights changed by one rounding, and a step may differ by ParityRun::over_twin times the
// twin's difference at that step, if that is more than the tolerance. Before a run is called different beyond its twin,
// up to ParityRun::most_twins are made, and the largest of their differences counts. A step whose bound is above
// ParityRun::still_shows proves nothing, unless it is within the tolerance. A training whose first two steps can be
// judged, with the update between them, is called equal; the text states the number of these steps.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/progress/progress.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

enum class Outcome : std::uint8_t { equal, different, not_shown };
/// "equal", "different", "not shown".
std::string_view name_of(Outcome outcome);

/// Of one step: the loss, and the worst gradient with its name.
struct StepErrors {
  double loss = 0, gradient = 0;
  std::string where;
};

/// Of parameters after some steps.
struct UpdateErrors {
  double worst = 0;
  std::string where;
  int tensors = 0, bit_equal = 0;  ///< compared, and those without any difference
  int unmoved = 0;                 ///< that changed too little to show anything
  std::string unmoved_one;         ///< the name of one of them, with the rank
};

/// The worst relative differences found. Gradients and losses: Frobenius norm of the difference over the reference's
/// (over its block's for a tensor whose own is close to zero). Parameters: over the norm of the accumulated
/// update, after subtracting the rounding of their storage type (u·‖p‖ a step, u the unit roundoff): a layer norm's
/// weight of 1 that changes by 5e-4 keeps only four digits of its update in fp32.
struct ParityErrors {
  double losses = 0, gradients = 0;  ///< of all steps
  std::string worst_gradient;        ///< its name, with the rank and step
  std::vector<StepErrors> steps;
  UpdateErrors first_update;  ///< after the first step; nothing for asynchronous servers
  UpdateErrors parameters;    ///< after the last step
};

struct ParityRun {
  static constexpr double over_twin = 10, still_shows = 5e-2;
  static constexpr int most_twins = 8;

  std::string optimizer;
  double tolerance = 0;
  bool judges_parameters = true;  ///< false: only losses, and the first step's gradients
  ParityErrors errors;
  int twins = 0;               ///< made; 0 if the tolerance decided
  std::vector<double> growth;  ///< [step]: difference of the worst twin at that step; empty without one
  int judged_steps = 0;        ///< whose bounds still prove something
  Outcome outcome = Outcome::not_shown;
  bool passed = false;  ///< equal
  std::string reason;   ///< of any other outcome than equal
  /// What the plan's ranks reported of each step, in no order of ranks: their memory and traffic, too.
  std::vector<StepSummary> summaries;
};

/// Of a single collective, which trains nothing: the ranks' results are compared with its definition.
struct ContentsProof {
  OpKind operation = OpKind::all_reduce;
  int ranks = 0;
  std::uint32_t steps = 0;
  std::int64_t elements = 0;  ///< compared in each step, of all ranks
  std::string wrong;          ///< the first one that differs from the definition, as text; empty: none
};

struct VerifyResult {
  Outcome outcome = Outcome::not_shown;
  bool replayed = false;  ///< compared with its own arrivals, computed serially, instead of with one rank
  bool passed = false;    ///< equal
  std::vector<ParityRun> runs;
  std::optional<ContentsProof> contents{};  ///< in place of runs
  bool by_micro_batch = false;  ///< the plan and the one rank update after each micro-batch
  std::string stale_weights;    ///< why a plan that does so is another training; empty: not for this reason
};

/// Runs the scenario's plan and its reference for five steps at a constant rate: with SGD at a rate that changes every
/// tensor (0.1), and, if the scenario trains with another optimizer, also with that (in fp64 as strictly; else by
/// losses and first-step gradients), its epsilon at least OptimizerRule::parity_epsilon. Tolerances: fp64 1e-12 (of a
/// resnet 1e-11), fp32 1e-5, bf16 and fp16 2e-2 (3e-2 with tensor parallelism). For a
/// single collective: verify_contents.hpp. Throws RunFailure, PlanError.
VerifyResult verify(const Scenario& scenario, const RunSettings& settings, const Progress& progress = {});

/// The plan's reference: one rank, the same micro-batches, the same number of updates.
Scenario reference_of(const Scenario& scenario);

std::string to_text(const VerifyResult& result);
/// `passed`, `outcome` and `reason`, the worst errors of all runs (null: a NaN), and a row for each run.
nlohmann::json to_json(const VerifyResult& result);

}  // namespace rankscope
