#include "kernels/cpu/openblas.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cpu {
namespace {

template <class Function>
void find(Function*& function, void* library, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw Unsupported(std::string("OpenBLAS here has no ") + name);
}

}  // namespace

void keep_openblas_single() { setenv("OPENBLAS_NUM_THREADS", "1", 1); }

OpenBlas load_openblas() {
  constexpr const char* soname = "libopenblas.so.0";
  void* library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen(RANKSCOPE_OPENBLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Unsupported(std::string("products in fp64 need OpenBLAS, which was not found (") + soname + ", " +
                      RANKSCOPE_OPENBLAS_LIBRARY + ")");
  OpenBlas blas;
  find(blas.dgemm, library, "cblas_dgemm");
  decltype(&openblas_set_num_threads) set_threads = nullptr;
  find(set_threads, library, "openblas_set_num_threads");
  set_threads(1);
  return blas;
}

}  // namespace rankscope::kernels::cpu
