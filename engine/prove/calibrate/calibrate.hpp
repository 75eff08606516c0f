// A calibration of the machine: the costs of its kernels for a single rank, from which any plan is predicted.
#pragma once
#include "engine/execute/run/platform.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/calibration.hpp"

namespace rankscope {

/// The cost of every op of `rank`'s program (StepTrace::cpu_ns), run without its peers (communication does
/// nothing); `steps` samples each, after one warm-up step. Samples carry `rank`.
std::vector<CostSample> measure_alone(const StepProgram& step, int rank, int steps,
                                      std::shared_ptr<const Platform> platform = open_platform("cpu"));

/// The same by `copies` (1 or more) threads at the same time, each with its own run: cores share caches, memory and a
/// power budget. Returns the samples of all. Throws what one of them throws.
std::vector<CostSample> measure_alone_at_once(const StepProgram& step, int rank, int steps, int copies,
                                              std::shared_ptr<const Platform> platform);

/// How many ranks a host computes at a time with that platform: as many as it has cores for; for a GPU, where costs are
/// those of a separate device, one.
int ranks_at_once(const Platform& platform);

/// Costs of the plan's ops on this machine, predicted before it runs: a model of a few blocks (as many as do not stay
/// in a core's caches) at the plan's micro-batch size is trained for a few steps (some tenths of a second) by one rank
/// without peers, on as many cores as the plan's ranks will use (ranks_at_once; at most four), and the cost of
/// each of its segments applies wherever the segment recurs. Optimizer ops, and copies between device and host, which
/// here are one memory, cost in proportion to the bytes that they access. Links are the cluster's, and collectives by
/// plan.collective. Of tensor ranks the first is measured, with its share of the block.
Costs predict_costs(const StepProgram& step, std::shared_ptr<const Platform> platform = open_platform("cpu"));

}  // namespace rankscope
