// y = x·wᵀ + b and its two gradients: three matrix products.
#include "kernels/cuda/matrix_product.hpp"
#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {

std::shared_ptr<const MatrixProduct> make_product(const ProductSpec& spec, const Options& options) {
  if (auto product = make_library_product(spec, options)) return product;
  return make_plain_product(spec);
}

Prepared<View, View, View, View, View> linear_forward(const LinearSpec& spec, const Options& options) {
  auto product = make_product({.type = spec.type,
                               .result = spec.result_type,
                               .m = spec.rows,
                               .n = spec.out,
                               .k = spec.in,
                               .b_transposed = true,
                               .bias = spec.bias,
                               .residual = spec.residual},
                              options);
  return {
      product->workspace_bytes(), [product, spec](View y, View x, View w, View b, View residual, const Stream& stream) {
        product->run({y.data, x.data, w.data, spec.bias ? b.data : nullptr, spec.residual ? residual.data : nullptr},
                     stream);
      }};
}

Prepared<View, View, View> linear_input_gradient(const LinearSpec& spec, const Options& options) {
  auto product = make_product({.type = spec.type,
                               .result = spec.result_type,
                               .m = spec.rows,
                               .n = spec.in,
                               .k = spec.out,
                               .accumulate = spec.accumulate},
                              options);
  return {product->workspace_bytes(), [product](View dx, View dy, View w, const Stream& stream) {
            product->run({dx.data, dy.data, w.data}, stream);
          }};
}

Prepared<View, View, View> linear_weight_gradient(const LinearSpec& spec, const Options& options) {
  auto product = make_product({.type = spec.type,
                               .result = spec.result_type,
                               .m = spec.out,
                               .n = spec.in,
                               .k = spec.rows,
                               .a_transposed = true,
                               .accumulate = spec.accumulate},
                              options);
  return {product->workspace_bytes(), [product](View dw, View dy, View x, const Stream& stream) {
            product->run({dw.data, dy.data, x.data}, stream);
          }};
}

}  // namespace rankscope::kernels::cuda
