// A model as data: its parameters, and its segments with the tensors each one reads, writes and keeps for backward, and
// what they cost. Of two kinds: GPT-2 style (learned positions, pre-layer-norm blocks, GELU in its tanh form, biases,
// tied or untied head; gpt.cpp), and residual networks (resnet.hpp, with their own table of segments).
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

#include "engine/op/kind.hpp"
#include "engine/scenario/scenario.hpp"
#include "kernels/tensor/type.hpp"

namespace rankscope {

enum class Init : std::uint8_t { normal, zeros, ones, constant };

/// How the ranks of a tensor group share a parameter: each has a range of its rows (axis 0) or columns (axis 1), or all
/// of it. Rows may be split group by group: a QKV matrix is q, k and v on top of each other, and a rank has some heads
/// of each.
struct TensorSplit {
  int axis = -1;  ///< -1: every rank has the whole
  int groups = 1;
  bool operator==(const TensorSplit&) const = default;
};

struct ParameterSpec {
  std::string name;  ///< as in GPT-2 checkpoints: "wte.weight", "h.3.attn.c_attn.weight", …
  Shape shape;       ///< of what one rank of a tensor group has: its share, all of one size
  Shape whole{};     ///< of the parameter; equal to `shape` when it is not split
  TensorSplit split{};
  Init init = Init::normal;
  double std_dev = 0.02;           ///< of Init::normal
  bool decay = false;              ///< weight decay applies (matrices)
  std::int64_t global_offset = 0;  ///< of its first element in the whole model: what the initial weights are drawn by
  double value = 1;                ///< of Init::constant
};

/// A tensor that a segment computes, for one micro-batch of `tokens` = samples × context rows. Shapes are those of one
/// rank alone. Of T tensor ranks each has qkv, softmax, attended, pre_gelu and activated of 1/T of the heads or
/// columns, and logits of ⌈vocabulary/T⌉ words. With sequence parallelism what stands on the residual stream ([tokens,
/// width] and its statistics, but not partial sums and gathered rows) has the rank's 1/T of the rows.
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
  embedded,      ///< [tokens, width]: a rank's part of a sum, and without sequence parallelism then the sum
  embedded_sum,  ///< the rank's rows of the sum
  norm1_all,     ///< norm1 of all ranks' rows
  projected,     ///< as `embedded`: attention's output product
  projected_sum,
  norm2_all,
  contracted,  ///< as `embedded`: the MLP's second product
  contracted_sum,
  statistics,      ///< [tokens, 3]: of the rank's words, see kernels::VocabularySpec
  statistics_all,  ///< [T, tokens, 3]
  // Of residual networks: NHWC, see resnet.hpp.
  images,      ///< i32 [samples, image, image, 3]: bytes of the batch
  convolved1,  ///< results of convolutions, before their batch norms
  convolved2,
  convolved3,
  shortcut,  ///< the convolution of a block's input, where its output has another size
  mean3,
  rstd3,
  mean_shortcut,
  rstd_shortcut,
  pooled_from,  ///< i32: which pixel is the greatest of its window
  pooled,       ///< [samples, channels]: mean over the pixels
};

/// As it stands in buffers' names and in messages.
std::string_view name_of(TensorName name);

struct TensorSpec {
  TensorName name;
  Shape shape;
  DType type;
  std::int64_t bytes() const { return shape.elements() * bytes_of(type); }
};

// clang-format off
/// One segment of the model: its place, its operands, its cost. What each computes is in engine/layers.
///
///   segment     inputs             parameters                    outputs                               kept
///   embedding   tokens             wte wpe                       output                                tokens
///   qkv         residual           ln_1.weight .bias c_attn w b  mean1 rstd1 norm1 qkv                 residual mean1 rstd1 norm1
///   attention   qkv                                              softmax attended                      qkv softmax attended
///   projection  attended residual  attn.c_proj w b               middle                                attended
///   up          middle             ln_2.weight .bias c_fc w b    mean2 rstd2 norm2 pre_gelu activated  middle mean2 rstd2 norm2
///   down        activated middle   mlp.c_proj w b                output                                activated pre_gelu
///   head        residual targets   ln_f.weight .bias w           mean1 rstd1 norm1 logits loss         residual mean1 rstd1 norm1 logits
///
///   segment     gradient_inputs   gradient_outputs
///   embedding   output            –
///   qkv         qkv middle        residual     (middle's gradient is the residual branch, added here)
///   attention   attended          qkv
///   projection  middle            attended
///   up          pre_gelu output   middle       (output's gradient is the residual branch, added here)
///   down        output            pre_gelu     (GELU's slope is applied where the product has its result at hand)
///   head        –                 residual
///
/// A backward split in two, for schedules that run its halves apart. What is not listed has no such half. Parameters are
/// those whose gradients the half computes: a layer norm's come with the gradient of its input.
///
///   segment     input gradient: kept        parameters         weight gradient: reads   kept          parameters
///   embedding                                                  output                   tokens        wte wpe
///   qkv         residual mean1 rstd1        ln_1.weight .bias  qkv                      norm1         c_attn w b
///   attention   qkv softmax attended
///   projection                                                 middle                   attended      attn.c_proj w b
///   up          middle mean2 rstd2          ln_2.weight .bias  pre_gelu                 norm2         c_fc w b
///   down        pre_gelu                                       output                   activated     mlp.c_proj w b
///   head        residual mean1 rstd1 logits ln_f.weight .bias                           norm1 logits  w
///
/// Segments of tensor ranks, T of them (Megatron-LM; Shoeybi et al. 2019). Products are of a rank's share; what stands
/// between is done by all ranks alike, or with sequence parallelism (Korthikanti et al. 2022) by each for its rows. With
/// it `embedded`, `projected` and `contracted` are read as …_sum, and norm1 and norm2 as …_all: Model::exchanges.
///
///   segment         inputs               parameters               outputs                   kept
///   embedding       tokens               wte                      embedded                  tokens
///   positions       embedded             wpe                      output
///   attention_norm  residual             ln_1.weight .bias        mean1 rstd1 norm1         residual mean1 rstd1
///   qkv             norm1                c_attn w b               qkv                       norm1
///   attention       qkv                                           softmax attended          qkv softmax attended
///   projection      attended             attn.c_proj w            projected                 attended
///   mlp_norm        projected residual   attn.c_proj b ln_2.w b   middle mean2 rstd2 norm2  middle mean2 rstd2
///   up              norm2                c_fc w b                 pre_gelu activated        norm2
///   down            activated            mlp.c_proj w             contracted                activated pre_gelu
///   output          contracted middle    mlp.c_proj b             output
///   final_norm      residual             ln_f.weight .bias        mean1 rstd1 norm1         residual mean1 rstd1
///   head            norm1 targets        w                        logits statistics         norm1 logits
///   loss            statistics_all targets                        logits (changed) loss
///
///   segment         gradient_inputs  gradient_outputs    halves: with the input gradient  with the weight gradient
///   embedding       embedded                                                              wte
///   positions       output           embedded            wpe
///   attention_norm  norm1 middle     residual            ln_1.weight .bias
///   qkv             qkv              norm1                                                c_attn w b
///   attention       attended         qkv
///   projection      projected        attended                                             attn.c_proj w
///   mlp_norm        norm2 output     middle projected    attn.c_proj b ln_2.w b
///   up              pre_gelu         norm2                                                c_fc w b
///   down            contracted       pre_gelu                                             mlp.c_proj w
///   output          output           contracted          mlp.c_proj b
///   final_norm      norm1            residual            ln_f.weight .bias
///   head            –                norm1                                                w
///
/// A block's `residual` is the buffer of the `output` before it. Weight matrices are [out, in], row-major: y = x·wᵀ + b.
// clang-format on
struct SegmentSpec {
  Segment kind;
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
  bool has_input_gradient() const { return !gradient_outputs.empty(); }
  bool has_weight_gradient() const { return !weight_parameters.empty(); }
  bool has_backward() const { return has_input_gradient() || has_weight_gradient(); }
  bool adds_to_gradient(TensorName name) const {
    return std::find(added_gradients.begin(), added_gradients.end(), name) != added_gradients.end();
  }
  /// Those that backward and its input gradient read: what looks rows up, or adds them, has a derivative without them.
  std::span<const int> read_backward() const {
    if (kind == Segment::embedding || kind == Segment::positions || kind == Segment::stem) return {};
    return parameters;
  }
  double forward_flops = 0;  ///< of one micro-batch: products 2·m·n·k, attention counted causal-full (as MFU does)
  double input_gradient_flops = 0, weight_gradient_flops = 0;
  double forward_bytes = 0, backward_bytes = 0;  ///< memory traffic of one micro-batch, each operand once
  double input_gradient_bytes = 0, weight_gradient_bytes = 0;
  /// Of attention the addresses that its heads step over: each reads its own columns of all rows of `qkv`, and so walks
  /// over the whole of it. 0 of ops that read operands as they lie.
  double walked_bytes = 0;
};

/// What tensor ranks exchange: `from`, as the segment that computes it leaves it, becomes `to`, as those read it that
/// use it, by the collective `forward` (none: `to` is `from`), and the gradient of `to` that of `from` by `backward`.
/// Where both names are one it happens in place. The four of Megatron-LM: f (no forward, all-reduce backward), g (the
/// other way round), and with sequence parallelism g and ḡ (all-gather and reduce-scatter, the one being the other's
/// backward).
struct Exchange {
  TensorName from, to;
  std::optional<OpKind> forward, backward;
  Purpose purpose = Purpose::tensor;
};

struct Model {
  /// Of the whole model, whatever a rank has of it.
  ModelSpec spec;
  int micro_batch_size = 1;        ///< samples
  DType type = DType::f32;         ///< of parameters as computed with, and of activations
  int tensor = 1;                  ///< ranks that share every layer; everything below is what one of them sees
  bool sequence_parallel = false;  ///< never of one rank
  bool masks_padding = true;       ///< of a shared vocabulary; false is a planted fault
  std::vector<ParameterSpec> parameters;
  std::vector<SegmentSpec> segments;  ///< in forward order; all blocks have as many
  std::vector<Exchange> exchanges;    ///< of tensor ranks

  /// Of the whole model, as are the FLOPs of a sample.
  std::int64_t parameter_count() const;
  std::int64_t tokens() const { return std::int64_t{micro_batch_size} * spec.tokens_per_sample(); }
  /// Rows of the residual stream that a rank has, and the first of them where its coordinate is `rank`.
  std::int64_t stream_tokens() const { return sequence_parallel ? tokens() / tensor : tokens(); }
  std::int64_t first_stream_token(int rank) const { return sequence_parallel ? rank * stream_tokens() : 0; }
  /// Rows of the token matrix, and of an untied head's, that a rank has; the last ones may be padding.
  std::int64_t vocabulary_share() const { return (spec.vocabulary + tensor - 1) / tensor; }
  /// How many of them are words that softmax may see.
  std::int64_t words_of(int rank) const;
  /// True for a parameter of which every tensor rank has the whole and has seen only its own rows of the stream: its
  /// gradient is the sum of theirs.
  bool sums_gradient(int parameter) const {
    return sequence_parallel && parameters[static_cast<std::size_t>(parameter)].split.axis < 0;
  }
  /// Segments in front of the first block, and of each block.
  int segments_before_blocks() const;
  int segments_a_block() const;
  /// The segment of that kind, of that block (-1: outside the blocks). Asserts that there is one.
  const SegmentSpec& segment(int block, Segment kind) const;
  /// FLOPs of one training step of `global_batch` samples without recomputation: what MFU divides by the peak.
  double model_flops_per_sample() const;
};

/// Of segments outside the blocks: whether they stand in front of them.
bool is_before_blocks(Segment kind);

/// The tensor of that name: the segment's own, or that of another one (of its block, if one of these has it), since a
/// gradient may be of a tensor that only neighbours name. Null where the model has none.
const TensorSpec* find_tensor(const Model& model, const SegmentSpec& segment, TensorName name);

/// The element type of gradients, and of master weights and optimizer states, when computing in `type`: fp64 for fp64,
/// otherwise fp32.
DType accumulation_type(DType type);

/// The model as one tensor rank sees it. Throws std::invalid_argument when its heads or rows cannot be shared, or there
/// is no residual network of so many blocks.
Model make_model(const Scenario& scenario);

/// Which segments belong to which chunk: chunk c has segments [first[c], first[c+1]) of model.segments. Blocks are
/// split as evenly as their count allows (the first chunks get one more); the embedding goes with the first chunk, the
/// head with the last.
std::vector<int> split_evenly(const Model& model, int chunks);
/// The same so that the chunk with most FLOPs (forward and backward) has as few as possible, and the others are then as
/// even as possible: a head with a large vocabulary takes layers off the last chunk.
std::vector<int> split_by_cost(const Model& model, int chunks);
/// As plan.stages says; one chunk has everything. Throws std::invalid_argument when its list does not fit, or is still
/// to be measured.
std::vector<int> split_as_planned(const Model& model, const PlanSpec& plan);

}  // namespace rankscope
