#include "engine/predict/cost/kernels.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/predict/cost/ledger.hpp"
#include "engine/predict/cost/resnet_kernels.hpp"
#include "engine/predict/network/link.hpp"

namespace rankscope {
namespace {

// FlashAttention on causal sequences with heads of 128. On sequences of s tokens its products reach s / (s + 476) of
// the share of the peak that they approach on long ones. FlashAttention-2 does 99, 131, 155, 182, 189 and 189 TFLOP/s
// on an A100 and 163, 221, 265, 294, 308 and 328 on an H100 with 512 to 16,384 tokens, forward and backward (Dao 2023,
// arXiv 2307.08691, figures 4 and 7); the curve through the third is within 7 % of all. A forward's rate is 0.55 / 0.45
// of a backward's (figures 5 and 6), whose FLOPs are 2.5 times as many. It skips the half above the diagonal.
constexpr double flash_ramp_tokens = 476, causal_half = 0.5, flash_forward_over_backward = 0.55 / 0.45,
                 flash_backward_flops = 2.5;

// Shares of the memory's bandwidth that layer norms reach with each operand counted once (forward reads one and writes
// one; backward reads two and writes one, weight's and bias' gradients included), on 16,384 rows of 1,024 halves on an
// A100 of 1,555 GB/s: 1,258 and 1,163 GB/s by kernels that keep a row in registers, 896 and 572 GB/s by earlier ones,
// which read it again, backward in three kernels (NVIDIA/apex, pull request 1037). Megatron-LM has the former since
// commit a2fdcdf0 of October 2021.
struct NormShares {
  double forward, backward;
};
constexpr NormShares persistent_norm{0.809, 0.748}, rereading_norm{0.576, 0.368};

/// Appends kernels of one segment; sizes are those of one rank.
class Builder {
 public:
  Builder(const Model& model, const ClusterSpec& cluster)
      : cluster_(cluster),
        element_(static_cast<double>(bytes_of(model.type))),
        gradient_(gradient_bytes(cluster, model.type)),
        tokens_(model.tokens()),
        rows_(model.stream_tokens()),
        width_(model.spec.width),
        share_(model.spec.width / model.tensor),
        key_share_(model.spec.kind == ModelKind::llama
                       ? model.spec.width / model.spec.heads * model.spec.heads_of_keys() / model.tensor
                       : share_),
        context_(model.spec.context),
        samples_(model.micro_batch_size),
        heads_(model.spec.heads / model.tensor),
        head_width_(model.spec.width / model.spec.heads),
        vocabulary_(model.vocabulary_share()),
        dropout_(model.spec.dropout > 0) {}

  SegmentKernels take() { return std::move(kernels_); }

  /// A layer norm of the residual stream; its input's gradient joins that of the residual branch if any.
  void norm(bool joins) {
    const NormShares& shares = cluster_.software.persistent_norm ? persistent_norm : rereading_norm;
    const double operand = elements(rows_, width_) * element_;
    kernels_.forward.push_back({{}, 2 * operand, 0, 0, shares.forward});
    kernels_.input_gradient.push_back({{}, 3 * operand, 0, 0, shares.backward});
    if (joins) stream(kernels_.input_gradient, 3);
  }
  /// Bias, dropout and the sum with the residual branch.
  void residual_sum(bool bias) {
    stream(kernels_.forward, 3, dropout_ ? 1 : 0);
    if (cluster_.software.separate_kernels && dropout_) stream(kernels_.forward, 2);
    if (dropout_) stream(kernels_.input_gradient, 2, 1);
    if (bias) stream(kernels_.input_gradient, 1);
  }
  /// y[tokens, out] = x[tokens, in] · wᵀ, plus a bias; `bias_here`: its bias' gradient is a kernel here.
  void product(std::int64_t in, std::int64_t out, bool bias, bool bias_here) {
    kernels_.forward.push_back({{tokens_, out, in}});
    if (bias && cluster_.software.separate_kernels) memory(kernels_.forward, elements(tokens_, out), 2);  // the bias
    kernels_.input_gradient.push_back({{tokens_, in, out}});
    // The sum over micro-batches is read and written where the product adds to it.
    const bool joined = cluster_.software.accumulation == Accumulation::fused;
    kernels_.weight_gradient.push_back({{out, in, tokens_, 1, joined ? 2 * gradient_ : 0}});
    if (bias_here) memory(kernels_.weight_gradient, elements(tokens_, out), 1);
    if (!joined) accumulate(elements(out, in));
  }
  void gelu(std::int64_t width) { memory(kernels_.forward, elements(tokens_, width), 2); }
  void gelu_slope(std::int64_t width) { memory(kernels_.input_gradient, elements(tokens_, width), 3); }
  /// Gate and up, from which forward makes one tensor and backward two gradients.
  void swiglu(std::int64_t width) { memory(kernels_.forward, elements(tokens_, width), 3); }
  void swiglu_slope(std::int64_t width) { memory(kernels_.input_gradient, elements(tokens_, width), 5); }
  /// Of queries and keys, in place.
  void rotary() {
    memory(kernels_.forward, elements(tokens_, share_ + key_share_), 2);
    memory(kernels_.input_gradient, elements(tokens_, share_ + key_share_), 2);
  }
  void stream_copy() {
    stream(kernels_.forward, 2);
    stream(kernels_.input_gradient, 2);
  }
  void attention() { cluster_.software.attention == AttentionKernel::stored ? stored_attention() : flash_attention(); }
  void loss() {
    // PyTorch's cross-entropy of 16-bit logits: to fp32, and their logarithmic softmax.
    for (int metric = 0; metric < cluster_.software.loss_metrics; ++metric)
      for (const double bytes : {element_ + 4, 8.0}) kernels_.forward.push_back({{}, logits() * bytes});
    if (cluster_.software.fused) {
      memory(kernels_.forward, logits(), 2);  // read once, and replaced by its gradient
      return;
    }
    // To fp32; maximum, minus the maximum, exponential, sum, quotient.
    for (const double bytes : {element_ + 4, 4.0, 8.0, 8.0, 4.0, 8.0})
      kernels_.forward.push_back({{}, logits() * bytes});
  }
  /// Before the head's product; scaled in place and cast back.
  void loss_gradient() {
    if (cluster_.software.fused) return;
    for (const double bytes : {8.0, 4 + element_}) kernels_.input_gradient.push_back({{}, logits() * bytes});
  }
  /// Rows gathered from the token matrix; backward adds them to its gradient.
  void lookup() {
    memory(kernels_.forward, elements(tokens_, width_), 2);
    memory(kernels_.weight_gradient, elements(tokens_, width_), 3);
    if (cluster_.software.fused) return;
    // PyTorch makes a gradient of the complete matrix, zero except for the tokens' rows.
    memory(kernels_.weight_gradient, elements(vocabulary_, width_), 1);
    accumulate(elements(vocabulary_, width_));
  }
  void positions() {
    stream(kernels_.forward, 3, dropout_ ? 1 : 0);
    stream(kernels_.input_gradient, 2, dropout_ ? 1 : 0);
    if (cluster_.software.embedding_norm) norm(false);
  }

 private:
  double logits() const { return elements(tokens_, vocabulary_); }
  /// A gradient in memory is added to its sum over micro-batches, or copied to the place where it is reduced.
  void accumulate(double count) {
    if (cluster_.software.accumulation == Accumulation::flat) {
      memory(kernels_.weight_gradient, count, 2);
    } else if (cluster_.software.accumulation == Accumulation::copied) {
      kernels_.weight_gradient.push_back({{}, count * (element_ + gradient_)});
      kernels_.weight_gradient.push_back({{}, count * 3 * gradient_});
    } else {
      kernels_.weight_gradient.push_back({{}, count * (element_ + 2 * gradient_)});
    }
  }
  static double elements(std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }
  /// `operands` tensors of this number of elements, and `masks` of one byte per element.
  void memory(std::vector<Kernel>& to, double count, double operands, double masks = 0) {
    to.push_back({{}, count * (operands * element_ + masks)});
  }
  void stream(std::vector<Kernel>& to, double operands, double masks = 0) {
    memory(to, elements(rows_, width_), operands, masks);
  }

  /// Cast to fp32, kernels of these numbers of fp32 operands, and cast back.
  void wide(std::vector<Kernel>& to, double count, std::initializer_list<double> operands) {
    to.push_back({{}, count * (element_ + 4)});
    for (const double each : operands) to.push_back({{}, count * each * 4});
    to.push_back({{}, count * (4 + element_)});
  }

  void stored_attention() {
    const std::int64_t s = context_, d = head_width_, batch = samples_ * heads_;
    const double scores = elements(s, s) * static_cast<double>(batch);
    auto& forward = kernels_.forward;
    if (cluster_.software.score_bias)
      memory(forward, scores, 2);           // copied there, and read by the product that adds to it
    forward.push_back({{s, s, d, batch}});  // scores
    if (has_wide_scores(cluster_)) {
      wide(forward, scores, {2, 2, 2});  // scaled, masked in place, softmax
    } else {
      // Scaled, masked (a product with the mask and a sum), softmax.
      if (cluster_.software.separate_kernels)
        for (int pass = 0; pass < 3; ++pass) memory(forward, scores, 2);
      memory(forward, scores, 2);
    }
    if (dropout_) memory(forward, scores, 2, 1);    // dropped
    forward.push_back({{s, d, s, batch}});          // values
    memory(forward, elements(tokens_, share_), 2);  // heads joined again
    auto& backward = kernels_.input_gradient;
    memory(backward, elements(tokens_, share_), 2);
    backward.push_back({{s, s, d, batch}});  // of the dropped scores
    backward.push_back({{s, d, s, batch}});  // of the values
    if (dropout_) memory(backward, scores, 2, 1);
    if (has_wide_scores(cluster_)) {
      wide(backward, scores, {3, 2, 2});  // of softmax, mask and scale
    } else {
      memory(backward, scores, 3);  // of softmax
      if (cluster_.software.separate_kernels)
        for (int pass = 0; pass < 2; ++pass) memory(backward, scores, 2);  // of mask and scale
    }
    backward.push_back({{s, d, s, batch}});          // of the queries
    backward.push_back({{s, d, s, batch}});          // of the keys
    memory(backward, elements(tokens_, share_ + 2 * key_share_), 2);  // q, k and v joined again
  }
  void flash_attention() {
    const double products = 4 * elements(context_, context_) * static_cast<double>(samples_ * heads_ * head_width_);
    // The mean of queries, keys, values and results: fewer heads have keys and values if queries are grouped.
    const double operands = elements(tokens_, share_ + key_share_) / 2 * element_;
    const double context = static_cast<double>(context_);
    const double both = cluster_.flash_share * context / (context + flash_ramp_tokens);
    const double backward =
        both * (1 / flash_forward_over_backward + flash_backward_flops) / (1 + flash_backward_flops);
    const double forward = backward * flash_forward_over_backward;
    kernels_.forward.push_back({{}, 4 * operands, products * causal_half, forward});
    // The scores are recomputed.
    kernels_.input_gradient.push_back({{}, 8 * operands, flash_backward_flops * products * causal_half, backward});
    if (cluster_.software.split_qkv) memory(kernels_.input_gradient, elements(tokens_, share_ + 2 * key_share_), 2);
  }

  const ClusterSpec& cluster_;
  SegmentKernels kernels_;
  double element_, gradient_;
  std::int64_t tokens_, rows_, width_, share_, key_share_, context_, samples_, heads_, head_width_, vocabulary_;
  bool dropout_;
};

double sum(const std::vector<Kernel>& kernels, const ClusterSpec& cluster, DType type) {
  double seconds = 0;
  for (const Kernel& kernel : kernels) seconds += kernel_seconds(cluster, type, kernel);
  return seconds;
}

SegmentSeconds roofline(const Model& model, const SegmentSpec& s, const ClusterSpec& cluster) {
  const double rate = cluster.product_efficiency *
                      positive_figure(cluster.peak_flops(model.type), "peak FLOP/s in the plan's precision", cluster);
  const auto seconds = [&](double flops, double bytes) {
    return std::max(flops / rate + cluster.op_overhead_s, memory_seconds(cluster, bytes));
  };
  return {seconds(s.forward_flops, s.forward_bytes),
          s.has_input_gradient() ? seconds(s.input_gradient_flops, s.input_gradient_bytes) : 0,
          s.has_weight_gradient() ? seconds(s.weight_gradient_flops, s.weight_gradient_bytes) : 0,
          seconds(s.input_gradient_flops + s.weight_gradient_flops, s.backward_bytes)};
}

}  // namespace

double kernel_seconds(const ClusterSpec& cluster, DType type, const Kernel& kernel) {
  if (kernel.product.m > 0) return product_seconds(cluster, type, kernel.product);
  if (kernel.share_of_bandwidth > 0) {
    const double bandwidth = positive_figure(cluster.memory_bandwidth, "memory_bandwidth", cluster);
    return kernel.bytes / (bandwidth * kernel.share_of_bandwidth) + cluster.op_overhead_s;
  }
  const double through_memory = memory_seconds(cluster, kernel.bytes);
  if (kernel.flops <= 0) return through_memory;
  const double peak = positive_figure(cluster.peak_flops(type), "peak FLOP/s in the plan's precision", cluster);
  return std::max(kernel.flops / (peak * kernel.share_of_peak) + cluster.op_overhead_s, through_memory);
}

SegmentKernels kernels_of(const Model& model, const SegmentSpec& segment, const ClusterSpec& cluster) {
  if (model.spec.is_resnet()) return resnet_kernels_of(model, segment, cluster);
  Builder b(model, cluster);
  for (const WorkSpec& work : segment.work) switch (work.what) {
      case Work::lookup: b.lookup(); break;
      case Work::positions: b.positions(); break;
      case Work::norm: b.norm(false); break;
      case Work::joined_norm: b.norm(true); break;
      case Work::product: b.product(work.in, work.out, work.bias, false); break;
      case Work::biased_product: b.product(work.in, work.out, work.bias, true); break;
      case Work::gelu: b.gelu(work.out); break;
      case Work::gelu_slope: b.gelu_slope(work.out); break;
      case Work::swiglu: b.swiglu(work.out); break;
      case Work::swiglu_slope: b.swiglu_slope(work.out); break;
      case Work::rotary: b.rotary(); break;
      case Work::stream_copy: b.stream_copy(); break;
      case Work::attention: b.attention(); break;
      case Work::residual_sum: b.residual_sum(work.bias); break;
      case Work::loss_gradient: b.loss_gradient(); break;
      case Work::loss: b.loss(); break;
      case Work::pixels:
      case Work::convolution:
      case Work::batch_norm:
      case Work::batch_norm_relu:
      case Work::batch_norm_sum_relu:
      case Work::max_pool:
      case Work::classifier:
        throw std::invalid_argument(std::string(name_of(segment.kind)) + " is no segment of a transformer");
    }
  return b.take();
}

namespace {

SegmentSeconds modelled_seconds(const Model& model, const SegmentSpec& segment, const ClusterSpec& cluster) {
  if (cluster.multiprocessors == 0) return roofline(model, segment, cluster);
  const SegmentKernels kernels = kernels_of(model, segment, cluster);
  SegmentSeconds seconds{sum(kernels.forward, cluster, model.type), sum(kernels.input_gradient, cluster, model.type),
                         sum(kernels.weight_gradient, cluster, model.type), 0};
  seconds.backward = seconds.input_gradient + seconds.weight_gradient;
  return seconds;
}

}  // namespace

SegmentSeconds segment_seconds(const Model& model, const SegmentSpec& segment, const ClusterSpec& cluster,
                               const MeasuredOps* measured) {
  SegmentSeconds seconds = modelled_seconds(model, segment, cluster);
  if (!measured || measured->empty()) return seconds;
  const auto replace = [&](double& modelled, OpKind kind) {
    if (const auto known = measured->seconds(kind, segment.kind, work_of(segment, kind))) modelled = *known;
  };
  replace(seconds.forward, OpKind::forward);
  if (segment.has_input_gradient()) replace(seconds.input_gradient, OpKind::input_gradient);
  if (segment.has_weight_gradient()) replace(seconds.weight_gradient, OpKind::weight_gradient);
  seconds.backward = seconds.input_gradient + seconds.weight_gradient;
  if (segment.has_backward()) replace(seconds.backward, OpKind::backward);
  return seconds;
}

bool has_wide_scores(const ClusterSpec& cluster) {
  return cluster.software.separate_kernels && cluster.software.wide_scores &&
         cluster.software.attention == AttentionKernel::stored;
}

double update_bytes_per_parameter(const ClusterSpec& cluster, double element, double gradient, double states,
                                  bool loss_scale) {
  if (cluster.software.update_bytes > 0) return cluster.software.update_bytes;
  if (cluster.software.fused) return 2 * gradient + 2 * states + (element < 4 ? element : 0);
  const double cast = gradient < 4 ? gradient + 4 : 0, unscale = loss_scale ? 8 : 0;
  const double norm = 4, clip = 8, update = 4 + 2 * states, back = element < 4 ? 4 + element : 0, zero = gradient;
  return cast + unscale + norm + clip + update + back + zero;
}

}  // namespace rankscope
