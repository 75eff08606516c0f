// Is it the same training? A plan's run against one rank that accumulates the same micro-batches in the same order; or,
// with asynchronous parameter servers, against the contributions that arrived, computed and applied one after the
// other.
#pragma once
#include <string>
#include <vector>

#include "engine/progress/progress.hpp"
#include "engine/run/job.hpp"
#include "engine/scenario/scenario.hpp"

namespace rankscope {

/// The worst relative differences found. Gradients and losses: Frobenius norm of the difference over the reference's
/// (over its block's for a tensor whose own is next to nothing). Parameters: over the norm of the accumulated
/// update, after what storing them in their type alone rounds away (u·‖p‖ a step, u the unit roundoff): a layer norm's
/// weight of 1 that moves by 5e-4 keeps only four digits of its update in fp32.
struct ParityErrors {
  double losses = 0, gradients = 0, parameters = 0;
  std::string worst_gradient, worst_parameter;  ///< names, with the rank and step
  int tensors = 0, bit_equal = 0;               ///< final parameters compared, and those without any difference
  int unmoved = 0;                              ///< parameters that moved too little to tell anything
  std::string unmoved_one;                      ///< the name of one of them, with the rank
};

struct ParityRun {
  std::string optimizer;
  double tolerance = 0;
  bool judges_parameters = true;  ///< false: losses, and the first step's gradients, alone
  ParityErrors errors;
  bool passed = false;
};

struct VerifyResult {
  bool passed = false;
  bool replayed = false;  ///< compared with its own arrivals, computed serially, instead of with one rank
  std::vector<ParityRun> runs;
};

/// Runs the scenario's plan and its reference for five steps at a constant rate: with SGD at one that moves every
/// tensor (0.1), and, when the scenario trains with another optimizer, with that too (in fp64 as strictly; else by
/// losses and first-step gradients), its epsilon at least OptimizerRule::parity_epsilon. Tolerances: fp64 1e-12 (of a
/// resnet 1e-11), fp32 1e-5, bf16 and fp16 2e-2 (3e-2 with tensor parallelism). Throws RunFailure, PlanError.
VerifyResult verify(const Scenario& scenario, const RunSettings& settings, const Progress& progress = {});

/// The plan's reference: one rank, the same micro-batches.
Scenario reference_of(const Scenario& scenario);

std::string to_text(const VerifyResult& result);

}  // namespace rankscope
