// Convolution and its gradients. A kernel of 1 is a matrix product of the pixels' channels; others use oneDNN's own
// convolutions if they are fast; the rest, including fp64 and small images, is unfolded for products.
#include "kernels/cpu/convolution.hpp"

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/matrix_product.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/unfolded_convolution.hpp"
#include "kernels/windows.hpp"

namespace rankscope::kernels::cpu {
namespace {

using PreparedConvolution = Prepared<View, View, View>;

/// Columns that almost fill a core's second-level cache, with the other operands of a product.
constexpr UnfoldPasses passes{unfold, fold, std::int64_t{4} << 20};
using Unfolded = UnfoldedConvolution<make_product, passes>;

PreparedConvolution unfolded(const ConvolutionSpec& spec, ConvolutionPass pass, const Options& options) {
  switch (pass) {
    case ConvolutionPass::forward: return Unfolded::forward(spec, options);
    case ConvolutionPass::input_gradient: return Unfolded::input_gradient(spec, options);
    case ConvolutionPass::weight_gradient: break;
  }
  return Unfolded::weight_gradient(spec, options);
}

/// oneDNN converts the layout of the weights at every launch; if there are fewer pixels than channels, unfolding x is
/// less work.
bool onednn_gains(const ConvolutionSpec& spec) {
  const std::int64_t pixels = spec.samples * spec.out_height() * spec.out_width();
  return spec.kernel > 1 && spec.type != DType::f64 && pixels >= spec.out;
}

PreparedConvolution native(const ConvolutionSpec& spec, ConvolutionPass pass, const Options& options) {
  if (onednn_gains(spec))
    if (auto convolution = onednn_convolution(spec, pass, options)) return *std::move(convolution);
  return unfolded(spec, pass, options);
}

/// 16-bit types that the CPU cannot multiply: all operands are widened, computed in fp32, rounded once.
PreparedConvolution widened(const ConvolutionSpec& spec, ConvolutionPass pass, const Options& options) {
  ConvolutionSpec wide = spec;
  wide.type = DType::f32;
  const PreparedConvolution inner = native(wide, pass, options);
  const std::int64_t x = spec.samples * spec.height * spec.width * spec.in;
  const std::int64_t w = std::int64_t{spec.kernel} * spec.kernel * spec.in * spec.out;
  const std::int64_t y = spec.samples * spec.out_height() * spec.out_width() * spec.out;
  const std::int64_t result = pass == ConvolutionPass::forward          ? y
                              : pass == ConvolutionPass::input_gradient ? x
                                                                        : 0;  // dw is always fp32
  const std::int64_t a = pass == ConvolutionPass::forward ? x : y;
  const std::int64_t b = pass == ConvolutionPass::weight_gradient ? x : w;
  const auto bytes = [](std::int64_t elements) { return aligned(elements * bytes_of(DType::f32)); };
  const std::int64_t at_a = aligned(inner.workspace_bytes), at_b = at_a + bytes(a), at_result = at_b + bytes(b);
  return {at_result + bytes(result),
          [=, &loops = loops_for(spec.type, options)](View c, View left, View right, const Stream& stream) {
            const View wide_left{stream.workspace + at_a, DType::f32, left.shape};
            const View wide_right{stream.workspace + at_b, DType::f32, right.shape};
            loops.widen(wide_left.data, left.data, a);
            loops.widen(wide_right.data, right.data, b);
            if (result == 0) return inner.launch(c, wide_left, wide_right, stream);
            const View wide_result{stream.workspace + at_result, DType::f32, c.shape};
            if (pass != ConvolutionPass::forward && spec.accumulate) loops.widen(wide_result.data, c.data, result);
            inner.launch(wide_result, wide_left, wide_right, stream);
            loops.narrow(c.data, wide_result.data, result);
          }};
}

PreparedConvolution prepare(const ConvolutionSpec& spec, ConvolutionPass pass, const Options& options) {
  check_windows(spec, "convolution", false);
  const bool narrow = spec.type == DType::f16 || (spec.type == DType::bf16 && !native_bf16_products());
  return narrow && spec.kernel > 1 ? widened(spec, pass, options) : native(spec, pass, options);
}

}  // namespace

Prepared<View, View, View> convolution_forward(const ConvolutionSpec& spec, const Options& options) {
  return prepare(spec, ConvolutionPass::forward, options);
}
Prepared<View, View, View> convolution_input_gradient(const ConvolutionSpec& spec, const Options& options) {
  return prepare(spec, ConvolutionPass::input_gradient, options);
}
Prepared<View, View, View> convolution_weight_gradient(const ConvolutionSpec& spec, const Options& options) {
  return prepare(spec, ConvolutionPass::weight_gradient, options);
}

}  // namespace rankscope::kernels::cpu
