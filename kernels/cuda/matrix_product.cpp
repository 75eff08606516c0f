#include "kernels/cuda/matrix_product.hpp"

#include "kernels/cuda/ops.hpp"
#include "kernels/followed_product.hpp"

namespace rankscope::kernels::cuda {

std::shared_ptr<const MatrixProduct> make_product(const ProductSpec& spec, const Options& options) {
  std::shared_ptr<const MatrixProduct> otherwise;
  if (spec.epilogue == Epilogue::none) {
    otherwise = make_plain_product(spec);
  } else {
    ProductSpec plain = spec;
    plain.epilogue = Epilogue::none;
    otherwise = std::make_shared<FollowedProduct>(spec, make_product(plain, options),
                                                  EpiloguePasses{gelu, gelu_slope, bias_gradient}, options);
  }
  if (auto product = make_library_product(spec, options, otherwise)) return product;
  return otherwise;
}

}  // namespace rankscope::kernels::cuda
