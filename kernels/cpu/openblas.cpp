#include "kernels/cpu/openblas.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cpu {
namespace {

template <class Function>
void find(Function*& function, void* library, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw Unsupported(std::string("OpenBLAS here has no ") + name);
}

constexpr const char* soname = "libopenblas.so.0";

void* open_library() {
  void* library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  return library != nullptr ? library : dlopen(RANKSCOPE_OPENBLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

void keep_openblas_single() { setenv("OPENBLAS_NUM_THREADS", "1", 1); }

OpenBlas load_openblas() {
  void* library = open_library();
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

std::string openblas_version() {
  void* library = open_library();
  if (library == nullptr) return "no OpenBLAS";
  decltype(&openblas_get_config) config = nullptr;
  find(config, library, "openblas_get_config");
  std::istringstream words(config());  // "OpenBLAS 0.3.21 DYNAMIC_ARCH …"
  std::string name, version;
  words >> name >> version;
  return name + " " + version;
}

}  // namespace rankscope::kernels::cpu
