// What computes a rank's ops: it binds each compute op of a program to something that can be launched every step.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "engine/layers/bind.hpp"
#include "engine/program/compile.hpp"
#include "engine/run/arena.hpp"
#include "kernels/kernel_set.hpp"

namespace rankscope {

/// What a rank's compute lane learns in a step beside its tensors.
struct StepValues {
  double loss_sum = 0;     ///< nats over the tokens of this rank's samples; only where the head is
  double square_norm = 0;  ///< of the gradients this rank counts
};

/// A compute op, or a copy between host and device, bound: runs it for that step on the calling thread.
using BoundCompute = std::function<void(std::uint32_t step)>;

class ComputeDevice {
 public:
  virtual ~ComputeDevice() = default;
  virtual BoundCompute bind(const Op& op) = 0;
  /// Once, after all ops are bound.
  virtual void reserve() = 0;
  /// Memory beside the arena, known once all ops are bound.
  virtual std::int64_t workspace_bytes() const = 0;
  /// The same in the host's memory, of ops that the host runs.
  virtual std::int64_t host_workspace_bytes() const = 0;
  /// Initial weights and optimizer states, written into the arena.
  virtual void initialise() = 0;
};

/// Computes for real with that kernel set. All references must outlive the device and what it binds; `values` is
/// written by the compute lane. `updates_left_out` of the steps before did not count for the optimizer; a loss scale's
/// own state has that itself.
std::unique_ptr<ComputeDevice> kernel_device(const StepProgram& step, const RankProgram& program, const Arena& arena,
                                             const kernels::KernelSet& kernels, StepValues& values,
                                             std::int64_t updates_left_out = 0);

/// Sleeps what `cost_ns` says of each op.
std::unique_ptr<ComputeDevice> sleep_device(std::function<std::int64_t(const Op&)> cost_ns);

}  // namespace rankscope
