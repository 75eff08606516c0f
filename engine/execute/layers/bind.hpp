// Binding: from a segment and its operands in memory to something that can be launched again and again.
//
// Operand order is the contract in engine/plan/model/model.hpp. Binding does everything that is needed only once
// (oneDNN primitives, workspaces); launching allocates nothing.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/plan/model/model.hpp"
#include "kernels/device/host.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

/// The values that change between launches of a bound op.
struct LaunchContext {
  std::uint64_t step = 0;  ///< counted from 0
  std::uint64_t seed = 0;  ///< TrainSpec::seed: dropout masks are drawn with it
  /// The number of the mini-batch, counted from 0, if each micro-batch is a separate mini-batch; otherwise empty: the
  /// step. Dropout masks are drawn with it.
  std::optional<std::uint64_t> mini_batch{};
  std::int64_t first_sample = 0;  ///< global index of the micro-batch's first sample: dropout masks are drawn with it
  double loss_scale = 1;          ///< the loss's gradient is multiplied by it, so that fp16 can represent the others
  /// The number of updates before this one: fewer than `step` if an overflow skipped some.
  std::optional<std::uint64_t> update{};
  std::int64_t global_tokens = 1;  ///< tokens of the complete step: the loss gradient is divided by it
  int tensor = 0;                  ///< the rank's coordinate in its tensor group: selects its rows and words
};

/// A launch: runs on the calling thread, or is enqueued by it if its workspace's queue is a GPU's.
using Launch = std::function<void(const LaunchContext&)>;

/// The queue of a compute lane, and scratch memory that its ops share, since they never run at the same time. Grows
/// while binding, reserved once before the first launch; counted in the ledger as `workspace`. Launches keep a
/// reference to it: it must outlive them and must not move.
class Workspace {
 public:
  /// Ensures at least this many bytes.
  void require(std::int64_t bytes);
  std::int64_t bytes() const { return bytes_; }
  /// Call once after all binding; afterwards data() is valid, aligned to 256 bytes. Throws std::bad_alloc, DeviceError.
  void reserve(Device& device, Queue& queue);
  /// The same in the host's memory, for launches that run on the calling thread.
  void reserve();
  std::byte* data() const { return data_.get(); }
  Queue& queue() const { return queue_ != nullptr ? *queue_ : calling_thread_; }
  /// For kernels whose scratch begins at `offset`.
  kernels::Stream stream(std::int64_t offset = 0) const { return {data() + offset, queue().handle()}; }

 private:
  std::int64_t bytes_ = 0;
  Memory data_;
  Queue* queue_ = nullptr;  ///< null: only the calling thread
  mutable HostQueue calling_thread_;
};

/// How a backward stores the gradient of a parameter: the first micro-batch of a step writes it, the others add. (A
/// tied embedding's backward also adds in the first, to the gradient that the head has written on the same rank.)
enum class IntoGradient : std::uint8_t { write, add };

/// The forward of a segment. `operands`: inputs, parameters, outputs, in SegmentSpec's order, with the shapes and types
/// of their specifications. Throws kernels::Unsupported if the set lacks an op, std::invalid_argument if an operand
/// does not fit.
Launch bind_forward(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                    const kernels::KernelSet& kernels, Workspace& workspace);

/// The halves of a split backward, with the operands that SegmentSpec lists for each. `into` has one entry for each of
/// segment.input_parameters or segment.weight_parameters. Both together compute the same as bind_backward's launch,
/// with the same kernels on the same operands, so the results are bit-identical. Throw as bind_forward does, also if
/// the segment has no such half.
Launch bind_input_gradient(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                           std::span<const IntoGradient> into, const kernels::KernelSet& kernels, Workspace& workspace);
Launch bind_weight_gradient(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                            std::span<const IntoGradient> into, const kernels::KernelSet& kernels,
                            Workspace& workspace);

/// The backward (input and weight gradients together) of a segment. `operands`: gradients of gradient_inputs, kept,
/// parameters, gradients of gradient_outputs, gradients of the parameters. A gradient of an activation has its tensor's
/// shape and type; a gradient of a parameter has accumulation_type(model.type). `into` has one entry for each of
/// segment.parameters. Throws as bind_forward does.
Launch bind_backward(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                     std::span<const IntoGradient> into, const kernels::KernelSet& kernels, Workspace& workspace);

}  // namespace rankscope
