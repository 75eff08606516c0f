// A model as data: its parameters, and its segments with the tensors each one reads, writes and keeps for backward, and
// what they cost. GPT-2 style: learned positions, pre-layer-norm blocks, GELU (tanh form), biases, tied or untied head.
//
// The operand lists here are the contract between programs (which make symbolic buffers from them) and layers (which
// compute on the bound buffers): both use exactly this order.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/op/kind.hpp"
#include "engine/scenario/scenario.hpp"
#include "kernels/tensor/type.hpp"

namespace rankscope {

enum class Init : std::uint8_t { normal, zeros, ones };

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
};

/// A tensor that a segment computes, for one micro-batch of `tokens` = samples × context rows.
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
///   up          middle             ln_2.weight .bias c_fc w b    mean2 rstd2 norm2 pre_gelu activated  middle mean2 rstd2 norm2 pre_gelu
///   down        activated middle   mlp.c_proj w b                output                                activated
///   head        residual targets   ln_f.weight .bias w           mean1 rstd1 norm1 logits loss         residual mean1 rstd1 norm1 logits
///
///   segment     gradient_inputs   gradient_outputs
///   embedding   output            –
///   qkv         qkv middle        residual     (middle's gradient is the residual branch, added here)
///   attention   attended          qkv
///   projection  middle            attended
///   up          activated output  middle       (output's gradient is the residual branch, added here)
///   down        output            activated
///   head        –                 residual
///
/// A backward split in two, for schedules that run its halves apart. What is not listed has no such half. Parameters are
/// those whose gradients the half computes: a layer norm's come with the gradient of its input, and so does c_fc's bias,
/// which GELU's kernel sums.
///
///   segment     input gradient: kept        parameters       hands on   weight gradient: reads   kept        parameters
///   embedding                                                            output                   tokens      wte wpe
///   qkv         residual mean1 rstd1        ln_1.weight .bias            qkv                      norm1       c_attn w b
///   attention   qkv softmax attended
///   projection                                                           middle                   attended    attn.c_proj w b
///   up          middle mean2 rstd2 pre_gelu ln_2.weight .bias c_fc b     pre_gelu   pre_gelu      norm2       c_fc w
///   down                                                                 output                   activated   mlp.c_proj w b
///   head        residual mean1 rstd1 logits ln_f.weight .bias                                     norm1 logits w
///
/// A block's `residual` is the buffer of the `output` before it. Weight matrices are [out, in], row-major: y = x·wᵀ + b.
// clang-format on
struct SegmentSpec {
  Segment kind;
  int block = -1;
  std::vector<int> parameters;  ///< indices into Model::parameters, in operand order
  /// Forward's operands: inputs, then parameters, then outputs.
  std::vector<TensorSpec> inputs, outputs;
  /// Backward's operands: the gradients of `gradient_inputs` (read), the `kept` tensors (read; a subset of inputs and
  /// outputs), the parameters (read), the gradients of `gradient_outputs` (written), then the gradients of the
  /// parameters (written by the first micro-batch of a step, added to by the others).
  std::vector<TensorName> gradient_inputs, kept, gradient_outputs;
  /// The input gradient's operands: the gradients of gradient_inputs (read), input_kept (read), the parameters (read),
  /// the gradients of gradient_outputs (written), the gradients of `handed_on` (written: what only the weight gradient
  /// reads), then the gradients of `input_parameters`. The kernels are backward's own, so both halves together give
  /// backward's bits.
  std::vector<TensorName> input_kept, handed_on;
  std::vector<int> input_parameters;  ///< positions in `parameters`
  /// The weight gradient's operands: the gradients of weight_gradient_inputs (read), weight_kept (read), then the
  /// gradients of `weight_parameters`.
  std::vector<TensorName> weight_gradient_inputs, weight_kept;
  std::vector<int> weight_parameters;  ///< positions in `parameters`
  bool has_input_gradient() const { return !gradient_outputs.empty(); }
  bool has_weight_gradient() const { return !weight_parameters.empty(); }
  double forward_flops = 0;  ///< of one micro-batch: products 2·m·n·k, attention counted causal-full (as MFU does)
  double input_gradient_flops = 0, weight_gradient_flops = 0;
  double forward_bytes = 0, backward_bytes = 0;  ///< memory traffic of one micro-batch, each operand once
  double input_gradient_bytes = 0, weight_gradient_bytes = 0;
};

struct Model {
  ModelSpec spec;
  int micro_batch_size = 1;  ///< samples
  DType type = DType::f32;   ///< of parameters as computed with, and of activations
  std::vector<ParameterSpec> parameters;
  std::vector<SegmentSpec> segments;  ///< in forward order: embedding, per block qkv attention projection up down, head

  std::int64_t parameter_count() const;
  std::int64_t tokens() const { return static_cast<std::int64_t>(micro_batch_size) * spec.context; }
  /// FLOPs of one training step of `global_batch` samples without recomputation: what MFU divides by the peak.
  double model_flops_per_sample() const;
};

/// The element type of gradients, and of master weights and optimizer states, when computing in `type`: fp64 for fp64,
/// otherwise fp32.
DType accumulation_type(DType type);

Model make_model(const Scenario& scenario);

/// Which segments belong to which chunk: chunk c has segments [first[c], first[c+1]) of model.segments. Blocks are
/// split as evenly as their count allows (the first chunks get one more); the embedding goes with the first chunk, the
/// head with the last.
std::vector<int> split_evenly(const Model& model, int chunks);
/// The same so that the chunk with most FLOPs (forward and backward) has as few as possible, and the others are then as
/// even as possible: a head with a large vocabulary takes layers off the last chunk.
std::vector<int> split_by_cost(const Model& model, int chunks);
/// As plan.stages says; one chunk has everything. Throws std::invalid_argument when its list does not fit.
std::vector<int> split_as_planned(const Model& model, const PlanSpec& plan);

}  // namespace rankscope
