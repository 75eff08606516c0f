// Matrix products followed by a separate pass for their epilogue, for sets and shapes without a fused kernel.
#pragma once
#include <algorithm>
#include <functional>
#include <utility>

#include "kernels/matrix_product.hpp"

namespace rankscope::kernels {

/// A set's own passes.
struct EpiloguePasses {
  Prepared<View, View> (*gelu)(const ElementwiseSpec&, const Options&);              ///< y; x
  Prepared<View, View, View> (*gelu_slope)(const ElementwiseSpec&, const Options&);  ///< dx; dy x (dx may be dy)
  Prepared<View, View> (*column_sums)(const BiasGradientSpec&, const Options&);      ///< sums; x
};

class FollowedProduct final : public MatrixProduct {
 public:
  /// `product` has the same specification without its epilogue.
  FollowedProduct(const ProductSpec& spec, std::shared_ptr<const MatrixProduct> product, const EpiloguePasses& passes,
                  const Options& options)
      : spec_(spec), product_(std::move(product)), workspace_bytes_(product_->workspace_bytes()) {
    const ElementwiseSpec elements{spec.result, spec.m, spec.n};
    if (spec.epilogue == Epilogue::gelu)
      follow(passes.gelu(elements, options));
    else if (spec.epilogue == Epilogue::gelu_slope)
      follow(passes.gelu_slope(elements, options));
    else
      follow(passes.column_sums({spec.type, spec.k, spec.m, spec.accumulate_sums}, options));
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void run(const ProductOperands& operands, const Stream& stream) const override {
    ProductOperands of_product = operands;
    if (spec_.epilogue == Epilogue::gelu) of_product.c = operands.auxiliary;
    product_->run(of_product, stream);
    pass_(operands, stream);
  }

 private:
  using Pass = std::function<void(const ProductOperands&, const Stream&)>;

  void follow(Prepared<View, View> pass) {
    workspace_bytes_ = std::max(workspace_bytes_, pass.workspace_bytes);
    if (spec_.epilogue == Epilogue::gelu)
      pass_ = [launch = std::move(pass.launch), spec = spec_](const ProductOperands& o, const Stream& stream) {
        launch({o.c, spec.result, {spec.m, spec.n}}, {o.auxiliary, spec.result, {spec.m, spec.n}}, stream);
      };
    else
      pass_ = [launch = std::move(pass.launch), spec = spec_](const ProductOperands& o, const Stream& stream) {
        const DType wide = spec.type == DType::f64 ? DType::f64 : DType::f32;
        launch({o.auxiliary, wide, {spec.m}}, {const_cast<void*>(o.a), spec.type, {spec.k, spec.m}}, stream);
      };
  }
  void follow(Prepared<View, View, View> pass) {
    workspace_bytes_ = std::max(workspace_bytes_, pass.workspace_bytes);
    pass_ = [launch = std::move(pass.launch), spec = spec_](const ProductOperands& o, const Stream& stream) {
      const View c{o.c, spec.result, {spec.m, spec.n}};
      launch(c, c, {o.auxiliary, spec.result, {spec.m, spec.n}}, stream);
    };
  }

  ProductSpec spec_;
  std::shared_ptr<const MatrixProduct> product_;
  std::int64_t workspace_bytes_;
  Pass pass_;
};

}  // namespace rankscope::kernels
