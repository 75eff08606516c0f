// The emulated cuBLASLt, as tests see it. It computes what NVIDIA's documentation says, in fp32 (fp64 of fp64): what it
// rounds is what it stores, and GELU's tanh, in every type, to the 11 bits that the real one's has. It refuses what
// that documentation forbids, algorithms for other products or for addresses that they were not chosen for, and, as a
// library that has not every kernel, most epilogues of ragged shapes.
#pragma once
#include <cstdint>

#include "cublasLt.h"

namespace emulated {

enum class Cublas {
  whole,
  without_epilogues,  ///< a version that has no GELU and no gradient of a bias
  without_algorithms,
  refusing_epilogues,  ///< it finds algorithms, and refuses GELU and a gradient of a bias when they run
  refusing_all,        ///< the same of every product
};
/// What is found for products that are prepared from now on, and what of them is refused when it runs.
void set_cublas(Cublas has);

/// Products that were launched with that epilogue since the program began.
std::uint64_t products(cublasLtEpilogue_t epilogue);

}  // namespace emulated
