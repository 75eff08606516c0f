// The resources that a run would need on this machine, known before it starts: memory of its local ranks, and a
// lower bound of the step time.
#pragma once
#include <cstdint>
#include <string>

#include "engine/plan/program/compile.hpp"
#include "engine/worker/hosts.hpp"
#include "engine/worker/worker.hpp"

namespace rankscope {

struct RunSize {
  double bytes = 0;  ///< of this host's memory: tensors of its ranks, and all ranks' programs
  /// Tensors are counted stage by stage; else as the programs place them or, of very large plans that cannot be counted
  /// so, only parameters and gradients: a lower bound.
  bool is_estimate = false;
  double step_flops = 0;  ///< of the model, over all ranks
};

/// Of ranks of which those in `here` are on this host. `device`: the computing device; on a GPU only data in the host's
/// memory count.
RunSize size_of_run(const StepProgram& step, Choice<DeviceKind> device, RankRange here);

/// The option that starts a run anyway.
inline constexpr const char* any_size_option = "--any-size";

/// Rejects a run that needs more memory than is available here (unless request.any_size), with both figures, the time
/// of a step and alternatives. No check if only a launcher knows which ranks are here. Throws PlanError.
void check_fits(const StepProgram& step, const RunRequest& request);

}  // namespace rankscope
