// y = x·wᵀ + b and its two gradients are three matrix products, in every set.
#pragma once
#include "kernels/matrix_product.hpp"

namespace rankscope::kernels {

/// The linear ops of a set (kernels/kernel_set.hpp) by its products.
template <MakeProduct* make_product>
struct Linear {
  static Prepared<View, View, View, View, View> forward(const LinearSpec& spec, const Options& options) {
    auto product = make_product({.type = spec.type,
                                 .result = spec.result_type,
                                 .m = spec.rows,
                                 .n = spec.out,
                                 .k = spec.in,
                                 .b_transposed = true,
                                 .bias = spec.bias,
                                 .residual = spec.residual},
                                options);
    return {product->workspace_bytes(),
            [product, spec](View y, View x, View w, View b, View residual, const Stream& stream) {
              product->run(
                  {y.data, x.data, w.data, spec.bias ? b.data : nullptr, spec.residual ? residual.data : nullptr},
                  stream);
            }};
  }

  static Prepared<View, View, View> input_gradient(const LinearSpec& spec, const Options& options) {
    return plain(make_product(gradient(spec, spec.rows, spec.in, spec.out), options));
  }

  static Prepared<View, View, View> weight_gradient(const LinearSpec& spec, const Options& options) {
    ProductSpec product = gradient(spec, spec.out, spec.in, spec.rows);
    product.a_transposed = true;
    return plain(make_product(product, options));
  }

 private:
  static ProductSpec gradient(const LinearSpec& spec, std::int64_t m, std::int64_t n, std::int64_t k) {
    return {.type = spec.type, .result = spec.result_type, .m = m, .n = n, .k = k, .accumulate = spec.accumulate};
  }

  static Prepared<View, View, View> plain(std::shared_ptr<const MatrixProduct> product) {
    return {product->workspace_bytes(), [product](View c, View a, View b, const Stream& stream) {
              product->run({c.data, a.data, b.data}, stream);
            }};
  }
};

}  // namespace rankscope::kernels
