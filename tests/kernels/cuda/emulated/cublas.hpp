// The emulated cuBLASLt, as tests see it. It computes what NVIDIA's documentation says, in fp32 (fp64 of fp64): what it
// rounds is what it stores, and GELU's tanh, in every type, to the 11 bits that the real one's has. It refuses what
// that documentation forbids, algorithms for other products or for addresses that they were not chosen for, and, as a
// library that has not every kernel, most epilogues of ragged shapes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cublasLt.h"

namespace emulated {

enum class Cublas {
  whole,
  without_epilogues,  ///< a version that has no GELU and no gradient of a bias
  without_algorithms,
  refusing_epilogues,  ///< it finds algorithms, and refuses GELU and a gradient of a bias when they run
  refusing_all,        ///< the same of every product
  slow_epilogues,      ///< GELU and a gradient of a bias take it 20 ms
};
/// What is found for products that are prepared from now on, and what of them is refused when it runs.
void set_cublas(Cublas has);

/// How many algorithms it has from now on for each product, and how long each of them takes besides; two equal ones
/// before.
void set_algorithms(std::vector<int> delays_us);
/// Products that were launched with that algorithm since the program began.
std::uint64_t products_by(std::size_t algorithm);

/// Products that were launched with that epilogue since the program began.
std::uint64_t products(cublasLtEpilogue_t epilogue);

}  // namespace emulated
