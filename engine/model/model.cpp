#include "engine/model/model.hpp"

#include <cmath>
#include <stdexcept>

#include "engine/model/segments.hpp"

namespace rankscope {
namespace {

/// The parameter table while it grows: offsets run on.
class ParameterTable {
 public:
  int add(std::string name, Shape shape, Init init, double std_dev = 0) {
    const bool matrix = shape.rank > 1;
    parameters_.push_back({std::move(name), shape, shape, {}, init, std_dev, matrix, next_offset_});
    next_offset_ += shape.elements();
    return static_cast<int>(parameters_.size()) - 1;
  }
  /// A layer norm's weight and bias; returns the weight's index.
  int add_norm(const std::string& name, std::int64_t width) {
    const int weight = add(name + ".weight", {width}, Init::ones);
    add(name + ".bias", {width}, Init::zeros);
    return weight;
  }
  /// A product's matrix [out, in] and bias [out]; returns the matrix's index.
  int add_product(const std::string& name, std::int64_t out, std::int64_t in, double std_dev) {
    const int weight = add(name + ".weight", {out, in}, Init::normal, std_dev);
    add(name + ".bias", {out}, Init::zeros);
    return weight;
  }
  std::vector<ParameterSpec>& parameters() { return parameters_; }

 private:
  std::vector<ParameterSpec> parameters_;
  std::int64_t next_offset_ = 0;
};

// GPT-2 (Radford et al. 2019): normal with 0.02, and the two products that add to the residual stream scaled by one
// over the root of their number, so that the stream's variance does not grow with depth.
constexpr double std_dev = 0.02;

/// Returns the index of the block's first parameter.
int add_block(ParameterTable& table, int block, std::int64_t h, double residual_std_dev) {
  const std::string prefix = "h." + std::to_string(block) + ".";
  const int first = table.add_norm(prefix + "ln_1", h);
  table.add_product(prefix + "attn.c_attn", 3 * h, h, std_dev);
  table.add_product(prefix + "attn.c_proj", h, h, residual_std_dev);
  table.add_norm(prefix + "ln_2", h);
  table.add_product(prefix + "mlp.c_fc", 4 * h, h, std_dev);
  table.add_product(prefix + "mlp.c_proj", h, 4 * h, residual_std_dev);
  return first;
}

}  // namespace

Model make_model(const Scenario& scenario) {
  const ModelSpec& spec = scenario.model;
  if (spec.kind != "gpt") throw std::invalid_argument("unknown model kind '" + spec.kind + "'; known: gpt");
  Model model;
  model.spec = spec;
  model.micro_batch_size = scenario.micro_batch_size();
  model.type = scenario.compute_type();

  const std::int64_t h = spec.width;
  ParameterTable table;
  const int wte = table.add("wte.weight", {spec.vocabulary, h}, Init::normal, std_dev);
  const int wpe = table.add("wpe.weight", {spec.context, h}, Init::normal, std_dev);
  std::vector<int> first_of_block;
  for (int block = 0; block < spec.layers; ++block)
    first_of_block.push_back(add_block(table, block, h, std_dev / std::sqrt(2.0 * spec.layers)));
  const int ln_f = table.add_norm("ln_f", h);
  const int head = spec.tied ? wte : table.add("lm_head.weight", {spec.vocabulary, h}, Init::normal, std_dev);
  model.parameters = std::move(table.parameters());

  const SegmentSizes sizes{model.micro_batch_size, spec.context, h, spec.heads, spec.vocabulary, model.type};
  model.segments.push_back(embedding_segment(sizes, wte, wpe));
  for (int block = 0; block < spec.layers; ++block)
    for (Segment kind : {Segment::qkv, Segment::attention, Segment::projection, Segment::up, Segment::down})
      model.segments.push_back(block_segment(kind, block, sizes, model.parameters, first_of_block[block]));
  model.segments.push_back(head_segment(sizes, model.parameters, ln_f, ln_f + 1, head));
  return model;
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const ParameterSpec& parameter : parameters) count += parameter.whole.elements();
  return count;
}

double Model::model_flops_per_sample() const {
  double flops = 0;
  for (const SegmentSpec& segment : segments)
    flops += segment.forward_flops + segment.input_gradient_flops + segment.weight_gradient_flops;
  return flops / micro_batch_size;
}

DType accumulation_type(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace rankscope
