// The part of a residual network before its blocks: the first convolution, of the images' bytes, and its batch norm,
// ReLU and max pooling.
#include "engine/execute/layers/convolution.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

/// The images as numbers: a temporary, computed again for the weight gradient, since only the bytes are stored.
struct Pixels {
  View view;
  std::int64_t at = 0;
  kernels::Prepared<View, View> convert;

  Pixels(Binding& binding, const View& images) : view{nullptr, binding.model.type, images.shape} {
    at = binding.scratch.add_temporary(view.bytes());
    convert =
        binding.prepare(&KernelSet::pixels,
                        kernels::ElementwiseSpec{
                            .type = view.type, .rows = images.shape[0], .width = images.elements() / images.shape[0]});
  }
  View launch(const View& images, std::byte* temporaries, const kernels::Stream& stream) const {
    View pixels = view;
    pixels.data = temporaries + at;
    convert.launch(pixels, images, stream);
    return pixels;
  }
};

kernels::PoolSpec pool_of(const View& x) {
  return {.type = x.type,
          .samples = x.shape[0],
          .height = x.shape[1],
          .width = x.shape[2],
          .channels = x.shape[3],
          .kernel = 3,
          .stride = 2,
          .padding = 1};
}

}  // namespace

Launch stem_forward(Binding binding) {
  const View images = binding.operands.tensor(TensorName::images);
  const View weight = binding.operands.parameter(0);
  const View convolved = binding.operands.tensor(TensorName::convolved1);
  binding.operands.finish();

  const Pixels pixels(binding, images);
  const auto convolution =
      binding.prepare(&KernelSet::convolution_forward, convolution_between(pixels.view, weight, convolved));
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    convolution.launch(convolved, pixels.launch(images, temporaries, stream), weight, stream);
  });
}

Launch stem_backward(Binding binding) {
  const View dconvolved = binding.operands.tensor(TensorName::convolved1);
  const View images = binding.operands.tensor(TensorName::images);
  const View dweight = binding.operands.gradient(0);
  binding.operands.finish();

  const Pixels pixels(binding, images);
  auto spec = convolution_between(pixels.view, dweight, dconvolved);
  spec.accumulate = binding.adds(0);
  const auto weight_gradient = binding.prepare(&KernelSet::convolution_weight_gradient, spec);
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    weight_gradient.launch(dweight, dconvolved, pixels.launch(images, temporaries, stream), stream);
  });
}

Launch pool_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View x = operands.tensor(TensorName::convolved1);
  const View weight = operands.parameter(0), bias = operands.parameter(1);
  const View mean = operands.tensor(TensorName::mean1), rstd = operands.tensor(TensorName::rstd1);
  const View normed = operands.tensor(TensorName::norm1), from = operands.tensor(TensorName::pooled_from);
  const View output = operands.tensor(TensorName::output);
  operands.finish();

  const auto norm = binding.prepare(&KernelSet::batch_norm_forward, batch_norm_of(x));
  const auto pool = binding.prepare(&KernelSet::max_pool_forward, pool_of(normed));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    norm.launch(normed, mean, rstd, x, weight, bias, View{}, stream);
    pool.launch(output, from, normed, stream);
  });
}

Launch pool_backward(Binding binding) {
  Operands& operands = binding.operands;
  const View doutput = operands.tensor(TensorName::output), x = operands.tensor(TensorName::convolved1);
  const View mean = operands.tensor(TensorName::mean1), rstd = operands.tensor(TensorName::rstd1);
  const View normed = operands.tensor(TensorName::norm1), from = operands.tensor(TensorName::pooled_from);
  const View weight = operands.parameter(0);
  operands.parameter(1);
  const View dx = operands.tensor(TensorName::convolved1);
  const View dweight = operands.gradient(0), dbias = operands.gradient(1);
  operands.finish();

  auto spec = batch_norm_of(x);
  spec.accumulate_weight = binding.adds(0);
  spec.accumulate_bias = binding.adds(1);
  const auto norm = binding.prepare(&KernelSet::batch_norm_backward, spec);
  const auto pool = binding.prepare(&KernelSet::max_pool_backward, pool_of(normed));
  const std::int64_t dnormed_at = binding.scratch.add_temporary(normed.bytes());
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    const View dnormed{temporaries + dnormed_at, normed.type, normed.shape};
    pool.launch(dnormed, doutput, from, stream);
    norm.launch(dx, dweight, dbias, View{}, dnormed, normed, x, mean, rstd, weight, stream);
  });
}

}  // namespace rankscope
