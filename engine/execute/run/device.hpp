// Computes a rank's ops: binds each compute op of a program to something that can be launched every step.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "engine/execute/layers/bind.hpp"
#include "engine/execute/run/arena.hpp"
#include "engine/execute/run/lane_queues.hpp"
#include "engine/execute/run/platform.hpp"
#include "engine/plan/program/compile.hpp"
#include "kernels/tensor/magnitude.hpp"

namespace rankscope {

/// The values that a rank's compute lane produces in a step, in addition to its tensors.
struct StepValues {
  double loss_sum = 0;     ///< nats over the tokens of this rank's samples; only on ranks with the head
  double square_norm = 0;  ///< of the gradients this rank counts, multiplied by loss_scale if that is not 0
  double loss_scale = 0;   ///< the factor of its gradients; 0: none is in use
  /// The number of elements of these gradients by magnitude (kernels/tensor/magnitude.hpp), in steps that request it.
  std::array<double, magnitude_bins> magnitudes{};
};

/// A bound compute op, or copy between host and device: launches it for that step, on its lane's queue.
using BoundCompute = std::function<void(std::uint32_t step)>;

class ComputeDevice {
 public:
  virtual ~ComputeDevice() = default;
  virtual BoundCompute bind(const Op& op) = 0;
  /// Called once, after all ops are bound.
  virtual void reserve() = 0;
  /// Memory in addition to the arena, known once all ops are bound.
  virtual std::int64_t workspace_bytes() const = 0;
  /// The same in the host's memory, for ops that the host runs.
  virtual std::int64_t host_workspace_bytes() const = 0;
  /// Initial weights and optimizer states, written into the arena.
  virtual void initialise() = 0;
  /// After the last op of a step: enqueues a copy of the step's sums to `values` (memory that the host can read), and
  /// sets the sums to zero for the next step.
  virtual void report_values(StepValues& values, Queue& queue) = 0;
};

/// Computes for real on that platform. All references must outlive the device and the launches it binds.
/// `skipped_updates` of earlier steps did not count for the optimizer; a loss scale has that number in its own state.
/// Throws kernels::Unsupported for ops that the platform cannot run.
std::unique_ptr<ComputeDevice> kernel_device(const StepProgram& step, const RankProgram& program, const Arena& arena,
                                             const Platform& platform, LaneQueues& queues,
                                             std::int64_t skipped_updates = 0);

/// Sleeps `cost_ns` for each op.
std::unique_ptr<ComputeDevice> sleep_device(std::function<std::int64_t(const Op&)> cost_ns);

}  // namespace rankscope
