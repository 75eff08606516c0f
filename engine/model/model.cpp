#include "engine/model/model.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <stdexcept>

#include "engine/model/segments.hpp"

namespace rankscope {
namespace {

/// The parameter table while it grows: offsets run on.
class ParameterTable {
 public:
  /// `tensor`: ranks that share what is split.
  explicit ParameterTable(int tensor) : tensor_(tensor) {}
  int add(std::string name, Shape whole, Init init, double std_dev = 0, TensorSplit split = {}) {
    const bool matrix = whole.rank > 1;
    Shape shape = whole;
    if (tensor_ == 1) split = {};
    if (split.axis >= 0) {
      std::int64_t& extent = shape.extent[static_cast<std::size_t>(split.axis)];
      extent = (extent + tensor_ - 1) / tensor_;
    }
    parameters_.push_back({std::move(name), shape, whole, split, init, std_dev, matrix, next_offset_});
    next_offset_ += whole.elements();
    return static_cast<int>(parameters_.size()) - 1;
  }
  /// A layer norm's weight and bias; returns the weight's index.
  int add_norm(const std::string& name, std::int64_t width) {
    const int weight = add(name + ".weight", {width}, Init::ones);
    add(name + ".bias", {width}, Init::zeros);
    return weight;
  }
  /// A product's matrix [out, in] and bias [out], which is split if rows are; returns the matrix's index.
  int add_product(const std::string& name, std::int64_t out, std::int64_t in, double std_dev, TensorSplit split) {
    const int weight = add(name + ".weight", {out, in}, Init::normal, std_dev, split);
    add(name + ".bias", {out}, Init::zeros, 0, split.axis == 0 ? split : TensorSplit{});
    return weight;
  }
  std::vector<ParameterSpec>& parameters() { return parameters_; }

 private:
  int tensor_;
  std::vector<ParameterSpec> parameters_;
  std::int64_t next_offset_ = 0;
};

// GPT-2 (Radford et al. 2019): normal with 0.02, and the two products that add to the residual stream scaled by one
// over the root of their number, so that the stream's variance does not grow with depth.
constexpr double std_dev = 0.02;

// What tensor ranks have of a product: its output columns (rows of the matrix; Megatron's "column parallel", since it
// writes x·A), so that GELU and attention see whole heads and columns, or its input columns, whose results are then
// summed.
constexpr TensorSplit by_rows{0, 1}, by_columns{1, 1}, by_heads{0, 3};

/// Returns the index of the block's first parameter.
int add_block(ParameterTable& table, int block, std::int64_t h, double residual_std_dev) {
  const std::string prefix = "h." + std::to_string(block) + ".";
  const int first = table.add_norm(prefix + "ln_1", h);
  table.add_product(prefix + "attn.c_attn", 3 * h, h, std_dev, by_heads);
  table.add_product(prefix + "attn.c_proj", h, h, residual_std_dev, by_columns);
  table.add_norm(prefix + "ln_2", h);
  table.add_product(prefix + "mlp.c_fc", 4 * h, h, std_dev, by_rows);
  table.add_product(prefix + "mlp.c_proj", h, 4 * h, residual_std_dev, by_columns);
  return first;
}

void add_segments(Model& model, int wte, int wpe, const std::vector<int>& first_of_block, int ln_f, int matrix) {
  const ModelSpec& spec = model.spec;
  const SegmentSizes sizes{model.micro_batch_size,   spec.context, spec.width,   spec.heads / model.tensor,
                           model.vocabulary_share(), model.type,   model.tensor, model.stream_tokens()};
  if (model.tensor == 1) {
    model.segments.push_back(embedding_segment(sizes, wte, wpe));
    for (int block = 0; block < spec.layers; ++block)
      for (Segment kind : {Segment::qkv, Segment::attention, Segment::projection, Segment::up, Segment::down})
        model.segments.push_back(block_segment(kind, block, sizes, model.parameters, first_of_block[block]));
    model.segments.push_back(head_segment(sizes, model.parameters, ln_f, ln_f + 1, matrix));
    return;
  }
  using enum Segment;
  const SplitSegments split{sizes, model.parameters, model.sequence_parallel, static_cast<double>(spec.vocabulary)};
  model.segments = {split.embedding(wte), split.positions(wpe)};
  for (int block = 0; block < spec.layers; ++block)
    for (Segment kind : {attention_norm, qkv, attention, projection, mlp_norm, up, down, output})
      model.segments.push_back(split.of_block(kind, block, first_of_block[block]));
  for (SegmentSpec& segment : std::array{split.final_norm(ln_f, ln_f + 1), split.head(matrix), split.loss()})
    model.segments.push_back(std::move(segment));
  model.exchanges = exchanges_of(model.sequence_parallel);
}

}  // namespace

Model make_model(const Scenario& scenario) {
  const ModelSpec& spec = scenario.model;
  if (spec.kind != "gpt") throw std::invalid_argument("unknown model kind '" + spec.kind + "'; known: gpt");
  Model model;
  model.spec = spec;
  model.micro_batch_size = scenario.micro_batch_size();
  model.type = scenario.compute_type();

  model.tensor = scenario.plan.tensor;
  model.sequence_parallel = scenario.plan.sequence_parallel && model.tensor > 1;
  model.masks_padding = scenario.fault.plant != "unmasked_padding";
  if (spec.heads % model.tensor != 0)
    throw std::invalid_argument(std::to_string(spec.heads) + " heads cannot be shared by " +
                                std::to_string(model.tensor) + " tensor ranks");
  if (model.sequence_parallel && model.tokens() % model.tensor != 0)
    throw std::invalid_argument("a micro-batch of " + std::to_string(model.tokens()) + " tokens cannot be shared by " +
                                std::to_string(model.tensor) + " tensor ranks");

  const std::int64_t h = spec.width;
  ParameterTable table(model.tensor);
  const int wte = table.add("wte.weight", {spec.vocabulary, h}, Init::normal, std_dev, by_rows);
  const int wpe = table.add("wpe.weight", {spec.context, h}, Init::normal, std_dev);
  std::vector<int> first_of_block;
  for (int block = 0; block < spec.layers; ++block)
    first_of_block.push_back(add_block(table, block, h, std_dev / std::sqrt(2.0 * spec.layers)));
  const int ln_f = table.add_norm("ln_f", h);
  const int head = spec.tied ? wte : table.add("lm_head.weight", {spec.vocabulary, h}, Init::normal, std_dev, by_rows);
  model.parameters = std::move(table.parameters());
  add_segments(model, wte, wpe, first_of_block, ln_f, head);
  return model;
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const ParameterSpec& parameter : parameters) count += parameter.whole.elements();
  return count;
}

// Each product three times: forward, and both halves of backward (see segments.cpp).
double Model::model_flops_per_sample() const {
  const double h = spec.width, s = spec.context;
  const double forward = spec.layers * (24 * h * h + 4 * s * h) + 2 * h * spec.vocabulary;  // of a token
  return 3 * s * forward;
}

std::int64_t Model::words_of(int rank) const {
  const std::int64_t share = vocabulary_share();
  return masks_padding ? std::clamp<std::int64_t>(spec.vocabulary - rank * share, 0, share) : share;
}

int Model::segments_before_blocks() const {
  int count = 0;
  while (segments[static_cast<std::size_t>(count)].block < 0) ++count;
  return count;
}

int Model::segments_a_block() const {
  const int first = segments_before_blocks();
  int count = 0;
  while (segments[static_cast<std::size_t>(first + count)].block == 0) ++count;
  return count;
}

const SegmentSpec& Model::segment(int block, Segment kind) const {
  const auto is_it = [&](const SegmentSpec& s) { return s.kind == kind && s.block == block; };
  const auto of_block = segments.begin() + segments_before_blocks() + std::max(block, 0) * segments_a_block();
  const auto first = block < 0 ? segments.begin() : of_block;
  auto found = std::find_if(first, block < 0 ? of_block : of_block + segments_a_block(), is_it);
  if (block < 0 && found == of_block)
    found = std::find_if(of_block + spec.layers * segments_a_block(), segments.end(), is_it);
  assert(found != segments.end() && is_it(*found));
  return *found;
}

DType accumulation_type(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace rankscope
