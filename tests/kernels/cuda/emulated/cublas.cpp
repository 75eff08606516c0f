#include "cublas.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/cuda/cublas_library.hpp"
#include "kernels/tensor/element.hpp"

using rankscope::DType;
using rankscope::View;

struct EmulatedMatmulDesc {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t a_operation = CUBLAS_OP_N, b_operation = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void *bias = nullptr, *auxiliary = nullptr;
  std::int64_t auxiliary_leading = 0;
};
struct EmulatedMatrixLayout {
  cudaDataType_t type;
  std::int64_t rows, columns, leading;
};
struct EmulatedMatmulPreference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 7, alignment[4] = {256, 256, 256, 256};
};

namespace {

constexpr std::uint64_t vector_bytes = 16, workspace_wanted = 768;

std::atomic<emulated::Cublas> has{emulated::Cublas::whole};
struct Launched {
  std::mutex mutex;
  std::map<int, std::uint64_t> products;
  std::map<std::size_t, std::uint64_t> by_algorithm;
  std::vector<int> delays_us{0, 0};  ///< of each algorithm
};
Launched& launched() {
  static Launched the_launched;
  return the_launched;
}

DType type_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_32F: return DType::f32;
    case CUDA_R_64F: return DType::f64;
    case CUDA_R_16F: return DType::f16;
    case CUDA_R_16BF: break;
  }
  return DType::bf16;
}
std::int64_t bytes_of(cudaDataType_t type) { return rankscope::bytes_of(type_of(type)); }

std::uint64_t alignment_of(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return address == 0 ? 256 : address & ~(address - 1);
}

bool has_gelu(cublasLtEpilogue_t e) {
  return e == CUBLASLT_EPILOGUE_GELU_AUX || e == CUBLASLT_EPILOGUE_GELU_AUX_BIAS || e == CUBLASLT_EPILOGUE_DGELU;
}
bool has_bias_vector(cublasLtEpilogue_t e) {
  return e == CUBLASLT_EPILOGUE_BIAS || e == CUBLASLT_EPILOGUE_GELU_AUX_BIAS || e == CUBLASLT_EPILOGUE_BGRADB;
}

/// The product for which an algorithm was chosen.
struct Chosen {
  std::uint64_t alignment;
  std::int64_t shape[5];
  std::uint64_t epilogue;
  std::uint64_t types;
  bool operator==(const Chosen&) const = default;
  std::size_t algorithm() const { return types >> 32; }
};
static_assert(sizeof(Chosen) <= sizeof(cublasLtMatmulAlgo_t));

Chosen chosen_for(const EmulatedMatmulDesc& desc, const EmulatedMatrixLayout& a, const EmulatedMatrixLayout& b,
                  const EmulatedMatrixLayout& d, std::uint64_t alignment, std::size_t algorithm) {
  return {alignment,
          {a.rows, a.columns, b.rows, b.columns, d.rows * 4 + desc.a_operation * 2 + desc.b_operation},
          static_cast<std::uint64_t>(desc.epilogue),
          algorithm << 32 | static_cast<std::uint64_t>(a.type) << 16 | static_cast<std::uint64_t>(d.type)};
}

/// Whether these describe a valid product; anything else is the caller's mistake.
bool fits(const EmulatedMatmulDesc& desc, const EmulatedMatrixLayout& a, const EmulatedMatrixLayout& b,
          const EmulatedMatrixLayout& d) {
  const auto rows_of = [](const EmulatedMatrixLayout& m, cublasOperation_t o) {
    return o == CUBLAS_OP_N ? m.rows : m.columns;
  };
  const auto columns_of = [](const EmulatedMatrixLayout& m, cublasOperation_t o) {
    return o == CUBLAS_OP_N ? m.columns : m.rows;
  };
  if (rows_of(a, desc.a_operation) != d.rows || columns_of(b, desc.b_operation) != d.columns ||
      columns_of(a, desc.a_operation) != rows_of(b, desc.b_operation))
    return false;
  if (a.leading < a.rows || b.leading < b.rows || d.leading < d.rows || a.type != b.type) return false;
  const bool f64 = a.type == CUDA_R_64F;
  if (f64 != (desc.compute == CUBLAS_COMPUTE_64F) || f64 != (desc.scale == CUDA_R_64F)) return false;
  if (d.type != a.type && (f64 || d.type != CUDA_R_32F)) return false;
  // GELU's argument; its alignment matters for the choice.
  if (has_gelu(desc.epilogue) &&
      (desc.auxiliary_leading % 8 != 0 || desc.auxiliary_leading < d.rows || desc.auxiliary == nullptr))
    return false;
  return !has_bias_vector(desc.epilogue) || desc.bias != nullptr;
}

/// tanh as in the library's kernels: PTX's tanh.approx.f32, whose relative error is up to 2^-11.
double rough_tanh(double x) {
  int exponent = 0;
  const double significand = std::frexp(std::tanh(x), &exponent);
  return std::ldexp(std::nearbyint(significand * 0x1p11), exponent - 11);
}
double rough_tanh_of_gelu(double x) { return rough_tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)); }
double gelu(double x) { return 0.5 * x * (1 + rough_tanh_of_gelu(x)); }
double gelu_slope(double x) {
  const double t = rough_tanh_of_gelu(x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.79788456080286535588 * (1 + 3 * 0.044715 * x * x);
}

/// op(M) as rows of `depth` contiguous elements, so that products read contiguous data.
template <class A>
std::vector<A> read(const void* data, const EmulatedMatrixLayout& layout, bool depth_is_down) {
  const View from{const_cast<void*>(data), type_of(layout.type), {layout.leading * layout.columns}};
  const std::int64_t outer = depth_is_down ? layout.columns : layout.rows;
  const std::int64_t depth = depth_is_down ? layout.rows : layout.columns;
  std::vector<A> values(static_cast<std::size_t>(outer * depth));
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t k = 0; k < depth; ++k)
      values[static_cast<std::size_t>(i * depth + k)] =
          static_cast<A>(rankscope::element(from, depth_is_down ? i * layout.leading + k : k * layout.leading + i));
  return values;
}

/// All arguments of a launch, as they were at that time.
struct Launch {
  EmulatedMatmulDesc desc;
  EmulatedMatrixLayout a_layout, b_layout, d_layout;
  double alpha, beta;
  const void *a, *b, *c;
  void *d, *workspace;
  int delay_us;
};

template <class A>
void run(const Launch& launch) {
  const EmulatedMatmulDesc& desc = launch.desc;
  const std::vector<A> left = read<A>(launch.a, launch.a_layout, desc.a_operation == CUBLAS_OP_T);
  const std::vector<A> right = read<A>(launch.b, launch.b_layout, desc.b_operation == CUBLAS_OP_N);
  const std::int64_t rows = launch.d_layout.rows, columns = launch.d_layout.columns;
  const std::int64_t depth = static_cast<std::int64_t>(left.size()) / rows;
  const DType type = type_of(launch.d_layout.type);
  const std::int64_t leading = launch.d_layout.leading, elements = leading * columns;
  const View c{const_cast<void*>(launch.c), type, {elements}}, d{launch.d, type, {elements}};
  const View bias{desc.bias, type, {desc.epilogue == CUBLASLT_EPILOGUE_BGRADB ? columns : rows}};
  const View auxiliary{desc.auxiliary, type, {desc.auxiliary_leading * columns}};
  std::memset(launch.workspace, 0xAB, workspace_wanted);  // the kernel owns it while it runs
  if (launch.delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(launch.delay_us));
  for (std::int64_t j = 0; j < columns; ++j) {
    const A* const y = right.data() + j * depth;
    for (std::int64_t i = 0; i < rows; ++i) {
      const A* const x = left.data() + i * depth;
      A sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += x[k] * y[k];
      sum *= static_cast<A>(launch.alpha);
      const std::int64_t at = j * leading + i, at_auxiliary = j * desc.auxiliary_leading + i;
      if (launch.beta != 0) sum += static_cast<A>(launch.beta * rankscope::element(c, at));
      if (has_bias_vector(desc.epilogue) && desc.epilogue != CUBLASLT_EPILOGUE_BGRADB)
        sum += static_cast<A>(rankscope::element(bias, i));
      double value = sum;
      if (desc.epilogue == CUBLASLT_EPILOGUE_DGELU) {
        value *= gelu_slope(rankscope::element(auxiliary, at_auxiliary));
      } else if (has_gelu(desc.epilogue)) {
        rankscope::set_element(auxiliary, at_auxiliary, value);
        value = gelu(value);
      }
      rankscope::set_element(d, at, value);
    }
    if (desc.epilogue != CUBLASLT_EPILOGUE_BGRADB) continue;
    A sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += y[k];
    rankscope::set_element(bias, j, sum);
  }
}

template <class Value>
bool take(Value& into, const void* value, std::size_t bytes) {
  if (bytes != sizeof into) return false;
  std::memcpy(&into, value, bytes);
  return true;
}

}  // namespace

namespace emulated {

void set_cublas(Cublas now) { has = now; }

std::uint64_t products(cublasLtEpilogue_t epilogue) {
  const std::lock_guard lock(launched().mutex);
  return launched().products[epilogue];
}

void set_algorithms(std::vector<int> delays_us) {
  const std::lock_guard lock(launched().mutex);
  launched().delays_us = std::move(delays_us);
}

std::uint64_t products_by(std::size_t algorithm) {
  const std::lock_guard lock(launched().mutex);
  return launched().by_algorithm[algorithm];
}

}  // namespace emulated

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "unknown";
}
std::size_t cublasLtGetVersion() { return 130002; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  *desc = new EmulatedMatmulDesc{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete desc;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  const auto set = [&](auto& into) {
    return take(into, value, bytes) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(desc->a_operation);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(desc->b_operation);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(desc->epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(desc->bias);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return set(desc->auxiliary);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return set(desc->auxiliary_leading);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
  *layout =
      new EmulatedMatrixLayout{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), leading};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new EmulatedMatmulPreference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
  bool taken = false;
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: taken = take(preference->workspace, value, bytes); break;
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: taken = take(preference->reductions, value, bytes); break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      taken = take(preference->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, bytes);
      break;
  }
  return taken ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference,
                                              int asked, cublasLtMatmulHeuristicResult_t* results, int* count) {
  *count = 0;
  if (!fits(*desc, *a, *b, *d) || c->type != d->type || c->rows != d->rows || c->columns != d->columns)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (has == emulated::Cublas::without_algorithms) return CUBLAS_STATUS_NOT_SUPPORTED;
  std::uint64_t least_alignment = 256;
  for (const std::uint32_t alignment : preference->alignment)
    least_alignment = std::min<std::uint64_t>(least_alignment, alignment);
  if (has_bias_vector(desc->epilogue)) least_alignment = std::min(least_alignment, alignment_of(desc->bias));
  if (has_gelu(desc->epilogue)) least_alignment = std::min(least_alignment, alignment_of(desc->auxiliary));
  bool packed = least_alignment >= vector_bytes;
  for (const EmulatedMatrixLayout* matrix : {a, b, d})
    packed = packed && static_cast<std::uint64_t>(matrix->leading * bytes_of(matrix->type)) % vector_bytes == 0;
  const bool gradient = desc->epilogue == CUBLASLT_EPILOGUE_BGRADB;
  if (has_gelu(desc->epilogue) || gradient) {
    if (has == emulated::Cublas::without_epilogues) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (a->type == CUDA_R_64F || (has_gelu(desc->epilogue) && d->type != a->type)) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (!packed) return CUBLAS_STATUS_SUCCESS;  // no algorithm is found
  }
  if (has_bias_vector(desc->epilogue) && a->type == CUDA_R_64F) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (preference->workspace < workspace_wanted) return CUBLAS_STATUS_SUCCESS;
  const std::uint64_t needed = packed ? vector_bytes : static_cast<std::uint64_t>(bytes_of(a->type));
  const std::lock_guard lock(launched().mutex);
  for (; *count < asked && static_cast<std::size_t>(*count) < launched().delays_us.size(); ++*count, ++results) {
    results->workspaceSize = workspace_wanted;
    results->state = CUBLAS_STATUS_SUCCESS;
    const Chosen chosen = chosen_for(*desc, *a, *b, *d, needed, static_cast<std::size_t>(*count));
    std::memcpy(&results->algo, &chosen, sizeof chosen);
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  Chosen chosen{};
  std::memcpy(&chosen, algorithm, sizeof chosen);
  if (!fits(*desc, *a_layout, *b_layout, *d_layout) || c_layout->leading < c_layout->rows ||
      !(chosen == chosen_for(*desc, *a_layout, *b_layout, *d_layout, chosen.alignment, chosen.algorithm())))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (workspace_bytes < workspace_wanted || alignment_of(workspace) < 256) return CUBLAS_STATUS_INVALID_VALUE;
  for (const void* at : {a, b, c, static_cast<const void*>(d)})
    if (at == nullptr || alignment_of(at) < chosen.alignment) return CUBLAS_STATUS_INVALID_VALUE;
  if (has_bias_vector(desc->epilogue) && alignment_of(desc->bias) < chosen.alignment)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (has_gelu(desc->epilogue) && alignment_of(desc->auxiliary) < vector_bytes) return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_epilogue = has_gelu(desc->epilogue) || desc->epilogue == CUBLASLT_EPILOGUE_BGRADB;
  if (has == emulated::Cublas::refusing_all || (has == emulated::Cublas::refusing_epilogues && is_epilogue))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool f64 = a_layout->type == CUDA_R_64F;
  const auto factor = [&](const void* at) {
    return f64 ? *static_cast<const double*>(at) : static_cast<double>(*static_cast<const float*>(at));
  };
  int delay_us = 0;
  {
    const std::lock_guard lock(launched().mutex);
    ++launched().products[desc->epilogue];
    ++launched().by_algorithm[chosen.algorithm()];
    delay_us = launched().delays_us.at(chosen.algorithm());
  }
  if (has == emulated::Cublas::slow_epilogues && is_epilogue) delay_us += 20'000;
  const Launch launch{*desc, *a_layout, *b_layout, *d_layout, factor(alpha), factor(beta),
                      a,     b,         c,         d,         workspace,     delay_us};
  return emulated::enqueue(stream, [launch, f64] { f64 ? run<double>(launch) : run<float>(launch); }) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

namespace rankscope::kernels::cuda {

CublasLt load_cublas() {
  return {cublasLtGetStatusName,
          cublasLtCreate,
          cublasLtDestroy,
          cublasLtMatmulDescCreate,
          cublasLtMatmulDescDestroy,
          cublasLtMatmulDescSetAttribute,
          cublasLtMatrixLayoutCreate,
          cublasLtMatrixLayoutDestroy,
          cublasLtMatmulPreferenceCreate,
          cublasLtMatmulPreferenceDestroy,
          cublasLtMatmulPreferenceSetAttribute,
          cublasLtMatmulAlgoGetHeuristic,
          cublasLtMatmul,
          cublasLtGetVersion,
          "emulated"};
}

}  // namespace rankscope::kernels::cuda
