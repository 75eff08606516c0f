// One function for the forward and one for the backward, complete or half, of each layer. Internal to
// engine/execute/layers; bind.cpp chooses.
#pragma once
#include "engine/execute/layers/bind.hpp"
#include "engine/execute/layers/operands.hpp"

namespace rankscope {

/// What a backward computes: everything, or one half of it.
struct Half {
  bool input = true, weight = true;
};

/// The arguments of all these functions.
struct Binding {
  /// The segment's layer, with its options.
  template <class Kind>
  const Kind& layer() const {
    return std::get<Kind>(segment.layer);
  }

  const Model& model;
  const SegmentSpec& segment;
  const kernels::KernelSet& kernels;
  Workspace& workspace;
  Operands operands;
  std::span<const IntoGradient> into;  ///< backward only: one for each of the segment's parameters
  Half half;                           ///< backward only
  ScratchLayout scratch{};             ///< of the kernels that are prepared

  std::int64_t tokens() const { return model.tokens(); }
  std::int64_t width() const { return model.spec.width; }
  bool adds(int parameter) const { return into[parameter] == IntoGradient::add; }
  double dropout() const { return model.spec.dropout; }
  /// Rows of the residual stream that this rank has.
  std::int64_t stream_rows() const { return model.stream_tokens(); }
  /// The names of the segment's operands: several segments may share a function, and names differ with sequence
  /// parallelism.
  TensorName input(std::size_t i) const { return segment.inputs[i].name; }
  TensorName output(std::size_t i) const { return segment.outputs[i].name; }

  /// A kernel of the launch; its scratch is counted.
  template <class Spec, class... Arguments>
  kernels::Prepared<Arguments...> prepare(kernels::OpEntry<Spec, Arguments...> kernels::KernelSet::*op,
                                          const Spec& spec) {
    auto kernel = kernels.prepare(op, spec);
    scratch.add_kernel(kernel.workspace_bytes);
    return kernel;
  }
  /// Kernels one after the other: `run` gets the context, the begin of the scratch memory (temporaries) and the
  /// kernels' stream after it.
  template <class Run>
  Launch launch(Run run) {
    workspace.require(scratch.bytes());
    return [&to = workspace, offset = scratch.kernel_offset(), run = std::move(run)](const LaunchContext& context) {
      run(context, to.data(), to.stream(offset));
    };
  }
};

Launch embedding_forward(Binding binding);
Launch embedding_backward(Binding binding);    ///< no input gradient: it is the first segment
Launch norm_product_forward(Binding binding);  ///< qkv, up
Launch norm_product_backward(Binding binding);
Launch attention_forward(Binding binding);
Launch attention_backward(Binding binding);        ///< only an input gradient: it has no parameters
Launch residual_product_forward(Binding binding);  ///< projection, down
Launch residual_product_backward(Binding binding);
Launch head_forward(Binding binding);
Launch head_backward(Binding binding);

// Of tensor ranks.
Launch token_embedding_forward(Binding binding);
Launch token_embedding_backward(Binding binding);
Launch positions_forward(Binding binding);
Launch positions_backward(Binding binding);
Launch stream_norm_forward(Binding binding);  ///< attention_norm, final_norm
Launch stream_norm_backward(Binding binding);
Launch sum_norm_forward(Binding binding);
Launch sum_norm_backward(Binding binding);
Launch sum_forward(Binding binding);
Launch sum_backward(Binding binding);
Launch split_product_forward(Binding binding);    ///< qkv, up
Launch partial_product_forward(Binding binding);  ///< projection, down
Launch split_product_backward(Binding binding);
Launch partial_product_backward(Binding binding);
Launch split_head_forward(Binding binding);
Launch split_head_backward(Binding binding);
Launch loss_forward(Binding binding);

// Of residual networks (engine/plan/model/resnet_rows.hpp).
Launch stem_forward(Binding binding);
Launch stem_backward(Binding binding);
Launch pool_forward(Binding binding);
Launch pool_backward(Binding binding);
Launch conv1_forward(Binding binding);
Launch conv1_backward(Binding binding);
Launch norm_convolution_forward(Binding binding);  ///< conv2, conv3
Launch norm_convolution_backward(Binding binding);
Launch shortcut_sum_forward(Binding binding);
Launch shortcut_sum_backward(Binding binding);
Launch classifier_forward(Binding binding);
Launch classifier_backward(Binding binding);

/// Dropout sites: the embedding's is 0, block b's projection 1 + 2b and its MLP 2 + 2b.
inline std::uint32_t dropout_site(const SegmentSpec& segment) {
  return segment.block < 0 ? 0 : static_cast<std::uint32_t>(2 * segment.block + segment.dropout_site);
}
/// Of the rows of the residual stream that this rank has.
inline kernels::DropoutSpec dropout_of(const Binding& binding) {
  return {.type = binding.model.type,
          .rows = binding.stream_rows(),
          .width = binding.width(),
          .probability = binding.dropout(),
          .site = dropout_site(binding.segment)};
}
inline kernels::DropoutDraw dropout_draw(const LaunchContext& context, std::int64_t tokens_per_sample) {
  return {context.seed, context.mini_batch.value_or(context.step), context.first_sample * tokens_per_sample};
}
/// The same for a tensor rank's rows of the residual stream.
inline kernels::DropoutDraw stream_dropout_draw(const LaunchContext& context, const Model& model) {
  kernels::DropoutDraw draw = dropout_draw(context, model.spec.context);
  draw.first_row += model.first_stream_token(context.tensor);
  return draw;
}

/// A segment's norm: the operands that it reads or writes, and its kernels. An RMS norm has no mean and no bias, whose
/// views stay empty.
struct NormViews {
  NormKind kind;
  View mean{}, rstd{}, weight{}, bias{}, dweight{}, dbias{};

  /// How many statistics and how many parameters it has.
  int count() const { return kind == NormKind::layer ? 2 : 1; }
  /// The segment's parameters from `first` on.
  void take_parameters(Binding& binding, int first) {
    weight = binding.operands.parameter(first);
    if (kind == NormKind::layer) bias = binding.operands.parameter(first + 1);
  }
  void take_gradients(Binding& binding, int first) {
    dweight = binding.operands.gradient(first);
    if (kind == NormKind::layer) dbias = binding.operands.gradient(first + 1);
  }
  /// The segment's outputs from `first` on.
  void take_statistics(Binding& binding, std::size_t first) {
    if (kind == NormKind::layer) mean = binding.operands.tensor(binding.output(first++));
    rstd = binding.operands.tensor(binding.output(first));
  }
  /// Of the rows of the residual stream that this rank has.
  kernels::NormSpec spec(const Binding& binding) const;
  /// `first`: of its parameters.
  kernels::NormSpec backward_spec(const Binding& binding, int first, bool residual) const;
};

/// A product's bias, if it has one: the segment's parameter `index`.
inline View take_bias(Binding& binding, bool bias, int index) {
  return bias ? binding.operands.parameter(index) : View{};
}
inline View take_bias_gradient(Binding& binding, bool bias, int index) {
  return bias ? binding.operands.gradient(index) : View{};
}

/// A product and the activation after it.
class ActivatedProduct {
 public:
  ActivatedProduct(Binding& binding, const kernels::LinearSpec& spec, Activation activation);
  /// `result`: of the product; `activated` is empty without activation.
  void launch(const View& activated, const View& result, const View& x, const View& weight, const View& bias,
              const kernels::Stream& stream) const;

 private:
  kernels::Prepared<View, View, View, View, View> linear_, gelu_;
  kernels::Prepared<View, View> swiglu_;
};

/// The gradient of a product's input, or, through the activation that computed it, of the activation's input.
class InputGradient {
 public:
  InputGradient() = default;
  InputGradient(Binding& binding, const kernels::LinearSpec& spec, Activation through);
  /// `before`: the input of the activation. `temporaries`: the begin of the launch's scratch memory.
  void launch(const View& dx, const View& dy, const View& weight, const View& before, std::byte* temporaries,
              const kernels::Stream& stream) const;

 private:
  kernels::LinearSpec spec_;
  std::int64_t activated_at_ = 0;
  kernels::Prepared<View, View, View> plain_;
  kernels::Prepared<View, View, View, View> gelu_;
  kernels::Prepared<View, View, View> swiglu_;
};

/// The gradient through dropout, on a tensor rank's rows of the residual stream: a copy without dropout.
class DroppedGradient {
 public:
  explicit DroppedGradient(Binding& binding);
  void launch(const View& dx, const View& dy, const LaunchContext& context, const kernels::Stream& stream) const;

 private:
  const Model* model_;
  const Workspace* workspace_;
  kernels::Prepared<View, View, View, kernels::DropoutDraw> dropout_;
};

}  // namespace rankscope
