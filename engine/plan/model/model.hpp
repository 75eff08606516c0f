// A model as data: its parameters, and its segments with the tensors each one reads, writes and keeps for backward, and
// their costs. Three kinds, each a table of rows: GPT-2 style (gpt_rows.hpp), Llama style (llama_rows.hpp) and residual
// networks (resnet_rows.hpp).
//
// The operand lists here are the contract between programs (which make symbolic buffers from them) and layers (which
// compute on the bound buffers): both use exactly this order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/op/contains.hpp"
#include "engine/op/kind.hpp"
#include "engine/plan/model/layer.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "kernels/tensor/type.hpp"

namespace rankscope {

enum class Init : std::uint8_t { normal, zeros, ones, constant };

/// How the ranks of a tensor group share a parameter: each has a range of its rows (axis 0) or columns (axis 1), or all
/// of it. Rows may be split group by group: a QKV matrix is q, k and v on top of each other, and a rank has some heads
/// of each.
struct TensorSplit {
  int axis = -1;  ///< -1: every rank has all of it
  int groups = 1;
  std::int64_t first = 1;  ///< the first group has so many times the rows of each other: queries' heads may be more
  bool operator==(const TensorSplit&) const = default;
};

struct ParameterSpec {
  std::string name;  ///< as in GPT-2 checkpoints: "wte.weight", "h.3.attn.c_attn.weight", …
  Shape shape;       ///< of the share of one rank of a tensor group; all shares have one size
  Shape whole{};     ///< of the complete parameter; equal to `shape` when it is not split
  TensorSplit split{};
  Init init = Init::normal;
  double std_dev = 0.02;           ///< of Init::normal
  bool decay = false;              ///< weight decay applies (matrices)
  std::int64_t global_offset = 0;  ///< of its first element in the whole model: initial weights are drawn by this index
  double value = 1;                ///< of Init::constant
};

/// A tensor that a segment computes, for one micro-batch of `tokens` = samples × context rows. Shapes are those of one
/// rank alone. Of T tensor ranks each has qkv, softmax, attended, pre_gelu and activated of 1/T of the heads or
/// columns, and logits of ⌈vocabulary/T⌉ words. With sequence parallelism, tensors of the residual stream ([tokens,
/// width] and its statistics, but not partial sums and gathered rows) have the rank's 1/T of the rows.
enum class TensorName : std::uint8_t {
  tokens,    ///< i32 [tokens]: ids in, of the batch
  targets,   ///< i32 [tokens]: the next tokens
  residual,  ///< x [tokens, width]: input of a block (output of the embedding or of the block before)
  mean1,
  rstd1,     ///< [tokens], fp32 (fp64 in fp64 runs): statistics of the layer norm before attention, or of the head
  norm1,     ///< [tokens, width]: its output
  qkv,       ///< [tokens, 3·width]: per token q of all heads, then k, then v
  softmax,   ///< [samples, heads, context] log-sum-exp of each attention row, fp32 (fp64 in fp64 runs)
  attended,  ///< [tokens, width]
  middle,    ///< [tokens, width]: residual after attention
  mean2,
  rstd2,
  norm2,
  pre_gelu,   ///< [tokens, 4·width]
  activated,  ///< [tokens, 4·width]
  output,     ///< [tokens, width]: the block's output (the next block's `residual`)
  logits,     ///< [tokens, vocabulary]: after the head's forward it holds the gradient of the loss to the logits
  loss,       ///< f64 [1]: sum over the micro-batch of -log p, in nats
  // Of tensor ranks.
  embedded,      ///< [tokens, width]: a rank's part of a sum; without sequence parallelism the sum afterwards
  embedded_sum,  ///< the rank's rows of the sum
  norm1_all,     ///< norm1 of all ranks' rows
  projected,     ///< as `embedded`: attention's output product
  projected_sum,
  norm2_all,
  contracted,  ///< as `embedded`: the MLP's second product
  contracted_sum,
  statistics,      ///< [tokens, 3]: of the rank's words, see kernels::VocabularySpec
  statistics_all,  ///< [T, tokens, 3]
  // Of residual networks: NHWC, see resnet_rows.hpp.
  images,      ///< i32 [samples, image, image, 3]: bytes of the batch
  convolved1,  ///< results of convolutions, before their batch norms
  convolved2,
  convolved3,
  shortcut,  ///< the convolution of a block's input, where its output has another size
  mean3,
  rstd3,
  mean_shortcut,
  rstd_shortcut,
  pooled_from,  ///< i32: which pixel is the maximum of its window
  pooled,       ///< [samples, channels]: mean over the pixels
  // Of a Llama, whose qkv is [tokens, (heads + 2·key_value_heads)·depth]: a row's queries, then its keys and values.
  gate_up,  ///< [tokens, 2·inner]: gate, then up
};
inline constexpr int tensor_name_count = 40;

/// As in buffers' names and in messages.
std::string_view name_of(TensorName name);

struct TensorSpec {
  TensorName name;
  Shape shape;
  DType type;
  std::int64_t bytes() const { return shape.elements() * bytes_of(type); }
};

/// What a segment computes, piece by piece: its FLOPs and a simulated cluster's kernels are derived from this.
enum class Work : std::uint8_t {
  // Of a transformer.
  lookup,          ///< rows of the token embedding
  positions,       ///< added to them, and dropout
  norm,            ///< layer norm of the residual stream
  joined_norm,     ///< its input's gradient is added to that of the residual branch
  product,         ///< of all rows with a matrix
  biased_product,  ///< and its bias
  gelu,
  gelu_slope,  ///< backward only
  swiglu,
  swiglu_slope,  ///< backward only
  rotary,        ///< queries and keys are turned
  attention,
  stream_copy,    ///< rows of the residual stream
  residual_sum,   ///< bias, dropout, and the sum with the residual branch
  loss_gradient,  ///< backward only
  loss,
  // Of a residual network.
  pixels,       ///< bytes to numbers
  convolution,  ///< without bias
  batch_norm,
  batch_norm_relu,
  batch_norm_sum_relu,  ///< ReLU of the sum with the shortcut
  max_pool,
  classifier,  ///< mean over the pixels, the product with the classes, and the loss
};
/// Whether it has the FLOPs of a product of all rows, in → out.
constexpr bool is_product(Work work) {
  return work == Work::product || work == Work::biased_product || work == Work::classifier;
}

/// A piece of a segment's work, in this model.
struct WorkSpec {
  Work what = Work::lookup;
  std::int64_t in = 0, out = 0;  ///< of a product; `out` of an activation
  TensorName tensor{};           ///< the result of a convolution, the input of a batch norm
  std::size_t weight = 0;        ///< of a convolution: position in SegmentSpec::parameters
  bool bias = true;              ///< of a product or a residual sum
};

/// One segment of the model: its place, its operands, its work, its cost. The computation of each is in
/// engine/execute/layers.
///
/// A backward may be split in two, for schedules that run its halves separately; a half may not exist. A layer norm's
/// parameters have their gradients in the half with that of its input.
///
/// A block's `residual` is the buffer of the `output` before it. Weight matrices are [out, in], row-major: y = x·wᵀ +
/// b.
struct SegmentSpec {
  Segment kind;
  Layer layer{};
  int block = -1;
  std::vector<int> parameters;  ///< indices into Model::parameters, in operand order
  /// Forward's operands: inputs, then parameters, then outputs.
  std::vector<TensorSpec> inputs, outputs;
  std::vector<TensorName> changed;  ///< of the outputs, those that an earlier segment has written: changed in place
  /// Backward's operands: the gradients of `gradient_inputs` (read), the `kept` tensors (read; inputs and outputs, and
  /// in `down` those of `up`), the parameters of read_backward() (read), the gradients of `gradient_outputs` (written),
  /// then the gradients of the parameters (written by the first micro-batch of a step, added to by the others).
  std::vector<TensorName> gradient_inputs, kept, gradient_outputs;
  /// Of the gradient outputs, those that a later segment has written: added to.
  std::vector<TensorName> added_gradients;
  /// The input gradient's operands: the gradients of gradient_inputs (read), input_kept (read), the parameters (as in
  /// backward), the gradients of gradient_outputs (written), then the gradients of `input_parameters`. The kernels are
  /// backward's own, so both halves together give backward's bits.
  std::vector<TensorName> input_kept;
  std::vector<int> input_parameters;  ///< positions in `parameters`
  /// The weight gradient's operands: the gradients of weight_gradient_inputs (read), weight_kept (read), then the
  /// gradients of `weight_parameters`.
  std::vector<TensorName> weight_gradient_inputs, weight_kept;
  std::vector<int> weight_parameters;  ///< positions in `parameters`
  std::vector<WorkSpec> work;          ///< in the order of forward
  /// Its number among those of a block with dropout, from 1; 0 for the embedding, which has dropout too.
  int dropout_site = 0;
  /// False if its derivative does not use its parameters: lookups and additions of rows.
  bool backward_reads_parameters = true;
  /// In a block: whether its backward needs the segment again if the block's activations are not kept.
  bool repeated = false;
  bool does(Work piece) const {
    return std::any_of(work.begin(), work.end(), [&](const WorkSpec& w) { return w.what == piece; });
  }
  bool has_input_gradient() const { return !gradient_outputs.empty(); }
  bool has_weight_gradient() const { return !weight_parameters.empty(); }
  bool has_backward() const { return has_input_gradient() || has_weight_gradient(); }
  bool adds_to_gradient(TensorName name) const { return contains(added_gradients, name); }
  /// The parameters that backward and its input gradient read.
  std::span<const int> read_backward() const {
    return backward_reads_parameters ? std::span<const int>(parameters) : std::span<const int>();
  }
  double forward_flops = 0;  ///< of one micro-batch: products 2·m·n·k, attention counted causal-full (as MFU does)
  double input_gradient_flops = 0, weight_gradient_flops = 0;
  double forward_bytes = 0, backward_bytes = 0;  ///< memory traffic of one micro-batch, each operand once
  double input_gradient_bytes = 0, weight_gradient_bytes = 0;
  /// For attention, the address range that its heads pass over: each reads its own columns of all rows of `qkv`, and so
  /// passes over all of it. 0 for ops that read operands in their memory order.
  double walked_bytes = 0;
};

/// What tensor ranks exchange: `from`, the result of the segment that computes it, becomes `to`, which later segments
/// read, by the collective `forward` (none: `to` is `from`), and the gradient of `to` that of `from` by `backward`.
/// If both names are the same, it is in place. The four of Megatron-LM: f (no forward, all-reduce backward), g (the
/// other way round), and with sequence parallelism g and ḡ (all-gather and reduce-scatter, each the other's
/// backward).
struct Exchange {
  TensorName from, to;
  std::optional<OpKind> forward, backward;
  Purpose purpose = Purpose::tensor;
};

struct Model {
  /// Of the whole model, not of a rank's part.
  ModelSpec spec;
  int micro_batch_size = 1;        ///< samples
  DType type = DType::f32;         ///< of parameters as computed with, and of activations
  int tensor = 1;                  ///< ranks that share every layer; everything below is one rank's view
  bool sequence_parallel = false;  ///< never of one rank
  bool narrow_logits = false;      ///< logits are rounded to `type` before softmax
  bool masks_padding = true;       ///< of a shared vocabulary; false is a planted fault
  std::vector<ParameterSpec> parameters;
  std::vector<SegmentSpec> segments;  ///< in forward order; the same number in all blocks
  std::vector<Exchange> exchanges;    ///< of tensor ranks

  /// Of the whole model, like the FLOPs of a sample.
  std::int64_t parameter_count() const;
  std::int64_t tokens() const { return std::int64_t{micro_batch_size} * spec.tokens_per_sample(); }
  /// Rows of the residual stream that a rank has, and the first of them for coordinate `rank`.
  std::int64_t stream_tokens() const { return sequence_parallel ? tokens() / tensor : tokens(); }
  std::int64_t first_stream_token(int rank) const { return sequence_parallel ? rank * stream_tokens() : 0; }
  /// Rows of the token matrix, and of an untied head's, that a rank has; the last ones may be padding.
  std::int64_t vocabulary_share() const { return (spec.vocabulary + tensor - 1) / tensor; }
  /// The type of softmax's input.
  DType logits_type() const;
  /// How many of them are real words, which softmax includes.
  std::int64_t words_of(int rank) const;
  /// True for a parameter that every tensor rank has completely but uses only for its own rows of the stream: its
  /// gradient is the sum of theirs.
  bool sums_gradient(int parameter) const { return sequence_parallel && parameters[parameter].split.axis < 0; }
  /// Number of segments before the first block, and in each block. A single collective has none.
  int segments_before_blocks() const;
  int segments_a_block() const;
  /// The segment of that kind, of that block (-1: outside the blocks). Asserts that there is one.
  const SegmentSpec& segment(int block, Segment kind) const;
  /// A block's segments after this one, if it is the last that is repeated: software that repeats complete blocks also
  /// repeats these. Empty otherwise. `segment` is one of this model's.
  std::span<const SegmentSpec> unrepeated_behind(const SegmentSpec& segment) const;
  /// FLOPs of one training step of `global_batch` samples without recomputation: what MFU divides by the peak.
  double model_flops_per_sample() const;
};

/// For segments outside the blocks: whether they are before them.
bool is_before_blocks(Segment kind);

/// The tensor of that name: the segment's own, or that of another one (of its block, if one of these has it), since a
/// gradient may belong to a tensor that only neighbours name. Null if the model has none.
const TensorSpec* find_tensor(const Model& model, const SegmentSpec& segment, TensorName name);

/// The element type of gradients, and of master weights and optimizer states, when computing in `type`: fp64 for fp64,
/// otherwise fp32.
DType accumulation_type(DType type);

/// The model as one tensor rank sees it. Throws std::invalid_argument if its heads or rows cannot be divided, or there
/// is no residual network with this number of blocks.
Model make_model(const Scenario& scenario);

/// Which segments belong to which chunk: chunk c has segments [first[c], first[c+1]) of model.segments. Blocks are
/// split as evenly as their count allows (the first chunks get one more); the embedding goes with the first chunk, the
/// head with the last.
std::vector<int> split_evenly(const Model& model, int chunks);
/// The same, but minimizes the FLOPs (forward and backward) of the most expensive chunk; the others are then as
/// even as possible: with a large vocabulary in the head, the last chunk has fewer layers.
std::vector<int> split_by_cost(const Model& model, int chunks);
/// According to plan.stages; one chunk has everything. Throws std::invalid_argument if its list is unsuitable or yet
/// to be measured.
std::vector<int> split_as_planned(const Model& model, const PlanSpec& plan);

}  // namespace rankscope
