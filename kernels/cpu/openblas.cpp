#include "kernels/cpu/openblas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/device/out_of_memory.hpp"
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

std::mutex one_product;  // the library's buffers are shared by the process

/// OpenBLAS retries to allocate a product's buffer until it succeeds, for ever if address space is limited, and then
/// keeps it. So the first product is computed while memory is available, and products run one after the other: they
/// need no second buffer. Throws OutOfMemory if there is no memory for the first.
std::mutex* take_turns(const OpenBlas& blas) {
  constexpr std::int64_t buffer = std::int64_t{128} << 20;
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return nullptr;
  static bool has_buffer = false;
  const std::lock_guard lock(one_product);
  if (has_buffer) return &one_product;
  void* data = mmap(nullptr, buffer, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    throw OutOfMemory(
        buffer, fmt::format("a product in fp64 in a process of at most {} MiB (ulimit -v)", space.rlim_cur >> 20));
  constexpr int n = 256;  // smaller ones need no buffer
  const std::vector<double> a(n * n);
  std::vector<double> c(n * n);
  munmap(data, buffer);
  blas.dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a.data(), n, a.data(), n, 0.0, c.data(), n);
  has_buffer = true;
  return &one_product;
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
  blas.turn = take_turns(blas);
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
