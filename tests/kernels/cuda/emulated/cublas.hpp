// The emulated cuBLASLt for tests. It computes as NVIDIA's documentation states, in fp32 (fp64 of fp64): only stored
// values are rounded, and GELU's tanh, in every type, to the 11 bits of the real one. It refuses what that
// documentation forbids, algorithms for other products or for addresses that they were not chosen for, and, like a
// library that does not have every kernel, most epilogues of ragged shapes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cublasLt.h"

namespace emulated {

enum class Cublas {
  whole,
  without_epilogues,  ///< a version without GELU and gradients of a bias
  without_algorithms,
  refusing_epilogues,  ///< it finds algorithms, but refuses to run GELU and gradients of a bias
  refusing_all,        ///< the same for every product
  slow_epilogues,      ///< GELU and gradients of a bias need 20 ms
};
/// Sets what is found for products prepared after this call, and which of them refuse to run.
void set_cublas(Cublas has);

/// The number of algorithms for each later product, given by the additional time of each; before this call there are
/// two equal ones.
void set_algorithms(std::vector<int> delays_us);
/// Products launched with that algorithm since the program began.
std::uint64_t products_by(std::size_t algorithm);

/// Products launched with that epilogue since the program began.
std::uint64_t products(cublasLtEpilogue_t epilogue);

}  // namespace emulated
