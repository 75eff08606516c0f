// A GPT's parameters and segments.
#include "engine/model/gpt.hpp"

#include <array>
#include <cmath>
#include <stdexcept>

#include "engine/model/parameter_table.hpp"
#include "engine/model/segments.hpp"

namespace rankscope {
namespace {

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

void make_gpt(Model& model, const Scenario& scenario) {
  const ModelSpec& spec = model.spec;
  model.tensor = scenario.plan.tensor;
  model.sequence_parallel = scenario.plan.sequence_parallel && model.tensor > 1;
  model.masks_padding = scenario.fault.plant != Plant::unmasked_padding;
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
}

// Each product three times: forward, and both halves of backward (see segments.cpp).
double gpt_flops_per_sample(const ModelSpec& spec) {
  const double h = spec.width, s = spec.context;
  const double forward = spec.layers * (24 * h * h + 4 * s * h) + 2 * h * spec.vocabulary;  // of a token
  return 3 * s * forward;
}

}  // namespace rankscope
