// A convolution is the product [pixels, kernel²·in] × [kernel²·in, out], whose left side is not stored (implicit GEMM:
// Chetlur et al. 2014, "cuDNN", arXiv 1410.0759). A batch norm reads its input twice, for the statistics and for the
// result; its gradient reads input and result's gradient twice, for the two sums and for the result. ReLU and the sum
// with the shortcut are in the same kernel if the cluster's software is `fused`, else in separate kernels.
#include "engine/predict/cost/resnet_kernels.hpp"

#include <cassert>

namespace rankscope {
namespace {

class ResnetBuilder {
 public:
  ResnetBuilder(const Model& model, const SegmentSpec& segment, const ClusterSpec& cluster)
      : model_(model), segment_(segment), cluster_(cluster), element_(static_cast<double>(bytes_of(model.type))) {}

  SegmentKernels take() { return std::move(kernels_); }

  /// `parameter`: position of its weights among the segment's.
  void convolution(TensorName result, std::size_t parameter, bool input_gradient) {
    const Shape w = weight(parameter);
    const Shape y = shape(result);
    const std::int64_t pixels = y.elements() / y[3], sum = w[1] * w[2] * w[3];
    kernels_.forward.push_back({{pixels, w[0], sum}});
    if (input_gradient) kernels_.input_gradient.push_back({{pixels, sum, w[0]}});
    // Added to the sum over micro-batches, which is read and written.
    const auto gradient = static_cast<double>(bytes_of(accumulation_type(model_.type)));
    kernels_.weight_gradient.push_back({{w[0], sum, pixels, 1, 2 * gradient}});
  }
  void batch_norm(TensorName of, bool relu, bool residual) {
    const auto count = static_cast<double>(shape(of).elements());
    memory(kernels_.forward, count, 3 + (residual && cluster_.software.fused ? 1 : 0));
    memory(kernels_.input_gradient, count,
           (relu && cluster_.software.fused ? 7 : 5) + (residual && cluster_.software.fused ? 1 : 0));
    if (cluster_.software.fused) return;
    if (residual) memory(kernels_.forward, count, 3);
    if (relu) {
      memory(kernels_.forward, count, 2);
      memory(kernels_.input_gradient, count, 3);
    }
  }
  void max_pool() {
    const auto from = static_cast<double>(shape(TensorName::norm1).elements());
    const auto to = static_cast<double>(shape(TensorName::output).elements());
    kernels_.forward.push_back({{}, from * element_ + to * (element_ + 4)});
    kernels_.input_gradient.push_back({{}, from * element_ + to * (element_ + 4)});
  }
  void classifier() {
    const Shape w = weight(0), x = shape(TensorName::residual);
    memory(kernels_.forward, static_cast<double>(x.elements()), 1);
    kernels_.forward.push_back({{x[0], w[0], w[1]}});
    memory(kernels_.forward, static_cast<double>(x[0] * w[0]), 2);
    kernels_.input_gradient.push_back({{x[0], w[1], w[0]}});
    memory(kernels_.input_gradient, static_cast<double>(x.elements()), 1);
    kernels_.weight_gradient.push_back({{w[0], w[1], x[0]}});
  }
  /// Bytes to numbers.
  void pixels() {
    const auto count = static_cast<double>(shape(TensorName::images).elements());
    kernels_.forward.push_back({{}, count * (4 + element_)});
    kernels_.weight_gradient.push_back({{}, count * (4 + element_)});
  }

 private:
  Shape weight(std::size_t parameter) const { return model_.parameters[segment_.parameters[parameter]].shape; }
  Shape shape(TensorName name) const {
    const TensorSpec* tensor = find_tensor(model_, segment_, name);
    assert(tensor);
    return tensor->shape;
  }
  void memory(std::vector<Kernel>& to, double count, double operands) {
    to.push_back({{}, count * operands * element_});
  }

  const Model& model_;
  const SegmentSpec& segment_;
  const ClusterSpec& cluster_;
  double element_;
  SegmentKernels kernels_;
};

}  // namespace

SegmentKernels resnet_kernels_of(const Model& model, const SegmentSpec& segment, const ClusterSpec& cluster) {
  ResnetBuilder b(model, segment, cluster);
  for (const WorkSpec& work : segment.work) switch (work.what) {
      case Work::pixels: b.pixels(); break;
      case Work::convolution: b.convolution(work.tensor, work.weight, segment.has_input_gradient()); break;
      case Work::batch_norm: b.batch_norm(work.tensor, false, false); break;
      case Work::batch_norm_relu: b.batch_norm(work.tensor, true, false); break;
      case Work::batch_norm_sum_relu: b.batch_norm(work.tensor, true, true); break;
      case Work::max_pool: b.max_pool(); break;
      case Work::classifier: b.classifier(); break;
      case Work::lookup:
      case Work::positions:
      case Work::norm:
      case Work::joined_norm:
      case Work::product:
      case Work::biased_product:
      case Work::gelu:
      case Work::gelu_slope:
      case Work::swiglu:
      case Work::swiglu_slope:
      case Work::rotary:
      case Work::stream_copy:
      case Work::attention:
      case Work::residual_sum:
      case Work::loss_gradient:
      case Work::loss: assert(false && "not a segment of a resnet");
    }
  return b.take();
}

}  // namespace rankscope
