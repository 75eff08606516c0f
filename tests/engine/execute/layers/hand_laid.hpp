// A whole model on one rank with buffers laid out by hand: does without the executor what it does from a program, so
// that layers can be tested and timed alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/execute/layers/bind.hpp"
#include "engine/plan/model/model.hpp"

namespace rankscope::test {

class HandLaid {
 public:
  /// `separate_gradients`: every activation's gradient has its own buffer and can be read afterwards; otherwise blocks
  /// share buffers. `tensor`: the rank's coordinate in its tensor group; the caller does the group's exchanges
  /// (split_gradient_test.cpp).
  HandLaid(Model model, const kernels::KernelSet& kernels, std::uint64_t seed, bool separate_gradients, int tensor = 0);
  HandLaid(const HandLaid&) = delete;
  HandLaid& operator=(const HandLaid&) = delete;

  const Model& model() const { return model_; }
  void set_batch(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets);

  /// Segments [first, last) of the model.
  void forward(const LaunchContext& context, std::size_t first, std::size_t last);
  /// All segments; returns the micro-batch's loss, summed, in nats.
  double forward(const LaunchContext& context);
  /// All segments, last to first. `add`: add to the parameters' gradients instead of overwriting them.
  void backward(const LaunchContext& context, bool add);
  /// The same in two halves: the input gradients of all segments, then their weight gradients. Needs
  /// `separate_gradients`, because the activations' gradients are read again.
  void split_backward(const LaunchContext& context, bool add);
  /// The backward of one segment; does nothing if the segment has none.
  void backward_of(std::size_t segment, const LaunchContext& context, bool add);

  View parameter(int index) const { return parameters_.at(static_cast<std::size_t>(index)); }
  View gradient(int index) const { return gradients_.at(static_cast<std::size_t>(index)); }
  View activation(const SegmentSpec& segment, TensorName name) const;
  View activation_gradient(const SegmentSpec& segment, TensorName name) const;
  std::int64_t workspace_bytes() const { return workspace_.bytes(); }

 private:
  /// Identifies a tensor's buffer. A block's residual is the output of the block before.
  using Key = std::pair<int, TensorName>;
  Key key_of(const SegmentSpec& segment, TensorName name) const;
  View reserve(const Shape& shape, DType type);
  void bind(const kernels::KernelSet& kernels);
  void bind_split(const kernels::KernelSet& kernels);

  Model model_;
  bool separate_gradients_;
  std::vector<std::shared_ptr<std::byte[]>> memory_;
  std::vector<View> parameters_, gradients_;
  std::map<Key, View> activations_, activation_gradients_;
  Workspace workspace_;
  std::vector<Launch> forward_, backward_writing_, backward_adding_, split_writing_, split_adding_;
};

/// Tokens and targets of a batch, uniformly random.
struct Batch {
  std::vector<std::int32_t> tokens, targets;
};
Batch random_batch(std::int64_t tokens, int vocabulary, std::uint64_t seed);

}  // namespace rankscope::test
