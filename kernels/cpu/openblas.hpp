// OpenBLAS, only for products in fp64 (proofs), loaded at the first of them: a program that merely links it starts its
// threads before main(), and hangs if they cannot be started.
#pragma once
#include <cblas.h>

#include <mutex>
#include <string>

namespace rankscope::kernels::cpu {

struct OpenBlas {
  decltype(&cblas_dgemm) dgemm = nullptr;
  std::mutex* turn = nullptr;  ///< not null: locked during a product, so that there is one at a time
};

/// Call it before threads start, since it changes the environment: the library starts no threads of its own when it is
/// loaded. Products in fp64 are divided over a rank's own threads.
void keep_openblas_single();
/// Throws Unsupported if the library is not found.
OpenBlas load_openblas();
/// "OpenBLAS 0.3.21", or "no OpenBLAS". Loads it.
std::string openblas_version();

}  // namespace rankscope::kernels::cpu
