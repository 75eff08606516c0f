// Matrix products by cuBLASLt, with bias and residual in the same kernel, and with GELU, its slope or the bias'
// gradient if it has such a kernel. Its GELU is the tanh form, applied before rounding. The slope's epilogue that also
// sums the bias' gradient (DGELU_BGRAD) is not used: it would round the sum to 16 bits.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/bias.hpp"
#include "kernels/cuda/cublas_library.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/geometry.hpp"
#include "kernels/cuda/library.hpp"
#include "kernels/cuda/matrix_product.hpp"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/refusals.hpp"
#include "kernels/cuda/trial.hpp"
#include "kernels/device/device.hpp"
#include "kernels/product_choices.hpp"

namespace rankscope::kernels::cuda {
namespace {

constexpr std::int64_t workspace_limit = 32 << 20;  ///< NVIDIA's recommendation from compute capability 9.0 on
constexpr std::int64_t workspace_alignment = 256;
/// The alignments of operands' addresses that are passed to the library: at most 256 bytes, like an arena's tensors;
/// rows within a tensor often have a smaller one. 0: of an element.
constexpr std::array<std::int64_t, 3> alignments = {0, 16, 256};
constexpr std::size_t most_aligned = alignments.size() - 1;
/// Algorithms that are measured, in the library's own order.
constexpr int most_candidates = 8;
/// Relative to the time of the library's first choice: a smaller gain does not justify different bits.
constexpr double worth_it = 0.97;
constexpr std::int64_t auxiliary_pack = 8;  ///< of the leading dimension of GELU's argument, in elements

std::string version_text(const CublasLt& api) {
  const std::size_t version = api.version();  // 130002: 13.0.2
  std::string text = "cuBLASLt ";
  text.append(std::to_string(version / 10000)).append(".").append(std::to_string(version / 100 % 100));
  return text.append(".").append(std::to_string(version % 100));
}

struct Library {
  explicit Library(const Options& options) : choices(options.choices), refusals(options.notice) {
    check(api.create(&handle), "opening the library");
    const std::vector<CudaDevice> devices = cuda_devices();
    const auto current = static_cast<std::size_t>(current_cuda_device());
    if (current < devices.size()) name.append(devices[current].name).append(", ");
    name.append(version_text(api));
    if (options.tf32) name.append(", TF32");
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
  std::string name;  ///< of the device and the library: a choice depends on them and on the product
  const std::shared_ptr<ProductChoices> choices;  ///< null: the first algorithm is used
  Refusals refusals;
};

/// Nothing was enqueued, and another kernel can compute it. Other errors are mistakes of ours or of the device.
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

/// The library's epilogues need the bias in the result's type, and it has none in fp64.
bool has_fused_bias(const ProductSpec& spec) {
  return spec.bias && spec.result == spec.type && spec.type != DType::f64;
}

cublasLtEpilogue_t epilogue_of(const ProductSpec& spec) {
  const bool bias = has_fused_bias(spec);
  switch (spec.epilogue) {
    case Epilogue::none: return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case Epilogue::gelu: return bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    case Epilogue::gelu_slope: return CUBLASLT_EPILOGUE_DGELU;
    case Epilogue::row_sums: return CUBLASLT_EPILOGUE_BGRADB;  // A is the right factor of a column-major product
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

bool reads_auxiliary_matrix(const ProductSpec& spec) {
  return spec.epilogue == Epilogue::gelu || spec.epilogue == Epilogue::gelu_slope;
}

/// Whether the library is asked for the epilogue.
bool may_have(const ProductSpec& spec, const Options& options) {
  if (spec.epilogue == Epilogue::none) return true;
  if (spec.type == DType::f64 || spec.residual) return false;
  if (spec.epilogue == Epilogue::row_sums) return options.fused_bias_gradient && spec.result == DType::f32;
  // Its GELU uses tanh.approx, whose relative error is up to 2^-11: too large for fp32, for which no kernel of the
  // library includes GELU either (it is a second pass).
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
    if (spec.epilogue == Epilogue::row_sums && spec.accumulate_sums) add_sums_ = add({DType::f32, 1, spec.m}, {});
    for (std::size_t which = spec.epilogue == Epilogue::none ? 0 : 1; which < alignments.size(); ++which) choose(which);
    if (!has_algorithm() && !elsewhere_[most_aligned]) report("has no algorithm");
  }

  bool has_algorithm() const {
    for (const auto& algorithm : algorithm_)
      if (algorithm) return true;
    return false;
  }

  std::int64_t workspace_bytes() const override {
    std::int64_t own = 0;
    for (const auto& algorithm : algorithm_)
      if (algorithm) own = std::max(own, workspace_of(*algorithm));
    return std::max(own, otherwise_->workspace_bytes());
  }

  void run(const ProductOperands& operands, const Stream& stream) const override {
    const std::size_t which = alignment_of(operands);
    if ((spec_.residual && spec_.accumulate) || elsewhere_[which]) return otherwise_->run(operands, stream);
    if (!algorithm_[which])
      return instead(which, "was not used at addresses that are not multiples of 16 bytes", operands, stream);
    const cublasStatus_t status = multiply(*algorithm_[which], operands, stream);
    if (is_refusal(status))
      return instead(which, std::string("refused to run what it chose (") + library_->api.status_name(status) + ")",
                     operands, stream);
    library_->check(status, "running a product");
  }

 private:
  static constexpr std::int64_t whole(std::int64_t bytes) {
    return pieces_of(bytes, workspace_alignment) * workspace_alignment;
  }

  /// One of the library's algorithms for the product.
  struct Algorithm {
    cublasLtMatmulAlgo_t algorithm;
    std::int64_t workspace = 0;  ///< bytes
  };

  /// Includes the bytes needed to begin at a multiple of its alignment.
  std::int64_t workspace_of(const Algorithm& algorithm) const {
    const std::int64_t sums = add_sums_.launch ? spec_.m * bytes_of(DType::f32) : 0;
    const std::int64_t own = whole(algorithm.workspace) + sums;
    return own > 0 ? own + workspace_alignment : 0;
  }

  /// Accumulation adds C to itself; a residual replaces it.
  const void* added_to(const ProductOperands& operands) const {
    return spec_.residual ? operands.residual : operands.c;
  }

  /// An index of `alignments`.
  std::size_t alignment_of(const ProductOperands& operands) const {
    std::uintptr_t bits = 0;
    for (const void* p : {static_cast<const void*>(operands.c), operands.a, operands.b, added_to(operands),
                          operands.bias, static_cast<const void*>(operands.auxiliary)})
      bits |= reinterpret_cast<std::uintptr_t>(p);
    for (std::size_t which = most_aligned; which > 0; --which)
      if (bits % static_cast<std::uintptr_t>(alignments[which]) == 0) return which;
    return 0;
  }

  /// Enqueues the product, and the parts of it that are not in the library's kernel. A refusal has enqueued nothing.
  cublasStatus_t multiply(const Algorithm& algorithm, const ProductOperands& operands, const Stream& stream) const {
    auto* const workspace = reinterpret_cast<std::byte*>(
        whole(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(stream.workspace))));
    // The library writes sums; it never adds them to stored ones.
    void* const sums = add_sums_.launch ? workspace + whole(algorithm.workspace) : operands.auxiliary;
    if (fused_bias_) describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
    if (spec_.epilogue == Epilogue::row_sums) describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, sums);
    if (reads_auxiliary_matrix(spec_)) describe(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, operands.auxiliary);
    const double one = 1, times = spec_.residual || spec_.accumulate ? 1 : 0;
    const float one_f32 = 1, times_f32 = static_cast<float>(times);
    const bool f64 = spec_.type == DType::f64;
    const cublasStatus_t status = library_->api.multiply(
        library_->handle, description_.value, f64 ? static_cast<const void*>(&one) : &one_f32, operands.b, left_.value,
        operands.a, right_.value, f64 ? static_cast<const void*>(&times) : &times_f32, added_to(operands),
        result_.value, operands.c, result_.value, &algorithm.algorithm, workspace,
        static_cast<std::size_t>(algorithm.workspace), static_cast<cudaStream_t>(stream.handle));
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (spec_.bias && !fused_bias_)
      add_bias(operands.c, spec_.result, operands.bias, spec_.type, spec_.m, spec_.n, stream);
    if (add_sums_.launch) {
      const View db{operands.auxiliary, DType::f32, {spec_.m}};
      add_sums_.launch(db, db, {sums, DType::f32, {spec_.m}}, stream);
    }
    return status;
  }

  void report(const std::string& why) const { library_->refusals.report(refusal_of(spec_, why)); }

  /// Computes this and all later launches by other kernels.
  void instead(std::size_t which, const std::string& why, const ProductOperands& operands, const Stream& stream) const {
    elsewhere_[which] = true;
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

  /// The library's algorithms for operands of that alignment, its first choice first.
  std::vector<Algorithm> candidates(std::size_t which) const {
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
    const auto at_least = [&](DType type) {
      return static_cast<std::uint32_t>(std::max<std::int64_t>(alignments[which], bytes_of(type)));
    };
    const std::uint32_t of_factors = at_least(spec_.type), of_result = at_least(spec_.result);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, of_factors);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, of_factors);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, of_result);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, of_result);
    // The library only uses the alignment of the addresses, which are not known yet.
    auto* const somewhere = reinterpret_cast<void*>(static_cast<std::uintptr_t>(of_result));
    if (fused_bias_ || spec_.epilogue == Epilogue::row_sums) describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, somewhere);
    if (reads_auxiliary_matrix(spec_)) describe(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, somewhere);
    std::array<cublasLtMatmulHeuristicResult_t, most_candidates> found{};
    int count = 0;
    const cublasStatus_t status =
        api.choose(library_->handle, description_.value, left_.value, right_.value, result_.value, result_.value,
                   preference.value, library_->choices ? most_candidates : 1, found.data(), &count);
    if (is_refusal(status) || (status == CUBLAS_STATUS_SUCCESS && count == 0)) return {};
    // The epilogues of each type differ from version to version.
    if (spec_.epilogue != Epilogue::none &&
        (status == CUBLAS_STATUS_INVALID_VALUE || found[0].state != CUBLAS_STATUS_SUCCESS))
      return {};
    library_->check(status, "choosing an algorithm");
    library_->check(found[0].state, "choosing an algorithm");
    std::vector<Algorithm> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      if (found[i].state == CUBLAS_STATUS_SUCCESS)
        all.push_back({found[i].algo, static_cast<std::int64_t>(found[i].workspaceSize)});
    return all;
  }

  void choose(std::size_t which) {
    const std::vector<Algorithm> found = candidates(which);
    if (found.empty()) return;
    const bool has_separate = spec_.epilogue != Epilogue::none;
    int chosen = 0;
    // Addresses aligned only to elements are rare, and never fast.
    if (library_->choices && which > 0 && (found.size() > 1 || has_separate)) {
      std::string key = library_->name + ": " + words_of(spec_);
      if (spec_.accumulate_sums) key += ", sums added";
      key += ", at multiples of " + std::to_string(alignments[which]);
      chosen = library_->choices->of(key, [&] { return fastest(found, which); });
    }
    if (chosen == ProductChoices::separate) {
      elsewhere_[which] = true;
      report("is slower than separate kernels, as measured,");
    } else {  // another version of the library may have fewer
      const auto index = static_cast<std::size_t>(chosen);
      algorithm_[which] = found[index < found.size() ? index : 0];
    }
  }

  /// By measurement: an index of `found`, or ProductChoices::separate.
  int fastest(const std::vector<Algorithm>& found, std::size_t which) const {
    std::vector<Trial::Launch> launches;
    std::int64_t workspace = otherwise_->workspace_bytes();
    for (const Algorithm& one : found) {
      workspace = std::max(workspace, workspace_of(one));
      launches.emplace_back([this, &one](const ProductOperands& operands, const Stream& stream) {
        const cublasStatus_t status = multiply(one, operands, stream);
        if (is_refusal(status)) return false;
        library_->check(status, "measuring a product");
        return true;
      });
    }
    if (spec_.epilogue != Epilogue::none)
      launches.emplace_back([this](const ProductOperands& operands, const Stream& stream) {
        otherwise_->run(operands, stream);
        return true;
      });
    std::optional<Trial> trial;
    try {
      trial.emplace(spec_, alignments[which], workspace);
    } catch (const DeviceError&) {
      library_->refusals.report(words_of(spec_) +
                                ": its algorithms were not measured, because there is not the memory; "
                                "cuBLASLt's first one is used");
      return 0;
    }
    const std::vector<double> ns = trial->nanoseconds(launches);
    std::size_t best = 0;
    for (std::size_t i = 1; i < ns.size(); ++i)
      if (ns[i] < (best == 0 ? worth_it : 1.0) * ns[best]) best = i;
    return best < found.size() ? static_cast<int>(best) : ProductChoices::separate;
  }

  ProductSpec spec_;
  std::shared_ptr<Library> library_;
  std::shared_ptr<const MatrixProduct> otherwise_;
  Owned<cublasLtMatmulDesc_t> description_;
  Layout left_, right_, result_;
  bool fused_bias_ = false;
  std::array<std::optional<Algorithm>, alignments.size()> algorithm_;  ///< by alignment
  /// By alignment: separate kernels are faster, or the library has refused to run it. It is not asked again.
  mutable std::array<bool, alignments.size()> elsewhere_{};
  Prepared<View, View, View> add_sums_;  ///< none if sums are not accumulated
};

}  // namespace

std::shared_ptr<void> open_library(const Options& options) { return std::make_shared<Library>(options); }

std::string library_text(const Options& options) {
  const CublasLt& api = static_cast<const Library*>(options.library.get())->api;
  return version_text(api) + " (" + api.file + ")";
}

std::shared_ptr<const MatrixProduct> make_library_product(const ProductSpec& spec, const Options& options,
                                                          std::shared_ptr<const MatrixProduct> otherwise) {
  if (spec.m == 0 || spec.n == 0 || spec.k == 0 || !may_have(spec, options)) return nullptr;
  auto product = std::make_shared<LibraryProduct>(spec, std::static_pointer_cast<Library>(options.library),
                                                  options.tf32, std::move(otherwise));
  return product->has_algorithm() ? product : nullptr;
}

}  // namespace rankscope::kernels::cuda
