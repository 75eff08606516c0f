#include "kernels/cuda/cublas_library.hpp"

#include <dlfcn.h>

#include <string>

#include "kernels/device/device.hpp"

namespace rankscope::kernels::cuda {
namespace {

template <class Function>
void find(Function*& function, void* library, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr)
    throw DeviceError(std::string("the device 'cuda' needs ") + name + ", which cuBLASLt here has not");
}

}  // namespace

CublasLt load_cublas() {
  const std::string name = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen(RANKSCOPE_CUBLASLT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw DeviceError("the device 'cuda' needs cuBLASLt, which was not found (" + name + ", " +
                      RANKSCOPE_CUBLASLT_LIBRARY + ")");
  CublasLt cublas{};
  find(cublas.status_name, library, "cublasLtGetStatusName");
  find(cublas.create, library, "cublasLtCreate");
  find(cublas.destroy, library, "cublasLtDestroy");
  find(cublas.describe_product, library, "cublasLtMatmulDescCreate");
  find(cublas.destroy_product, library, "cublasLtMatmulDescDestroy");
  find(cublas.set_of_product, library, "cublasLtMatmulDescSetAttribute");
  find(cublas.describe_matrix, library, "cublasLtMatrixLayoutCreate");
  find(cublas.destroy_matrix, library, "cublasLtMatrixLayoutDestroy");
  find(cublas.make_preference, library, "cublasLtMatmulPreferenceCreate");
  find(cublas.destroy_preference, library, "cublasLtMatmulPreferenceDestroy");
  find(cublas.set_preference, library, "cublasLtMatmulPreferenceSetAttribute");
  find(cublas.choose, library, "cublasLtMatmulAlgoGetHeuristic");
  find(cublas.multiply, library, "cublasLtMatmul");
  find(cublas.version, library, "cublasLtGetVersion");
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(cublas.multiply), &info) != 0) cublas.file = info.dli_fname;
  return cublas;
}

}  // namespace rankscope::kernels::cuda
