// What several layers have: norms, and products with the activation after or before them.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {

using kernels::KernelSet;

kernels::NormSpec NormViews::spec(const Binding& binding) const {
  kernels::NormSpec spec{.type = binding.model.type, .rows = binding.stream_rows(), .width = binding.width()};
  spec.rms = kind == NormKind::rms;
  if (spec.rms) spec.epsilon = binding.model.spec.norm_epsilon;
  return spec;
}

kernels::NormSpec NormViews::backward_spec(const Binding& binding, int first, bool residual) const {
  kernels::NormSpec backward = spec(binding);
  backward.residual = residual;
  backward.accumulate_weight = binding.adds(first);
  backward.accumulate_bias = kind == NormKind::layer && binding.adds(first + 1);
  return backward;
}

ActivatedProduct::ActivatedProduct(Binding& binding, const kernels::LinearSpec& spec, Activation activation) {
  if (activation == Activation::gelu)
    gelu_ = binding.prepare(&KernelSet::linear_gelu_forward, spec);
  else
    linear_ = binding.prepare(&KernelSet::linear_forward, spec);
  if (activation == Activation::swiglu)
    swiglu_ = binding.prepare(&KernelSet::swiglu_forward, {spec.type, spec.rows, spec.out / 2});
}

void ActivatedProduct::launch(const View& activated, const View& result, const View& x, const View& weight,
                              const View& bias, const kernels::Stream& stream) const {
  if (gelu_.launch) return gelu_.launch(activated, result, x, weight, bias, stream);
  linear_.launch(result, x, weight, bias, View{}, stream);
  if (swiglu_.launch) swiglu_.launch(activated, result, stream);
}

InputGradient::InputGradient(Binding& binding, const kernels::LinearSpec& spec, Activation through) : spec_(spec) {
  if (through == Activation::gelu)
    gelu_ = binding.prepare(&KernelSet::linear_gelu_input_gradient, spec);
  else
    plain_ = binding.prepare(&KernelSet::linear_input_gradient, spec);
  if (through != Activation::swiglu) return;
  swiglu_ = binding.prepare(&KernelSet::swiglu_backward, {spec.type, spec.rows, spec.in});
  activated_at_ = binding.scratch.add_temporary(spec.rows * spec.in * bytes_of(spec.result_type));
}

void InputGradient::launch(const View& dx, const View& dy, const View& weight, const View& before,
                           std::byte* temporaries, const kernels::Stream& stream) const {
  if (gelu_.launch) return gelu_.launch(dx, dy, weight, before, stream);
  if (!swiglu_.launch) return plain_.launch(dx, dy, weight, stream);
  const View dactivated{temporaries + activated_at_, spec_.result_type, {spec_.rows, spec_.in}};
  plain_.launch(dactivated, dy, weight, stream);
  swiglu_.launch(dx, dactivated, before, stream);
}

}  // namespace rankscope
