// Matrix products by cuBLASLt, with bias and residual in the same kernel, and with GELU, its slope or the bias'
// gradient where it has such a kernel. Its GELU is the tanh form, of what is not rounded yet. The slope's epilogue that
// sums the bias' gradient too (DGELU_BGRAD) is not for us: it would round the sum to 16 bits.
#include <cuda_runtime.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/cuda/bias.hpp"
#include "kernels/cuda/cublas_library.hpp"
#include "kernels/cuda/geometry.hpp"
#include "kernels/cuda/library.hpp"
#include "kernels/cuda/matrix_product.hpp"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/refusals.hpp"

namespace rankscope::kernels::cuda {
namespace {

constexpr std::int64_t workspace_limit = 32 << 20;  ///< what NVIDIA recommends from compute capability 9.0 on
constexpr std::int64_t workspace_alignment = 256;
constexpr std::int64_t vector_bytes = 16;
constexpr std::int64_t auxiliary_pack = 8;  ///< of the leading dimension of what GELU was of, in elements

struct Library {
  explicit Library(std::function<void(const std::string&)> notice) : refusals(std::move(notice)) {
    check(api.create(&handle), "opening the library");
  }
  ~Library() { api.destroy(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  void check(cublasStatus_t status, const char* what) const {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error(std::string("cuBLASLt: ") + what + ": " + api.status_name(status));
  }
  const CublasLt api = load_cublas();
  cublasLtHandle_t handle = nullptr;
  Refusals refusals;
};

/// Nothing was enqueued, and something else can compute it. Other errors are mistakes of ours or of the device.
bool is_refusal(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH;
}

/// Owns a descriptor of the library.
template <class Handle>
struct Owned {
  using Destroy = cublasStatus_t (*)(Handle);
  explicit Owned(Destroy destroys) : destroy(destroys) {}
  ~Owned() {
    if (value != nullptr) destroy(value);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  const Destroy destroy;
  Handle value = nullptr;
};

cudaDataType_t data_type_of(DType type) {
  switch (type) {
    case DType::f64: return CUDA_R_64F;
    case DType::f32: return CUDA_R_32F;
    case DType::bf16: return CUDA_R_16BF;
    case DType::f16: return CUDA_R_16F;
    case DType::i32:
    case DType::u8: break;
  }
  throw Unsupported("the kernel set 'cuda' has no matrix products in " + std::string(rankscope::name_of(type)));
}

using Layout = Owned<cublasLtMatrixLayout_t>;

/// The library's epilogues want the bias in the result's type, and it has none in fp64.
bool has_fused_bias(const ProductSpec& spec) {
  return spec.bias && spec.result == spec.type && spec.type != DType::f64;
}

cublasLtEpilogue_t epilogue_of(const ProductSpec& spec) {
  const bool bias = has_fused_bias(spec);
  switch (spec.epilogue) {
    case Epilogue::none: return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case Epilogue::gelu: return bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    case Epilogue::gelu_slope: return CUBLASLT_EPILOGUE_DGELU;
    case Epilogue::row_sums: return CUBLASLT_EPILOGUE_BGRADB;  // A is on the right of a column-major product
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

bool reads_auxiliary_matrix(const ProductSpec& spec) {
  return spec.epilogue == Epilogue::gelu || spec.epilogue == Epilogue::gelu_slope;
}

/// Whether it is to be asked for the epilogue at all.
bool may_have(const ProductSpec& spec, const Options& options) {
  if (spec.epilogue == Epilogue::none) return true;
  if (spec.type == DType::f64 || spec.residual) return false;
  if (spec.epilogue == Epilogue::row_sums) return options.fused_bias_gradient && spec.result == DType::f32;
  // Its GELU is by tanh.approx, whose relative error is up to 2^-11: too rough for fp32, where no kernel of the library
  // has it within either (it is a second pass).
  if (bytes_of(spec.type) != 2) return false;
  return options.fused_gelu && spec.result == spec.type && !spec.accumulate && spec.n % auxiliary_pack == 0;
}

class LibraryProduct final : public MatrixProduct {
 public:
  LibraryProduct(const ProductSpec& spec, std::shared_ptr<Library> library, bool tf32,
                 std::shared_ptr<const MatrixProduct> otherwise)
      : spec_(spec),
        library_(std::move(library)),
        otherwise_(std::move(otherwise)),
        description_(library_->api.destroy_product),
        left_(library_->api.destroy_matrix),
        right_(library_->api.destroy_matrix),
        result_(library_->api.destroy_matrix) {
    const bool f64 = spec.type == DType::f64;
    const cudaDataType_t scale_type = f64 ? CUDA_R_64F : CUDA_R_32F;
    const cublasComputeType_t compute = f64                               ? CUBLAS_COMPUTE_64F
                                        : tf32 && spec.type == DType::f32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                          : CUBLAS_COMPUTE_32F;
    fused_bias_ = has_fused_bias(spec);
    library_->check(library_->api.describe_product(&description_.value, compute, scale_type), "describing a product");
    const ColumnMajorProduct p = column_major(spec);
    const auto transposition = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    describe(CUBLASLT_MATMUL_DESC_TRANSA, transposition(p.left_transposed));
    describe(CUBLASLT_MATMUL_DESC_TRANSB, transposition(p.right_transposed));
    describe(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(spec));
    if (reads_auxiliary_matrix(spec)) describe(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.rows);
    lay_out(left_, spec.type, p.left_rows, p.left_columns);
    lay_out(right_, spec.type, p.right_rows, p.right_columns);
    lay_out(result_, spec.result, p.rows, p.columns);
    if (spec.epilogue == Epilogue::none) choose(false);
    choose(true);
    if (!has_algorithm()) report("has no algorithm");
    if (spec.epilogue == Epilogue::row_sums && spec.accumulate_sums) add_sums_ = add({DType::f32, 1, spec.m}, {});
  }

  bool has_algorithm() const { return algorithm_[1].has_value(); }

  std::int64_t workspace_bytes() const override {
    const std::int64_t sums = add_sums_.launch ? spec_.m * bytes_of(DType::f32) : 0;
    const std::int64_t own = whole(algorithm_bytes_) + sums;
    return std::max(own > 0 ? own + workspace_alignment : 0, otherwise_->workspace_bytes());
  }

  void run(const ProductOperands& operands, const Stream& stream) const override {
    // Accumulation adds C to itself; a residual stands in its place.
    const void* added = spec_.residual ? operands.residual : operands.c;
    const bool both = spec_.residual && spec_.accumulate;
    bool aligned = true;
    for (const void* p : {static_cast<const void*>(operands.c), operands.a, operands.b, added, operands.bias,
                          static_cast<const void*>(operands.auxiliary)})
      aligned = aligned && reinterpret_cast<std::uintptr_t>(p) % vector_bytes == 0;
    const auto& algorithm = algorithm_[aligned ? 1 : 0];
    if (both || refused_[aligned ? 1 : 0]) return otherwise_->run(operands, stream);
    if (!algorithm)
      return instead(aligned, "was not used at addresses that are not multiples of 16 bytes", operands, stream);

    auto* const workspace = reinterpret_cast<std::byte*>(
        whole(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(stream.workspace))));
    // The library writes sums, it never adds them to what is there.
    void* const sums = add_sums_.launch ? workspace + whole(algorithm_bytes_) : operands.auxiliary;
    if (fused_bias_) describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
    if (spec_.epilogue == Epilogue::row_sums) describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, sums);
    if (reads_auxiliary_matrix(spec_)) describe(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, operands.auxiliary);
    const double one = 1, times = spec_.residual || spec_.accumulate ? 1 : 0;
    const float one_f32 = 1, times_f32 = static_cast<float>(times);
    const bool f64 = spec_.type == DType::f64;
    const cublasStatus_t status = library_->api.multiply(
        library_->handle, description_.value, f64 ? static_cast<const void*>(&one) : &one_f32, operands.b, left_.value,
        operands.a, right_.value, f64 ? static_cast<const void*>(&times) : &times_f32, added, result_.value, operands.c,
        result_.value, &*algorithm, workspace, static_cast<std::size_t>(algorithm_bytes_),
        static_cast<cudaStream_t>(stream.handle));
    if (is_refusal(status))
      return instead(aligned, std::string("refused to run what it chose (") + library_->api.status_name(status) + ")",
                     operands, stream);
    library_->check(status, "running a product");
    if (spec_.bias && !fused_bias_)
      add_bias(operands.c, spec_.result, operands.bias, spec_.type, spec_.m, spec_.n, stream);
    if (add_sums_.launch) {
      const View db{operands.auxiliary, DType::f32, {spec_.m}};
      add_sums_.launch(db, db, {sums, DType::f32, {spec_.m}}, stream);
    }
  }

 private:
  static constexpr std::int64_t whole(std::int64_t bytes) {
    return pieces_of(bytes, workspace_alignment) * workspace_alignment;
  }

  void report(const std::string& why) const { library_->refusals.report(refusal_of(spec_, why)); }

  /// From now on, too.
  void instead(bool aligned, const std::string& why, const ProductOperands& operands, const Stream& stream) const {
    refused_[aligned ? 1 : 0] = true;
    report(why);
    otherwise_->run(operands, stream);
  }

  template <class Value>
  void describe(cublasLtMatmulDescAttributes_t attribute, const Value& value) const {
    library_->check(library_->api.set_of_product(description_.value, attribute, &value, sizeof value),
                    "describing a product");
  }

  void lay_out(Layout& layout, DType type, std::int64_t rows, std::int64_t columns) const {
    library_->check(library_->api.describe_matrix(&layout.value, data_type_of(type), static_cast<std::uint64_t>(rows),
                                                  static_cast<std::uint64_t>(columns), rows),
                    "describing a matrix");
  }

  /// The library's first choice for operands at multiples of 16 bytes, or of their elements only.
  void choose(bool aligned) {
    const CublasLt& api = library_->api;
    Owned<cublasLtMatmulPreference_t> preference(api.destroy_preference);
    library_->check(api.make_preference(&preference.value), "choosing an algorithm");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      library_->check(api.set_preference(preference.value, attribute, &value, sizeof value), "choosing an algorithm");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(workspace_limit));
    // No sums by atomics: the same operands give the same bits.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    const auto of_factors = static_cast<std::uint32_t>(aligned ? vector_bytes : bytes_of(spec_.type));
    const auto of_result = static_cast<std::uint32_t>(aligned ? vector_bytes : bytes_of(spec_.result));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, of_factors);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, of_factors);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, of_result);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, of_result);
    // Of these the library looks at the alignment of the addresses, which are not known yet.
    auto* const somewhere = reinterpret_cast<void*>(static_cast<std::uintptr_t>(of_result));
    if (fused_bias_ || spec_.epilogue == Epilogue::row_sums) describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, somewhere);
    if (reads_auxiliary_matrix(spec_)) describe(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, somewhere);
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const cublasStatus_t status = api.choose(library_->handle, description_.value, left_.value, right_.value,
                                             result_.value, result_.value, preference.value, 1, &found, &count);
    if (is_refusal(status) || (status == CUBLAS_STATUS_SUCCESS && count == 0)) return;
    // Which types have which epilogue differs from version to version.
    if (spec_.epilogue != Epilogue::none &&
        (status == CUBLAS_STATUS_INVALID_VALUE || found.state != CUBLAS_STATUS_SUCCESS))
      return;
    library_->check(status, "choosing an algorithm");
    library_->check(found.state, "choosing an algorithm");
    algorithm_[aligned ? 1 : 0] = found.algo;
    algorithm_bytes_ = std::max(algorithm_bytes_, static_cast<std::int64_t>(found.workspaceSize));
  }

  ProductSpec spec_;
  std::shared_ptr<Library> library_;
  std::shared_ptr<const MatrixProduct> otherwise_;
  Owned<cublasLtMatmulDesc_t> description_;
  Layout left_, right_, result_;
  bool fused_bias_ = false;
  std::array<std::optional<cublasLtMatmulAlgo_t>, 2> algorithm_;  ///< without and with alignment
  std::int64_t algorithm_bytes_ = 0;
  mutable std::array<bool, 2> refused_{};  ///< likewise, when it ran: it is not asked again
  Prepared<View, View, View> add_sums_;    ///< none where sums are not added to what is there
};

}  // namespace

std::shared_ptr<void> open_library(const Options& options) { return std::make_shared<Library>(options.notice); }

std::string library_text(const Options& options) {
  const CublasLt& api = static_cast<const Library*>(options.library.get())->api;
  const std::size_t version = api.version();  // 130002: 13.0.2
  std::string text = "cuBLASLt ";
  text.append(std::to_string(version / 10000)).append(".").append(std::to_string(version / 100 % 100));
  text.append(".").append(std::to_string(version % 100)).append(" (").append(api.file).append(")");
  return text;
}

std::shared_ptr<const MatrixProduct> make_library_product(const ProductSpec& spec, const Options& options,
                                                          std::shared_ptr<const MatrixProduct> otherwise) {
  if (spec.m == 0 || spec.n == 0 || spec.k == 0 || !may_have(spec, options)) return nullptr;
  auto product = std::make_shared<LibraryProduct>(spec, std::static_pointer_cast<Library>(options.library),
                                                  options.tf32, std::move(otherwise));
  return product->has_algorithm() ? product : nullptr;
}

}  // namespace rankscope::kernels::cuda
