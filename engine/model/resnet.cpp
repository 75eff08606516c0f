#include "engine/model/resnet.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "engine/model/operands.hpp"
#include "engine/model/parameter_table.hpp"
#include "engine/scenario/resnet.hpp"
#include "kernels/convolution.hpp"

namespace rankscope {
namespace {

using enum TensorName;

constexpr int colours = 3, expansion = 4;
/// Where a block stands: what it is given, and what it makes of it.
struct BlockSizes {
  std::int64_t in = 0, middle = 0;      ///< channels
  std::int64_t side = 0, out_side = 0;  ///< pixels
  int stride = 1;
  std::int64_t out() const { return expansion * middle; }
  bool has_shortcut() const { return in != out() || stride != 1; }
};

/// A convolution of square images that keeps their size, or with stride 2 halves it.
struct Convolution {
  std::int64_t side = 0, in = 0, out = 0;
  int kernel = 1, stride = 1;
  std::int64_t out_side() const { return kernels::window_places(side, kernel, stride, kernel / 2); }
  /// Of one of its three products, for one sample.
  double flops() const {
    return 2.0 * static_cast<double>(out_side() * out_side() * kernel * kernel * in) * static_cast<double>(out);
  }
};

SegmentSpec segment_of(Segment kind, int block = -1) {
  SegmentSpec segment;
  segment.kind = kind;
  segment.block = block;
  return segment;
}

class Builder {
 public:
  explicit Builder(Model& model) : model_(model), table_(1), statistics_(accumulation_type(model.type)) {}

  void build() {
    const ModelSpec& spec = model_.spec;
    const Convolution first{spec.image, colours, spec.width, 7, 2};
    const std::int64_t pooled_side = kernels::window_places(first.out_side(), 3, 2, 1);
    const std::vector<BlockSizes> blocks = sizes_of(*resnet_stages(spec.layers), pooled_side);

    const int stem_weight = add_convolution("conv1", first), stem_norm = table_.add_norm("bn1", spec.width);
    std::vector<int> first_of_block;
    for (std::size_t b = 0; b < blocks.size(); ++b) first_of_block.push_back(add_block(b, blocks[b]));
    const std::int64_t features = blocks.back().out();
    // As torchvision's linear layer: uniform within 1/√in has a deviation of 1/√(3·in).
    const int fc = table_.add_product("fc", spec.classes, features, 1 / std::sqrt(3.0 * static_cast<double>(features)),
                                      TensorSplit{});
    model_.parameters = std::move(table_.parameters());

    add_stem(first, stem_weight);
    add_pool(first, pooled_side, stem_norm);
    for (std::size_t b = 0; b < blocks.size(); ++b)
      add_block_segments(static_cast<int>(b), blocks[b], first_of_block[b]);
    add_classifier(blocks.back().out_side, features, fc);
  }

 private:
  /// Where a block's parameters stand behind its first one.
  enum BlockParameter : int {
    conv1_weight,
    bn1_weight,
    conv2_weight = 3,
    bn2_weight,
    conv3_weight = 6,
    bn3_weight,
    downsample_weight = 9,
    downsample_norm
  };

  std::vector<BlockSizes> sizes_of(const std::array<int, 4>& stages, std::int64_t side) const {
    std::vector<BlockSizes> blocks;
    std::int64_t in = model_.spec.width, middle = model_.spec.width;
    for (std::size_t stage = 0; stage < stages.size(); ++stage, middle *= 2)
      for (int b = 0; b < stages[stage]; ++b) {
        BlockSizes block{in, middle, side, side, stage > 0 && b == 0 ? 2 : 1};
        block.out_side = kernels::window_places(side, 3, block.stride, 1);
        blocks.push_back(block);
        in = block.out();
        side = block.out_side;
      }
    return blocks;
  }

  /// He et al. 2015 (arXiv 1502.01852), by what a pixel of the output is summed from in backward: torchvision's
  /// fan-out.
  int add_convolution(const std::string& name, const Convolution& c) {
    const double fan_out = static_cast<double>(c.kernel * c.kernel) * static_cast<double>(c.out);
    return table_.add(name + ".weight", {c.out, c.kernel, c.kernel, c.in}, Init::normal, std::sqrt(2 / fan_out));
  }

  static std::array<Convolution, 4> convolutions_of(const BlockSizes& b) {
    return {Convolution{b.side, b.in, b.middle}, Convolution{b.side, b.middle, b.middle, 3, b.stride},
            Convolution{b.out_side, b.middle, b.out()}, Convolution{b.side, b.in, b.out(), 1, b.stride}};
  }

  int add_block(std::size_t block, const BlockSizes& b) {
    const std::string prefix = "block." + std::to_string(block) + ".";
    const auto convolutions = convolutions_of(b);
    const int first = add_convolution(prefix + "conv1", convolutions[0]);
    table_.add_norm(prefix + "bn1", b.middle);
    add_convolution(prefix + "conv2", convolutions[1]);
    table_.add_norm(prefix + "bn2", b.middle);
    add_convolution(prefix + "conv3", convolutions[2]);
    // With weights of 1 each block adds as much as it is given, and gradients grow from block to block. Of L blocks
    // each begins with 1/√L (De and Smith 2020, arXiv 2002.10444; torchvision has 1, or 0 with zero_init_residual,
    // whose convolutions have no gradient at first).
    table_.add_norm(prefix + "bn3", b.out(), 1 / std::sqrt(static_cast<double>(model_.spec.layers)));
    if (b.has_shortcut()) {
      add_convolution(prefix + "downsample.0", convolutions[3]);
      table_.add_norm(prefix + "downsample.1", b.out());
    }
    return first;
  }

  std::int64_t samples() const { return model_.micro_batch_size; }
  TensorSpec image(TensorName name, std::int64_t side, std::int64_t channels) const {
    return {name, {samples(), side, side, channels}, model_.type};
  }
  TensorSpec statistic(TensorName name, std::int64_t channels) const { return {name, {channels}, statistics_}; }

  /// Each half of backward does as much again.
  void count(SegmentSpec& segment, const Convolution& c, bool input_gradient = true) const {
    const double flops = static_cast<double>(samples()) * c.flops();
    segment.forward_flops += flops;
    if (input_gradient) segment.input_gradient_flops += flops;
    segment.weight_gradient_flops += flops;
  }

  void add(SegmentSpec segment) {
    std::vector<double> elements;
    for (const int p : segment.parameters)
      elements.push_back(static_cast<double>(model_.parameters[static_cast<std::size_t>(p)].shape.elements()));
    // All that it names is its own.
    const auto bytes = [&](TensorName name) {
      return static_cast<double>(find_tensor(model_, segment, name)->bytes());
    };
    count_bytes(segment, model_.type, bytes, elements);
    model_.segments.push_back(std::move(segment));
  }

  void add_stem(const Convolution& c, int weight) {
    SegmentSpec s = segment_of(Segment::stem);
    s.parameters = {weight};
    s.inputs = {{images, {samples(), c.side, c.side, colours}, DType::i32}};
    s.outputs = {image(convolved1, c.out_side(), c.out)};
    s.gradient_inputs = s.weight_gradient_inputs = {convolved1};
    s.kept = s.weight_kept = {images};
    s.weight_parameters = {0};
    count(s, c, false);
    add(std::move(s));
  }

  void add_pool(const Convolution& c, std::int64_t side, int norm) {
    SegmentSpec s = segment_of(Segment::pool);
    s.parameters = {norm, norm + 1};
    s.inputs = {image(convolved1, c.out_side(), c.out)};
    s.outputs = {statistic(mean1, c.out),
                 statistic(rstd1, c.out),
                 image(norm1, c.out_side(), c.out),
                 {pooled_from, {samples(), side, side, c.out}, DType::i32},
                 image(output, side, c.out)};
    s.gradient_inputs = {output};
    s.kept = s.input_kept = {convolved1, mean1, rstd1, norm1, pooled_from};
    s.gradient_outputs = {convolved1};
    s.input_parameters = {0, 1};
    add(std::move(s));
  }

  /// Batch norm and ReLU of `in`, and a convolution of that.
  void add_norm_convolution(Segment kind, int block, int norm, int weight, const Convolution& c,
                            const std::array<TensorName, 5>& names) {
    const auto [in, mean, rstd, normed, out] = names;
    SegmentSpec s = segment_of(kind, block);
    s.parameters = {norm, norm + 1, weight};
    s.inputs = {image(in, c.side, c.in)};
    s.outputs = {statistic(mean, c.in), statistic(rstd, c.in), image(normed, c.side, c.in),
                 image(out, c.out_side(), c.out)};
    s.gradient_inputs = s.weight_gradient_inputs = {out};
    s.kept = s.input_kept = {in, mean, rstd, normed};
    s.weight_kept = {normed};
    s.gradient_outputs = {in};
    s.input_parameters = {0, 1};
    s.weight_parameters = {2};
    count(s, c);
    add(std::move(s));
  }

  void add_first_convolution(int block, const BlockSizes& b, int first) {
    const auto convolutions = convolutions_of(b);
    SegmentSpec s = segment_of(Segment::conv1, block);
    s.parameters = {first + conv1_weight};
    s.inputs = {image(residual, b.side, b.in)};
    s.outputs = {image(convolved1, b.side, b.middle)};
    s.gradient_inputs = {convolved1};
    s.kept = s.weight_kept = {residual};
    s.gradient_outputs = {residual};
    s.weight_parameters = {0};
    count(s, convolutions[0]);
    if (b.has_shortcut()) {
      s.parameters.push_back(first + downsample_weight);
      s.outputs.push_back(image(shortcut, b.out_side, b.out()));
      s.gradient_inputs.push_back(shortcut);
      s.weight_parameters.push_back(1);
      count(s, convolutions[3]);
    } else {
      s.added_gradients = {residual};
    }
    s.weight_gradient_inputs = s.gradient_inputs;
    add(std::move(s));
  }

  void add_sum(int block, const BlockSizes& b, int first) {
    SegmentSpec s = segment_of(Segment::shortcut_sum, block);
    s.parameters = {first + bn3_weight, first + bn3_weight + 1};
    s.inputs = {image(convolved3, b.out_side, b.out())};
    s.outputs = {statistic(mean3, b.out()), statistic(rstd3, b.out())};
    s.gradient_inputs = {output};
    s.kept = {convolved3, mean3, rstd3};
    s.input_parameters = {0, 1};
    if (b.has_shortcut()) {
      s.parameters.insert(s.parameters.end(), {first + downsample_norm, first + downsample_norm + 1});
      s.inputs.push_back(image(shortcut, b.out_side, b.out()));
      s.outputs.insert(s.outputs.end(), {statistic(mean_shortcut, b.out()), statistic(rstd_shortcut, b.out())});
      s.kept.insert(s.kept.end(), {shortcut, mean_shortcut, rstd_shortcut});
      s.input_parameters = {0, 1, 2, 3};
      s.gradient_outputs = {convolved3, shortcut};
    } else {
      s.inputs.push_back(image(residual, b.side, b.in));
      s.gradient_outputs = {convolved3, residual};
    }
    s.outputs.push_back(image(output, b.out_side, b.out()));
    s.kept.push_back(output);
    s.input_kept = s.kept;
    add(std::move(s));
  }

  void add_block_segments(int block, const BlockSizes& b, int first) {
    const auto convolutions = convolutions_of(b);
    add_first_convolution(block, b, first);
    add_norm_convolution(Segment::conv2, block, first + bn1_weight, first + conv2_weight, convolutions[1],
                         {convolved1, mean1, rstd1, norm1, convolved2});
    add_norm_convolution(Segment::conv3, block, first + bn2_weight, first + conv3_weight, convolutions[2],
                         {convolved2, mean2, rstd2, norm2, convolved3});
    add_sum(block, b, first);
  }

  void add_classifier(std::int64_t side, std::int64_t features, int fc) {
    const std::int64_t classes = model_.spec.classes;
    SegmentSpec s = segment_of(Segment::classifier);
    s.parameters = {fc, fc + 1};
    s.inputs = {image(residual, side, features), {targets, {samples()}, DType::i32}};
    s.outputs = {{pooled, {samples(), features}, model_.type},
                 {logits, {samples(), classes}, model_.type},
                 {loss, {1}, DType::f64}};
    s.kept = s.weight_kept = {pooled, logits};
    s.input_kept = {logits};
    s.gradient_outputs = {residual};
    s.weight_parameters = {0, 1};
    s.forward_flops = s.input_gradient_flops = s.weight_gradient_flops =
        2.0 * static_cast<double>(samples() * features) * static_cast<double>(classes);
    add(std::move(s));
  }

  Model& model_;
  ParameterTable table_;
  DType statistics_;
};

}  // namespace

void make_resnet(Model& model, const Scenario& scenario) {
  if (const auto complaint = resnet_complaint(scenario)) throw std::invalid_argument(complaint->what);
  model.spec.tied = false;
  Builder(model).build();
}

double resnet_flops_per_sample(const Model& model) {
  double flops = 0;
  for (const SegmentSpec& s : model.segments)
    flops += s.forward_flops + s.input_gradient_flops + s.weight_gradient_flops;
  return flops / model.micro_batch_size;
}

}  // namespace rankscope
