#include <dnnl.hpp>

#include "kernels/cpu/convolution.hpp"
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/onednn.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {
namespace {

using dnnl::memory;

/// Memory descriptors for oneDNN. x and y keep their layout; oneDNN chooses that of the weights.
struct ConvolutionTensors {
  memory::desc x, y, w, weights;  ///< w: in our layout; weights: of the same type in any layout
  memory::dims strides, padding;
};

constexpr auto algorithm = dnnl::algorithm::convolution_direct;  // Winograd's algorithm is less accurate
constexpr auto training = dnnl::prop_kind::forward_training;

// oneDNN 3 (Ubuntu 24.04) has no operation descriptors.
#if DNNL_VERSION_MAJOR >= 3
using Forward = dnnl::convolution_forward::primitive_desc;
Forward describe_forward(const dnnl::engine& engine, const ConvolutionTensors& t, const memory::desc& weights,
                         const dnnl::primitive_attr& attributes) {
  return {engine, training, algorithm, t.x, weights, t.y, t.strides, t.padding, t.padding, attributes};
}
dnnl::convolution_backward_data::primitive_desc describe_input_gradient(const dnnl::engine& engine,
                                                                        const ConvolutionTensors& t,
                                                                        const Forward& forward,
                                                                        const dnnl::primitive_attr& attributes) {
  return {engine, algorithm, t.x, t.weights, t.y, t.strides, t.padding, t.padding, forward, attributes};
}
dnnl::convolution_backward_weights::primitive_desc describe_weight_gradient(const dnnl::engine& engine,
                                                                            const ConvolutionTensors& t,
                                                                            const Forward& forward,
                                                                            const dnnl::primitive_attr& attributes) {
  return {engine, algorithm, t.x, t.weights, t.y, t.strides, t.padding, t.padding, forward, attributes};
}
#else
using Forward = dnnl::convolution_forward::primitive_desc;
Forward describe_forward(const dnnl::engine& engine, const ConvolutionTensors& t, const memory::desc& weights,
                         const dnnl::primitive_attr& attributes) {
  return {{training, algorithm, t.x, weights, t.y, t.strides, t.padding, t.padding}, attributes, engine};
}
dnnl::convolution_backward_data::primitive_desc describe_input_gradient(const dnnl::engine& engine,
                                                                        const ConvolutionTensors& t,
                                                                        const Forward& forward,
                                                                        const dnnl::primitive_attr& attributes) {
  return {{algorithm, t.x, t.weights, t.y, t.strides, t.padding, t.padding}, attributes, engine, forward};
}
dnnl::convolution_backward_weights::primitive_desc describe_weight_gradient(const dnnl::engine& engine,
                                                                            const ConvolutionTensors& t,
                                                                            const Forward& forward,
                                                                            const dnnl::primitive_attr& attributes) {
  return {{algorithm, t.x, t.weights, t.y, t.strides, t.padding, t.padding}, attributes, engine, forward};
}
#endif

class OneDnnConvolution {
 public:
  OneDnnConvolution(const ConvolutionSpec& spec, ConvolutionPass pass, const Options& options)
      : spec_(spec), pass_(pass), threads_(options.threads), loops_(loops_for(spec.type, options)) {
    using tag = memory::format_tag;
    const ThreadScope scope(threads_);
    const auto type = data_type_of(spec.type);
    // dw is fp32 for every type.
    const auto of_weights = pass == ConvolutionPass::weight_gradient ? memory::data_type::f32 : type;
    const memory::dims w{spec.out, spec.in, spec.kernel, spec.kernel};
    const ConvolutionTensors tensors{
        .x = memory::desc({spec.samples, spec.in, spec.height, spec.width}, type, tag::nhwc),
        .y = memory::desc({spec.samples, spec.out, spec.out_height(), spec.out_width()}, type, tag::nhwc),
        .w = memory::desc(w, of_weights, tag::ohwi),
        .weights = memory::desc(w, of_weights, tag::any),
        .strides = {spec.stride, spec.stride},
        .padding = {spec.padding, spec.padding}};
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const auto forward = describe_forward(convolution_.engine(), tensors, memory::desc(w, type, tag::any), attributes);
    switch (pass) {
      case ConvolutionPass::forward:
        prepare<dnnl::convolution_forward>(forward, tensors, {DNNL_ARG_DST, DNNL_ARG_SRC, DNNL_ARG_WEIGHTS});
        break;
      case ConvolutionPass::input_gradient:
        prepare<dnnl::convolution_backward_data>(
            describe_input_gradient(convolution_.engine(), tensors, forward, attributes), tensors,
            {DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS});
        break;
      case ConvolutionPass::weight_gradient:
        prepare<dnnl::convolution_backward_weights>(
            describe_weight_gradient(convolution_.engine(), tensors, forward, attributes), tensors,
            {DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST, DNNL_ARG_SRC});
        break;
    }
  }

  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  bool optimised() const { return optimised_; }

  void run(View result, View left, View right, const Stream& stream) const {
    const ThreadScope scope(threads_);
    std::byte *weights = stream.workspace + weights_, *sum = stream.workspace + sum_;
    if (pass_ == ConvolutionPass::weight_gradient) {
      convolve(weights, left.data, right.data, stream);
      reorder(result.data, weights, stream);
      return;
    }
    const bool adds = pass_ == ConvolutionPass::input_gradient && spec_.accumulate;
    reorder(weights, right.data, stream);
    convolve(adds ? sum : result.data, left.data, weights, stream);
    if (adds) add(result, sum);
  }

 private:
  /// The primitive, its arguments (those of the op, in its order) and the weights' layout conversion.
  template <class Primitive>
  void prepare(const typename Primitive::primitive_desc& described, const ConvolutionTensors& tensors,
               const int (&arguments)[3]) {
    optimised_ = cpu::optimised(described.impl_info_str());
    const bool of_weights = pass_ == ConvolutionPass::weight_gradient;
    const memory::desc chosen = weights_of(described);
    const memory::desc operands[3] = {of_weights                          ? chosen
                                      : pass_ == ConvolutionPass::forward ? tensors.y
                                                                          : tensors.x,
                                      pass_ == ConvolutionPass::forward ? tensors.x : tensors.y,
                                      of_weights ? tensors.x : chosen};
    convolution_.set(Primitive(described));
    for (int i = 0; i < 3; ++i) convolution_.add(arguments[i], operands[i]);
    convolution_.add(DNNL_ARG_SCRATCHPAD, described.scratchpad_desc());

    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (of_weights && spec_.accumulate) {
      dnnl::post_ops after;
      after.append_sum(1.0f);
      attributes.set_post_ops(after);
    }
    const memory::desc &from = of_weights ? chosen : tensors.w, &to = of_weights ? tensors.w : chosen;
    const dnnl::reorder::primitive_desc reorder(reorder_.engine(), from, reorder_.engine(), to, attributes);
    reorder_.set(dnnl::reorder(reorder));
    reorder_.add(DNNL_ARG_TO, to);
    reorder_.add(DNNL_ARG_FROM, from);
    reorder_.add(DNNL_ARG_SCRATCHPAD, reorder.scratchpad_desc());

    const auto bytes = [](const memory::desc& d) { return aligned(static_cast<std::int64_t>(d.get_size())); };
    weights_ = std::max(bytes(described.scratchpad_desc()), bytes(reorder.scratchpad_desc()));
    sum_ = weights_ + bytes(chosen);
    const bool adds = pass_ == ConvolutionPass::input_gradient && spec_.accumulate;
    workspace_bytes_ = sum_ + (adds ? bytes(tensors.x) : 0);
  }
  static memory::desc weights_of(const Forward& forward) { return forward.weights_desc(); }
  static memory::desc weights_of(const dnnl::convolution_backward_data::primitive_desc& d) { return d.weights_desc(); }
  static memory::desc weights_of(const dnnl::convolution_backward_weights::primitive_desc& d) {
    return d.diff_weights_desc();
  }

  void convolve(void* result, const void* left, const void* right, const Stream& stream) const {
    const void* handles[] = {result, left, right, stream.workspace};
    convolution_.run(handles);
  }
  void reorder(void* to, const void* from, const Stream& stream) const {
    const void* handles[] = {to, from, stream.workspace};
    reorder_.run(handles);
  }
  /// oneDNN's gradient of x cannot be accumulated.
  void add(View dx, const std::byte* sum) const {
    const std::int64_t row = spec_.width * spec_.in;
    parallel_for(threads_, spec_.samples * spec_.height, [&](std::int64_t first, std::int64_t last, int) {
      std::byte* to = at(dx, first * row);
      loops_.add(to, to, sum + first * row * bytes_of(spec_.type), (last - first) * row);
    });
  }

  ConvolutionSpec spec_;
  ConvolutionPass pass_;
  int threads_;
  const Loops& loops_;
  OneDnnCall convolution_, reorder_;
  bool optimised_ = false;
  std::int64_t weights_ = 0, sum_ = 0, workspace_bytes_ = 0;  ///< offsets in the workspace
};

}  // namespace

std::optional<Prepared<View, View, View>> onednn_convolution(const ConvolutionSpec& spec, ConvolutionPass pass,
                                                             const Options& options) {
  try {
    auto convolution = std::make_shared<const OneDnnConvolution>(spec, pass, options);
    if (!convolution->optimised()) return std::nullopt;
    return Prepared<View, View, View>{convolution->workspace_bytes(),
                                      [convolution](View result, View left, View right, const Stream& stream) {
                                        convolution->run(result, left, right, stream);
                                      }};
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

}  // namespace rankscope::kernels::cpu
