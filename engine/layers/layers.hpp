// One function for the forward and one for the backward, whole or half, of each kind of segment. Internal to
// engine/layers; bind.cpp chooses among them.
#pragma once
#include "engine/layers/bind.hpp"
#include "engine/layers/operands.hpp"

namespace rankscope {

/// What a backward computes: the whole, or one half of it.
struct Half {
  bool input = true, weight = true;
};

/// What all of them are given.
struct Binding {
  const Model& model;
  const SegmentSpec& segment;
  const kernels::KernelSet& kernels;
  Workspace& workspace;
  Operands operands;
  std::span<const IntoGradient> into;  ///< backward only: one for each of the segment's parameters
  Half half;                           ///< backward only

  std::int64_t tokens() const { return model.tokens(); }
  std::int64_t width() const { return model.spec.width; }
  bool adds(int parameter) const { return into[static_cast<std::size_t>(parameter)] == IntoGradient::add; }
  double dropout() const { return model.spec.dropout; }
};

Launch embedding_forward(Binding binding);
Launch embedding_backward(Binding binding);  ///< no input gradient: nothing comes before it
Launch qkv_forward(Binding binding);
Launch qkv_backward(Binding binding);
Launch attention_forward(Binding binding);
Launch attention_backward(Binding binding);  ///< all input gradient: it has no parameters
Launch projection_forward(Binding binding);
Launch projection_backward(Binding binding);
Launch up_forward(Binding binding);
Launch up_backward(Binding binding);
Launch down_forward(Binding binding);
Launch down_backward(Binding binding);
Launch head_forward(Binding binding);
Launch head_backward(Binding binding);

/// A launch of kernels one after the other: `run` gets the context, the scratch memory's begin (temporaries) and the
/// kernels' stream behind it.
template <class Run>
Launch make_launch(Workspace& workspace, const ScratchLayout& scratch, Run run) {
  workspace.require(scratch.bytes());
  return [&workspace, offset = scratch.kernel_offset(), run = std::move(run)](const LaunchContext& context) {
    const kernels::Stream stream{workspace.data() + offset, nullptr};
    run(context, workspace.data(), stream);
  };
}

/// Dropout sites: the embedding's is 0, block b's projection 1 + 2b and its MLP 2 + 2b.
inline std::uint32_t dropout_site(const SegmentSpec& segment) {
  if (segment.kind == Segment::embedding) return 0;
  return static_cast<std::uint32_t>(2 * segment.block + (segment.kind == Segment::projection ? 1 : 2));
}
inline kernels::DropoutDraw dropout_draw(const LaunchContext& context, std::int64_t tokens_per_sample) {
  return {context.seed, context.step, context.first_sample * tokens_per_sample};
}

}  // namespace rankscope
