// One calibration of the machine: what its kernels cost for one rank alone, from which any plan is predicted.
#pragma once
#include "engine/program/compile.hpp"
#include "engine/run/platform.hpp"
#include "engine/simulate/calibration.hpp"

namespace rankscope {

/// What every op of `rank`'s program costs (StepTrace::cpu_ns), run alone without its peers (communication does
/// nothing); `steps` samples each, after one warm-up step. Samples carry `rank`.
std::vector<CostSample> measure_alone(const StepProgram& step, int rank, int steps,
                                      std::shared_ptr<const Platform> platform = open_platform("cpu"));

/// Costs of the plan's ops on this machine, predicted before it runs: a model of two blocks at the plan's micro-batch
/// size is trained alone for a few steps (some tenths of a second), and the cost of each of its segments applies
/// wherever the segment recurs. Optimizer ops, and copies between device and host, which here are one memory, cost in
/// proportion to the bytes they touch. Links are the cluster's, and
/// collectives by plan.collective. Of tensor ranks the first is measured, with its share of the block.
Costs predict_costs(const StepProgram& step, std::shared_ptr<const Platform> platform = open_platform("cpu"));

/// FLOP/s of a large matrix product: the peak that MFU is a share of.
double measure_peak_flops(DType type, const Platform& platform);

}  // namespace rankscope
