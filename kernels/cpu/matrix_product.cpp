#include "kernels/cpu/matrix_product.hpp"

#include <fmt/format.h>

#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/onednn.hpp"
#include "kernels/cpu/openblas.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/followed_product.hpp"

namespace rankscope::kernels::cpu {
namespace {

std::string describe(const ProductSpec& spec) {
  return fmt::format("product {} x {} x {} in {}", spec.m, spec.k, spec.n, rankscope::name_of(spec.type));
}

// oneDNN 3 (Ubuntu 24.04) has no operation descriptors. `bias` may be null.
#if DNNL_VERSION_MAJOR >= 3
dnnl::matmul::primitive_desc describe_matmul(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                             const dnnl::memory::desc& b, const dnnl::memory::desc* bias,
                                             const dnnl::memory::desc& c, const dnnl::primitive_attr& attributes) {
  return bias ? dnnl::matmul::primitive_desc(engine, a, b, *bias, c, attributes)
              : dnnl::matmul::primitive_desc(engine, a, b, c, attributes);
}
#else
dnnl::matmul::primitive_desc describe_matmul(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                             const dnnl::memory::desc& b, const dnnl::memory::desc* bias,
                                             const dnnl::memory::desc& c, const dnnl::primitive_attr& attributes) {
  const auto operation = bias ? dnnl::matmul::desc(a, b, *bias, c) : dnnl::matmul::desc(a, b, c);
  return {operation, attributes, engine};
}
#endif

class OneDnnProduct final : public MatrixProduct {
 public:
  OneDnnProduct(const ProductSpec& spec, int threads) : threads_(threads) {
    using tag = dnnl::memory::format_tag;
    const ThreadScope scope(threads);
    const auto type = data_type_of(spec.type), result = data_type_of(spec.result);
    const dnnl::memory::desc a({spec.m, spec.k}, type, spec.a_transposed ? tag::ba : tag::ab);
    const dnnl::memory::desc b({spec.k, spec.n}, type, spec.b_transposed ? tag::ba : tag::ab);
    const dnnl::memory::desc c({spec.m, spec.n}, result, tag::ab);
    const dnnl::memory::desc bias({1, spec.n}, type, tag::ab);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::post_ops after;
    if (spec.accumulate) after.append_sum(1.0f);
    if (spec.residual) after.append_binary(dnnl::algorithm::binary_add, c);
    attributes.set_post_ops(after);
    const auto primitive = describe_matmul(call_.engine(), a, b, spec.bias ? &bias : nullptr, c, attributes);
    optimised_ = cpu::optimised(primitive.impl_info_str());
    call_.set(dnnl::matmul(primitive));
    workspace_bytes_ = aligned(static_cast<std::int64_t>(primitive.scratchpad_desc().get_size()));
    call_.add(DNNL_ARG_DST, c);
    call_.add(DNNL_ARG_SRC, a);
    call_.add(DNNL_ARG_WEIGHTS, b);
    call_.add(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc());
    if (spec.bias) call_.add(DNNL_ARG_BIAS, bias);
    if (spec.residual) call_.add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(spec.accumulate ? 1 : 0) | DNNL_ARG_SRC_1, c);
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  /// False if oneDNN has only its reference loops for it.
  bool optimised() const { return optimised_; }

  void run(const ProductOperands& operands, const Stream& stream) const override {
    const ThreadScope scope(threads_);
    // The order of the constructor's calls of add.
    const void* handles[6] = {operands.c, operands.a, operands.b, stream.workspace, nullptr, nullptr};
    int next = 4;
    if (operands.bias) handles[next++] = operands.bias;
    if (operands.residual) handles[next++] = operands.residual;
    call_.run(handles);
  }

 private:
  int threads_;
  OneDnnCall call_;
  bool optimised_ = false;
  std::int64_t workspace_bytes_ = 0;
};

/// fp16, and bf16 on a CPU without AVX-512: all operands are widened, multiplied in fp32, rounded once.
class WidenedProduct final : public MatrixProduct {
 public:
  WidenedProduct(const ProductSpec& spec, const Options& options)
      : spec_(spec),
        narrow_result_(spec.result == spec.type),
        loops_(loops_for(spec.type, options)),
        inner_(wide_spec(spec), options.threads) {
    std::int64_t next = inner_.workspace_bytes();
    const auto place = [&next](std::int64_t elements) {
      const std::int64_t at = next;
      next += aligned(elements * bytes_of(DType::f32));
      return at;
    };
    a_ = place(spec.m * spec.k);
    b_ = place(spec.k * spec.n);
    bias_ = place(spec.n);
    c_ = place(narrow_result_ ? spec.m * spec.n : 0);
    residual_ = place(spec.residual ? spec.m * spec.n : 0);
    workspace_bytes_ = next;
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void run(const ProductOperands& operands, const Stream& stream) const override {
    std::byte* workspace = stream.workspace;
    ProductOperands wide{operands.c, workspace + a_, workspace + b_, nullptr, operands.residual};
    loops_.widen(workspace + a_, operands.a, spec_.m * spec_.k);
    loops_.widen(workspace + b_, operands.b, spec_.k * spec_.n);
    if (operands.bias) {
      loops_.widen(workspace + bias_, operands.bias, spec_.n);
      wide.bias = workspace + bias_;
    }
    if (narrow_result_) {
      wide.c = workspace + c_;
      if (spec_.accumulate) loops_.widen(wide.c, operands.c, spec_.m * spec_.n);
      if (operands.residual) {
        loops_.widen(workspace + residual_, operands.residual, spec_.m * spec_.n);
        wide.residual = workspace + residual_;
      }
    }
    inner_.run(wide, stream);
    if (narrow_result_) loops_.narrow(operands.c, wide.c, spec_.m * spec_.n);
  }

 private:
  static ProductSpec wide_spec(ProductSpec spec) {
    spec.type = spec.result = DType::f32;
    return spec;
  }

  ProductSpec spec_;
  bool narrow_result_;
  const Loops& loops_;
  OneDnnProduct inner_;
  std::int64_t a_ = 0, b_ = 0, bias_ = 0, c_ = 0, residual_ = 0, workspace_bytes_ = 0;
};

class BlasProduct final : public MatrixProduct {
 public:
  BlasProduct(const ProductSpec& spec, const Options& options)
      : spec_(spec), threads_(options.threads), loops_(loops_for(DType::f64, options)), blas_(load_openblas()) {}

  std::int64_t workspace_bytes() const override { return 0; }

  void run(const ProductOperands& operands, const Stream&) const override {
    parallel_for(threads_, spec_.m, [&](std::int64_t first, std::int64_t last, int) {
      const std::int64_t rows = last - first;
      auto* c = static_cast<double*>(operands.c) + first * spec_.n;
      const auto* a = static_cast<const double*>(operands.a) + first * (spec_.a_transposed ? 1 : spec_.k);
      bool add = spec_.accumulate;
      if (operands.residual && !add) {
        std::memcpy(c, static_cast<const double*>(operands.residual) + first * spec_.n,
                    static_cast<std::size_t>(rows * spec_.n) * sizeof(double));
        add = true;
      } else if (operands.residual) {
        loops_.add(c, c, static_cast<const double*>(operands.residual) + first * spec_.n, rows * spec_.n);
      }
      const auto size = [](std::int64_t n) { return static_cast<blasint>(n); };
      const auto turn = blas_.turn != nullptr ? std::unique_lock(*blas_.turn) : std::unique_lock<std::mutex>();
      blas_.dgemm(CblasRowMajor, spec_.a_transposed ? CblasTrans : CblasNoTrans,
                  spec_.b_transposed ? CblasTrans : CblasNoTrans, size(rows), size(spec_.n), size(spec_.k), 1.0, a,
                  size(spec_.a_transposed ? spec_.m : spec_.k), static_cast<const double*>(operands.b),
                  size(spec_.b_transposed ? spec_.k : spec_.n), add ? 1.0 : 0.0, c, size(spec_.n));
      if (operands.bias) loops_.add_bias(c, operands.bias, rows, spec_.n);
    });
  }

 private:
  ProductSpec spec_;
  int threads_;
  const Loops& loops_;
  OpenBlas blas_;
};

}  // namespace

bool native_bf16_products() {
  ProductSpec small;
  small.type = small.result = DType::bf16;
  small.m = small.n = small.k = 64;
  try {
    return OneDnnProduct(small, 1).optimised();
  } catch (const dnnl::error&) {
    return false;
  }
}

std::shared_ptr<const MatrixProduct> make_product(const ProductSpec& spec, const Options& options) {
  if (spec.epilogue != Epilogue::none) {
    ProductSpec plain = spec;
    plain.epilogue = Epilogue::none;
    return std::make_shared<FollowedProduct>(spec, make_product(plain, options),
                                             EpiloguePasses{gelu, gelu_slope, bias_gradient}, options);
  }
  if (spec.type == DType::f64 && spec.result == DType::f64) return std::make_shared<BlasProduct>(spec, options);
  const bool f32 = spec.type == DType::f32 && spec.result == DType::f32;
  const bool narrow = spec.type == DType::bf16 || spec.type == DType::f16;
  const bool half = narrow && (spec.result == spec.type || spec.result == DType::f32);
  if (!f32 && !half)
    throw Unsupported("the kernel set 'cpu' has no " + describe(spec) + " with a result in " +
                      std::string(rankscope::name_of(spec.result)));
  try {
    if (spec.type == DType::f16 || (half && !native_bf16_products()))
      return std::make_shared<WidenedProduct>(spec, options);
    return std::make_shared<OneDnnProduct>(spec, options.threads);
  } catch (const dnnl::error& error) {
    throw Unsupported("oneDNN has no " + describe(spec) + ": " + error.what());
  }
}

}  // namespace rankscope::kernels::cpu
