// No library on the host: all products are plain.
#include "kernels/cuda/library.hpp"

#include "kernels/cuda/matrix_product.hpp"

namespace rankscope::kernels::cuda {

std::shared_ptr<void> open_library() { return nullptr; }
std::shared_ptr<const MatrixProduct> make_library_product(const ProductSpec&, const Options&) { return nullptr; }

}  // namespace rankscope::kernels::cuda
