// A residual network's block: convolutions with batch norm and ReLU between them, and the sum with the block's input.
#include <vector>

#include "engine/execute/layers/convolution.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

/// The convolutions of a block's input: one, and if its output has another size also the shortcut's.
struct InputConvolution {
  View weight, out;  ///< in backward `out` is the result's gradient, `dweight` the weight's
  View dweight;
  kernels::Prepared<View, View, View> forward, input_gradient, weight_gradient;
};

bool has_shortcut(const SegmentSpec& segment) { return segment.parameters.size() > 1; }

std::vector<TensorName> results_of(const SegmentSpec& segment) {
  std::vector<TensorName> names{TensorName::convolved1};
  if (has_shortcut(segment)) names.push_back(TensorName::shortcut);
  return names;
}

}  // namespace

Launch conv1_forward(Binding binding) {
  Operands& operands = binding.operands;
  const std::vector<TensorName> names = results_of(binding.segment);
  std::vector<InputConvolution> convolutions(names.size());
  const View x = operands.tensor(TensorName::residual);
  for (std::size_t i = 0; i < names.size(); ++i) convolutions[i].weight = operands.parameter(static_cast<int>(i));
  for (std::size_t i = 0; i < names.size(); ++i) convolutions[i].out = operands.tensor(names[i]);
  operands.finish();

  for (InputConvolution& c : convolutions)
    c.forward = binding.prepare(&KernelSet::convolution_forward, convolution_between(x, c.weight, c.out));
  return binding.launch([x, convolutions](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    for (const InputConvolution& c : convolutions) c.forward.launch(c.out, x, c.weight, stream);
  });
}

Launch conv1_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  const std::vector<TensorName> names = results_of(binding.segment);
  std::vector<InputConvolution> convolutions(names.size());
  View x, dx;
  for (std::size_t i = 0; i < names.size(); ++i) convolutions[i].out = operands.tensor(names[i]);
  if (half.weight) x = operands.tensor(TensorName::residual);
  if (half.input) {
    for (std::size_t i = 0; i < names.size(); ++i) convolutions[i].weight = operands.parameter(static_cast<int>(i));
    dx = operands.tensor(TensorName::residual);
  }
  if (half.weight)
    for (std::size_t i = 0; i < names.size(); ++i) convolutions[i].dweight = operands.gradient(static_cast<int>(i));
  operands.finish();

  // Without a shortcut convolution the block's sum has already written the gradient of its input.
  bool begun = binding.segment.adds_to_gradient(TensorName::residual);
  for (std::size_t i = 0; i < convolutions.size(); ++i) {
    InputConvolution& c = convolutions[i];
    if (half.input) {
      auto spec = convolution_between(dx, c.weight, c.out);
      spec.accumulate = begun;
      begun = true;
      c.input_gradient = binding.prepare(&KernelSet::convolution_input_gradient, spec);
    }
    if (half.weight) {
      auto spec = convolution_between(x, c.dweight, c.out);
      spec.accumulate = binding.adds(static_cast<int>(i));
      c.weight_gradient = binding.prepare(&KernelSet::convolution_weight_gradient, spec);
    }
  }
  return binding.launch([x, dx, half, convolutions](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    for (const InputConvolution& c : convolutions) {
      if (half.weight) c.weight_gradient.launch(c.dweight, c.out, x, stream);
      if (half.input) c.input_gradient.launch(dx, c.out, c.weight, stream);
    }
  });
}

Launch norm_convolution_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View x = operands.tensor(binding.input(0));
  const View norm_weight = operands.parameter(0), norm_bias = operands.parameter(1), weight = operands.parameter(2);
  const View mean = operands.tensor(binding.output(0)), rstd = operands.tensor(binding.output(1));
  const View normed = operands.tensor(binding.output(2)), out = operands.tensor(binding.output(3));
  operands.finish();

  const auto norm = binding.prepare(&KernelSet::batch_norm_forward, batch_norm_of(x));
  const auto convolution = binding.prepare(&KernelSet::convolution_forward, convolution_between(normed, weight, out));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    norm.launch(normed, mean, rstd, x, norm_weight, norm_bias, View{}, stream);
    convolution.launch(out, normed, weight, stream);
  });
}

Launch norm_convolution_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  View x, mean, rstd, norm_weight, weight, dx, dnorm_weight, dnorm_bias, dweight;
  const View dout = operands.tensor(binding.output(3));
  if (half.input) {
    x = operands.tensor(binding.input(0));
    mean = operands.tensor(binding.output(0));
    rstd = operands.tensor(binding.output(1));
  }
  const View normed = operands.tensor(binding.output(2));
  if (half.input) {
    norm_weight = operands.parameter(0);
    operands.parameter(1);
    weight = operands.parameter(2);
    dx = operands.tensor(binding.input(0));
    dnorm_weight = operands.gradient(0);
    dnorm_bias = operands.gradient(1);
  }
  if (half.weight) dweight = operands.gradient(2);
  operands.finish();

  kernels::Prepared<View, View, View> input_gradient, weight_gradient;
  kernels::Prepared<View, View, View, View, View, View, View, View, View, View> norm;
  std::int64_t dnormed_at = 0;
  if (half.input) {
    input_gradient = binding.prepare(&KernelSet::convolution_input_gradient, convolution_between(normed, weight, dout));
    auto spec = batch_norm_of(x);
    spec.accumulate_weight = binding.adds(0);
    spec.accumulate_bias = binding.adds(1);
    norm = binding.prepare(&KernelSet::batch_norm_backward, spec);
    dnormed_at = binding.scratch.add_temporary(normed.bytes());
  }
  if (half.weight) {
    auto spec = convolution_between(normed, dweight, dout);
    spec.accumulate = binding.adds(2);
    weight_gradient = binding.prepare(&KernelSet::convolution_weight_gradient, spec);
  }
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    if (half.weight) weight_gradient.launch(dweight, dout, normed, stream);
    if (!half.input) return;
    const View dnormed{temporaries + dnormed_at, normed.type, normed.shape};
    input_gradient.launch(dnormed, dout, weight, stream);
    norm.launch(dx, dnorm_weight, dnorm_bias, View{}, dnormed, normed, x, mean, rstd, norm_weight, stream);
  });
}

Launch shortcut_sum_forward(Binding binding) {
  Operands& operands = binding.operands;
  const bool shortcut = binding.segment.parameters.size() > 2;
  BatchNormViews main, side;
  main.x = operands.tensor(TensorName::convolved3);
  const View residual = shortcut ? View{} : operands.tensor(TensorName::residual);
  if (shortcut) side.x = operands.tensor(TensorName::shortcut);
  main.weight = operands.parameter(0);
  main.bias = operands.parameter(1);
  if (shortcut) {
    side.weight = operands.parameter(2);
    side.bias = operands.parameter(3);
  }
  main.mean = operands.tensor(TensorName::mean3);
  main.rstd = operands.tensor(TensorName::rstd3);
  if (shortcut) {
    side.mean = operands.tensor(TensorName::mean_shortcut);
    side.rstd = operands.tensor(TensorName::rstd_shortcut);
  }
  const View output = operands.tensor(TensorName::output);
  operands.finish();

  auto spec = batch_norm_of(main.x);
  auto side_spec = spec;
  spec.residual = true;
  side_spec.relu = false;
  const auto norm = binding.prepare(&KernelSet::batch_norm_forward, spec);
  const auto side_norm = shortcut ? binding.prepare(&KernelSet::batch_norm_forward, side_spec)
                                  : kernels::Prepared<View, View, View, View, View, View, View>{};
  const std::int64_t side_at = binding.scratch.add_temporary(shortcut ? output.bytes() : 0);
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    View added = residual;
    if (shortcut) {
      added = {temporaries + side_at, output.type, output.shape};
      side_norm.launch(added, side.mean, side.rstd, side.x, side.weight, side.bias, View{}, stream);
    }
    norm.launch(output, main.mean, main.rstd, main.x, main.weight, main.bias, added, stream);
  });
}

Launch shortcut_sum_backward(Binding binding) {
  Operands& operands = binding.operands;
  const bool shortcut = binding.segment.parameters.size() > 2;
  BatchNormViews main, side;
  const View doutput = operands.tensor(TensorName::output);
  main.x = operands.tensor(TensorName::convolved3);
  main.mean = operands.tensor(TensorName::mean3);
  main.rstd = operands.tensor(TensorName::rstd3);
  if (shortcut) {
    side.x = operands.tensor(TensorName::shortcut);
    side.mean = operands.tensor(TensorName::mean_shortcut);
    side.rstd = operands.tensor(TensorName::rstd_shortcut);
  }
  const View output = operands.tensor(TensorName::output);
  main.weight = operands.parameter(0);
  operands.parameter(1);
  if (shortcut) {
    side.weight = operands.parameter(2);
    operands.parameter(3);
  }
  const View dmain = operands.tensor(TensorName::convolved3);
  const View dside = operands.tensor(shortcut ? TensorName::shortcut : TensorName::residual);
  main.dweight = operands.gradient(0);
  main.dbias = operands.gradient(1);
  if (shortcut) {
    side.dweight = operands.gradient(2);
    side.dbias = operands.gradient(3);
  }
  operands.finish();

  auto spec = batch_norm_of(main.x);
  auto side_spec = spec;
  spec.residual = true;
  spec.accumulate_weight = binding.adds(0);
  spec.accumulate_bias = binding.adds(1);
  const auto norm = binding.prepare(&KernelSet::batch_norm_backward, spec);
  if (!shortcut)
    return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
      norm.launch(dmain, main.dweight, main.dbias, dside, doutput, output, main.x, main.mean, main.rstd, main.weight,
                  stream);
    });
  side_spec.relu = false;  // already applied, in the gradient that the sum leaves
  side_spec.accumulate_weight = binding.adds(2);
  side_spec.accumulate_bias = binding.adds(3);
  const auto side_norm = binding.prepare(&KernelSet::batch_norm_backward, side_spec);
  const std::int64_t dadded_at = binding.scratch.add_temporary(output.bytes());
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    const View dadded{temporaries + dadded_at, output.type, output.shape};
    norm.launch(dmain, main.dweight, main.dbias, dadded, doutput, output, main.x, main.mean, main.rstd, main.weight,
                stream);
    side_norm.launch(dside, side.dweight, side.dbias, View{}, dadded, View{}, side.x, side.mean, side.rstd, side.weight,
                     stream);
  });
}

}  // namespace rankscope
