// y = x·wᵀ + b, with GELU or without, and its gradients are matrix products with an epilogue, in every set.
#pragma once
#include "kernels/matrix_product.hpp"

namespace rankscope::kernels {

/// The linear ops of a set (kernels/kernel_set.hpp), based on its products.
template <MakeProduct* make_product>
struct Linear {
  static Prepared<View, View, View, View, View> forward(const LinearSpec& spec, const Options& options) {
    auto product = make_product(result_of(spec), options);
    return {product->workspace_bytes(),
            [product, spec](View y, View x, View w, View b, View residual, const Stream& stream) {
              product->run({y.data, x.data, w.data, spec.bias ? b.data : nullptr,
                            spec.residual ? residual.data : nullptr, nullptr},
                           stream);
            }};
  }

  static Prepared<View, View, View, View, View> gelu_forward(const LinearSpec& spec, const Options& options) {
    ProductSpec with_gelu = result_of(spec);
    with_gelu.epilogue = Epilogue::gelu;
    auto product = make_product(with_gelu, options);
    return {product->workspace_bytes(),
            [product, spec](View y, View before, View x, View w, View b, const Stream& stream) {
              product->run({y.data, x.data, w.data, spec.bias ? b.data : nullptr, nullptr, before.data}, stream);
            }};
  }

  static Prepared<View, View, View> input_gradient(const LinearSpec& spec, const Options& options) {
    auto product = make_product(gradient(spec, spec.rows, spec.in, spec.out), options);
    return {product->workspace_bytes(), [product](View dx, View dy, View w, const Stream& stream) {
              product->run({dx.data, dy.data, w.data, nullptr, nullptr, nullptr}, stream);
            }};
  }

  static Prepared<View, View, View, View> gelu_input_gradient(const LinearSpec& spec, const Options& options) {
    ProductSpec with_slope = gradient(spec, spec.rows, spec.in, spec.out);
    with_slope.epilogue = Epilogue::gelu_slope;
    auto product = make_product(with_slope, options);
    return {product->workspace_bytes(), [product](View dbefore, View dy, View w, View before, const Stream& stream) {
              product->run({dbefore.data, dy.data, w.data, nullptr, nullptr, before.data}, stream);
            }};
  }

  static Prepared<View, View, View, View> weight_gradient(const LinearSpec& spec, const Options& options) {
    ProductSpec of_weight = gradient(spec, spec.out, spec.in, spec.rows);
    of_weight.a_transposed = true;
    if (spec.bias) of_weight.epilogue = Epilogue::row_sums;
    of_weight.accumulate_sums = spec.accumulate_bias;
    auto product = make_product(of_weight, options);
    return {product->workspace_bytes(), [product, spec](View dw, View db, View dy, View x, const Stream& stream) {
              product->run({dw.data, dy.data, x.data, nullptr, nullptr, spec.bias ? db.data : nullptr}, stream);
            }};
  }

 private:
  static ProductSpec result_of(const LinearSpec& spec) {
    return {.type = spec.type,
            .result = spec.result_type,
            .m = spec.rows,
            .n = spec.out,
            .k = spec.in,
            .b_transposed = true,
            .bias = spec.bias,
            .residual = spec.residual};
  }
  static ProductSpec gradient(const LinearSpec& spec, std::int64_t m, std::int64_t n, std::int64_t k) {
    return {.type = spec.type, .result = spec.result_type, .m = m, .n = n, .k = k, .accumulate = spec.accumulate};
  }
};

}  // namespace rankscope::kernels
