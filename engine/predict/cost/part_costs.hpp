// Costs of the parts of a model on a machine: used to balance its chunks.
#pragma once
#include "engine/plan/model/balance.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/costs.hpp"

namespace rankscope {

/// The scenario with tensor parallelism as the only division of the model: one stage, one replica, two micro-batches.
/// Its ops are those of the plan's chunks. Throws PlanError for an invalid plan.
Scenario as_one_stage(const Scenario& scenario);

/// Nanoseconds of one micro-batch that adds to gradients, of `one_stage` (as_one_stage, compiled): forward, backward,
/// recomputation, and the exchanges of tensor ranks. Blocks are equal, and each counts as their mean: in which
/// of them plan.recompute saves a product depends on where chunks begin.
PartCosts cost_of_parts(const StepProgram& one_stage, const Costs& costs);

}  // namespace rankscope
