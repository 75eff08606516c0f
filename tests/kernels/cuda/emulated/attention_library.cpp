#include "kernels/cuda/attention_library.hpp"

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "attention_library.hpp"
#include "kernels/tensor/element.hpp"
#include "runtime.hpp"

namespace {

std::atomic<emulated::Cudnn> has{emulated::Cudnn::absent};
std::atomic<std::uint64_t> passes{0};
constexpr std::int64_t workspace_wanted = 512;

}  // namespace

namespace emulated {

void set_cudnn(Cudnn now) { has = now; }
std::uint64_t attention_passes() { return passes; }

}  // namespace emulated

namespace rankscope::kernels::cuda {
namespace {

/// Elements of the operands of one head.
struct Head {
  const AttentionShape& shape;
  HeadPlace place;
  View qkv, attended, statistics;
  std::int64_t at_qkv(std::int64_t part, std::int64_t row, std::int64_t d) const {
    return part + row * shape.row_stride() + d;
  }
  std::int64_t at_result(std::int64_t row, std::int64_t d) const { return place.out + row * shape.width + d; }

  double score(std::int64_t row, std::int64_t other) const {
    double dot = 0;
    for (std::int64_t d = 0; d < shape.depth; ++d)
      dot += element(qkv, at_qkv(place.query, row, d)) * element(qkv, at_qkv(place.key, other, d));
    return dot * shape.root();
  }
};

void forward_of(const Head& h) {
  for (std::int64_t row = 0; row < h.shape.context; ++row) {
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t other = 0; other <= row; ++other) sum += weights.emplace_back(std::exp(h.score(row, other)));
    set_element(h.statistics, h.place.statistic + row, std::log(sum));
    for (std::int64_t d = 0; d < h.shape.depth; ++d) {
      double value = 0;
      for (std::int64_t other = 0; other <= row; ++other)
        value += weights[static_cast<std::size_t>(other)] / sum * element(h.qkv, h.at_qkv(h.place.value, other, d));
      set_element(h.attended, h.at_result(row, d), value);
    }
  }
}

void backward_of(const Head& h, const View& dqkv, const View& dattended) {
  const std::int64_t rows = h.shape.context, depth = h.shape.depth;
  std::vector<double> dq(static_cast<std::size_t>(rows * depth)), dk(dq.size()), dv(dq.size());
  const auto at = [&](std::int64_t row, std::int64_t d) { return static_cast<std::size_t>(row * depth + d); };
  for (std::int64_t row = 0; row < rows; ++row) {
    double dot = 0;
    for (std::int64_t d = 0; d < depth; ++d)
      dot += element(dattended, h.at_result(row, d)) * element(h.attended, h.at_result(row, d));
    for (std::int64_t other = 0; other <= row; ++other) {
      const double p = std::exp(h.score(row, other) - element(h.statistics, h.place.statistic + row));
      double dp = 0;
      for (std::int64_t d = 0; d < depth; ++d)
        dp += element(dattended, h.at_result(row, d)) * element(h.qkv, h.at_qkv(h.place.value, other, d));
      const double ds = p * (dp - dot) * h.shape.root();
      for (std::int64_t d = 0; d < depth; ++d) {
        dq[at(row, d)] += ds * element(h.qkv, h.at_qkv(h.place.key, other, d));
        dk[at(other, d)] += ds * element(h.qkv, h.at_qkv(h.place.query, row, d));
        dv[at(other, d)] += p * element(dattended, h.at_result(row, d));
      }
    }
  }
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t d = 0; d < depth; ++d) {
      set_element(dqkv, h.at_qkv(h.place.query, row, d), dq[at(row, d)]);
      set_element(dqkv, h.at_qkv(h.place.key, row, d), dk[at(row, d)]);
      set_element(dqkv, h.at_qkv(h.place.value, row, d), dv[at(row, d)]);
    }
}

class Emulated final : public AttentionLibrary {
 public:
  std::string text() const override { return "cuDNN 9.19.0 (emulated)"; }

  std::optional<AttentionPass<ForwardOperands>> forward(const AttentionSpec& spec, std::string& why) override {
    return pass_of<ForwardOperands>(spec, why, [spec](const ForwardOperands& o) {
      for_each_head(spec, o.qkv, o.attended, o.log_sum_exp, forward_of);
    });
  }
  std::optional<AttentionPass<BackwardOperands>> backward(const AttentionSpec& spec, std::string& why) override {
    return pass_of<BackwardOperands>(spec, why, [spec](const BackwardOperands& o) {
      const View dqkv{o.dqkv, spec.type, {spec.samples * spec.context, 3 * spec.width}};
      const View dattended{const_cast<void*>(o.dattended), spec.type, {spec.samples * spec.context, spec.width}};
      for_each_head(spec, o.qkv, o.attended, o.log_sum_exp,
                    [&](const Head& head) { backward_of(head, dqkv, dattended); });
    });
  }

 private:
  template <class Body>
  static void for_each_head(const AttentionSpec& spec, const void* qkv, const void* attended, const void* statistics,
                            Body body) {
    const AttentionShape shape(spec);
    const std::int64_t rows = spec.samples * spec.context;
    const auto view = [&](const void* data, DType type, std::int64_t width) {
      return View{const_cast<void*>(data), type, {rows, width}};
    };
    for (std::int64_t i = 0; i < shape.all_heads(); ++i)
      body(Head{shape, place_of(shape, i), view(qkv, spec.type, 3 * spec.width), view(attended, spec.type, spec.width),
                view(statistics, DType::f32, spec.heads)});
  }

  static void check_alignment(const ForwardOperands& o) { check_all({o.attended, o.log_sum_exp, o.qkv}); }
  static void check_alignment(const BackwardOperands& o) {
    check_all({o.dqkv, o.dattended, o.qkv, o.log_sum_exp, o.attended});
  }
  static void check_all(std::initializer_list<const void*> operands) {
    for (const void* operand : operands)
      if (reinterpret_cast<std::uintptr_t>(operand) % 16 != 0)
        throw std::logic_error("cuDNN was given operands that are not aligned");
  }

  template <class Operands, class Body>
  static std::optional<AttentionPass<Operands>> pass_of(const AttentionSpec& spec, std::string& why, Body body) {
    if (bytes_of(spec.type) != 2 || spec.width / spec.heads % 8 != 0)
      throw std::logic_error("cuDNN was asked for attention that it never has");
    if (has == emulated::Cudnn::without_kernels) {
      why = "no engine";
      return std::nullopt;
    }
    return AttentionPass<Operands>{workspace_wanted, [body](const Operands& operands, const Stream& stream) {
                                     if (has == emulated::Cudnn::refusing) return false;
                                     check_alignment(operands);
                                     ++passes;
                                     return emulated::enqueue(stream.handle, [body, operands] { body(operands); }) ==
                                            cudaSuccess;
                                   }};
  }
};

}  // namespace

std::unique_ptr<AttentionLibrary> find_attention_library(std::string&) {
  return has == emulated::Cudnn::absent ? nullptr : std::make_unique<Emulated>();
}

}  // namespace rankscope::kernels::cuda
