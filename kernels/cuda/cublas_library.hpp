// cuBLASLt's functions, loaded when a GPU is used: linking the library would slow every program start by a third
// of a second, also on machines without a GPU.
#pragma once
#include <cublasLt.h>

#include <string>

namespace rankscope::kernels::cuda {

struct CublasLt {
  decltype(&cublasLtGetStatusName) status_name;
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatmulDescCreate) describe_product;
  decltype(&cublasLtMatmulDescDestroy) destroy_product;
  decltype(&cublasLtMatmulDescSetAttribute) set_of_product;
  decltype(&cublasLtMatrixLayoutCreate) describe_matrix;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_matrix;
  decltype(&cublasLtMatmulPreferenceCreate) make_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
  decltype(&cublasLtMatmulAlgoGetHeuristic) choose;
  decltype(&cublasLtMatmul) multiply;
  decltype(&cublasLtGetVersion) version;
  std::string file;  ///< from which it was loaded
};

/// libcublasLt as found by the system, or where it was found while configuring. It stays loaded. Throws DeviceError in
/// one line if it does not exist or lacks a function.
CublasLt load_cublas();

}  // namespace rankscope::kernels::cuda
