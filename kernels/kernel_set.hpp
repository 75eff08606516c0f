// A kernel set: one table of ops, selected once when a worker starts. The code above it (layers, optimizer) uses the
// table and never a backend.
//
// An op is prepared once for its shapes and element type, which returns the scratch memory it needs and a launch that
// can be repeated; launching reserves nothing. The CPU set (kernels/cpu) is the specification of every op.
//
// To add an op: give it a specification, an entry and its name in the list of ops here, a file of its own in
// kernels/cpu and kernels/cuda, and a row in the table of tests/kernels/cpu/every_op_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/convolution.hpp"
#include "kernels/tensor/type.hpp"
#include "kernels/tensor/view.hpp"
#include "kernels/update.hpp"

namespace rankscope::kernels {

/// Where a launch runs; the last argument of every launch.
struct Stream {
  std::byte* workspace = nullptr;  ///< at least Prepared::workspace_bytes, aligned to 64 bytes
  void* handle = nullptr;          ///< of a GPU's queue; null on the CPU, where a launch runs on the calling thread
};

/// A prepared op: its launch has its outputs first, then its inputs.
template <class... Arguments>
struct Prepared {
  std::int64_t workspace_bytes = 0;
  std::function<void(Arguments..., const Stream&)> launch;
};

/// y = x·wᵀ + b and its gradients, with GELU (below) after it or without. x [rows, in], w [out, in], b [out],
/// y [rows, out], all row-major.
struct LinearSpec {
  DType type = DType::f32;         ///< of x, w, b and their gradients dx and dy
  DType result_type = DType::f32;  ///< of the outputs: y, dx (of `type`, or fp32 from bf16), dw (fp64 or fp32)
  std::int64_t rows = 0, in = 0, out = 0;
  bool bias = false;             ///< forward: b is added; weight gradient: db is computed as well, fp32 (fp64 of fp64)
  bool residual = false;         ///< forward: a tensor of the shape of y is added
  bool accumulate = false;       ///< gradients: added to the stored values, instead of written
  bool accumulate_bias = false;  ///< the same for db
};

/// Norm over the last axis of x [rows, width]; statistics in fp32 (fp64 for fp64). Layer norm (Ba et al. 2016, arXiv
/// 1607.06450): y = (x - mean)·rstd·weight + bias, rstd = 1/√(variance + epsilon). RMS norm (Zhang and Sennrich 2019,
/// arXiv 1910.07467): y = x·rstd·weight, rstd = 1/√(mean of x² + epsilon), without mean and bias.
struct NormSpec {
  DType type = DType::f32;
  std::int64_t rows = 0, width = 0;
  double epsilon = 1e-5;
  bool rms = false;
  bool residual = false;           ///< backward: a gradient of x from elsewhere is added to dx
  bool accumulate_weight = false;  ///< backward: dweight is added to, not written
  bool accumulate_bias = false;
};

/// An elementwise op on tensors of the same shape.
struct ElementwiseSpec {
  DType type = DType::f32;
  std::int64_t rows = 0, width = 0;
};

/// Sum over rows of dy [rows, width] into db [width], fp32 (fp64 for fp64).
struct BiasGradientSpec {
  DType type = DType::f32;
  std::int64_t rows = 0, width = 0;
  bool accumulate = false;
};

/// Causal self-attention, scores scaled by 1/sqrt(width / heads).
struct AttentionSpec {
  DType type = DType::f32;
  std::int64_t samples = 0, context = 0, heads = 0, width = 0;
};

/// The operand of attention from fewer heads of keys and values than of queries, with rotary positions.
///
/// x [samples·context, (heads + 2·key_value_heads)·depth] has in a row the queries of all heads, the keys, then the
/// values; y [samples·context, 3·heads·depth] is what attention reads: a key and a value for each query's head, head h
/// those of h / (heads / key_value_heads) (grouped queries: Ainslie et al. 2023, arXiv 2305.13245). Queries and keys
/// are rotated by their position (Su et al. 2021, arXiv 2104.09864): numbers i and i + depth/2 of a head are a point of
/// the plane, turned by position·theta^(-2i/depth), as in Hugging Face's Llama.
struct RotarySpec {
  DType type = DType::f32;
  std::int64_t samples = 0, context = 0, heads = 0, key_value_heads = 0, depth = 0;
  double theta = 10000;
  std::int64_t rows() const { return samples * context; }
  std::int64_t packed_width() const { return (heads + 2 * key_value_heads) * depth; }
  std::int64_t spread_width() const { return 3 * heads * depth; }
};

/// Softmax and cross-entropy of logits [rows, vocabulary]: gradient = scale·(softmax - one_hot(target)), and the loss,
/// the sum over rows of -log softmax[target] in nats, fp64.
struct CrossEntropySpec {
  DType type = DType::f32;         ///< of the gradient
  DType logits_type = DType::f32;  ///< of the logits: `type` (then it may be done in place) or fp32
  std::int64_t rows = 0, vocabulary = 0;
  bool accumulate_loss = false;
};

/// Token and position embedding: rows = samples·context.
struct EmbeddingSpec {
  DType type = DType::f32;
  std::int64_t samples = 0, context = 0, vocabulary = 0, width = 0;
  bool accumulate_tokens = false;  ///< backward: the token matrix's gradient is added to, not written
  bool accumulate_positions = false;
};

/// A rank's rows of a token matrix that tensor ranks share: [vocabulary, width], whose row 0 is that of token `first`
/// (a launch argument). Tokens of other ranks' rows give zeros, so that the sum over the ranks is the embedding.
struct TokenEmbeddingSpec {
  DType type = DType::f32;
  std::int64_t rows = 0, vocabulary = 0, width = 0;
  bool accumulate = false;  ///< backward: added to, not written
};

/// Positions added to x [rows, width], whose row r is row first_row + r of all (a launch argument): its position is
/// that modulo `context`.
struct PositionEmbeddingSpec {
  DType type = DType::f32;
  std::int64_t rows = 0, context = 0, width = 0;
  bool accumulate = false;  ///< backward: added to, not written
};

/// The words of a rank's columns of the logits, if tensor ranks share the vocabulary: `count` of them (the columns
/// after them are padding), the first of which is word `first`.
struct VocabularyPart {
  std::int64_t index = 0;  ///< of the rank in its tensor group
  std::int64_t first = 0, count = 0;
};
/// Softmax and cross-entropy over logits [rows, columns] of `ranks` ranks, which are never gathered: each rank stores
/// exp(logit - its own greatest) in place of its logits and sends three numbers per row: its greatest logit, the sum of
/// those exponentials and the target's logit (0 if another rank has it). From the numbers of all ranks each computes
/// the loss, and from its exponentials the gradient: both as cross_entropy does. Padding has a gradient of zero.
struct VocabularySpec {
  DType type = DType::f32;         ///< of exponentials and gradient
  DType logits_type = DType::f32;  ///< `type` (then it may be done in place), or fp32 of bf16 and fp16
  std::int64_t rows = 0, columns = 0, ranks = 1;
  bool accumulate_loss = false;
};
inline constexpr std::int64_t vocabulary_statistics = 3;  ///< numbers per row and rank

/// Dropout of x [rows, width]: y = keep ? x / (1 - probability) : 0, plus a residual if given. Element (row, column) is
/// dropped if word number (first_row + row)·w + column, w = width rounded up to 4, of the Philox stream of dropout and
/// `site` (kernels/tensor/random.hpp) is below drop_threshold(probability). The key is seed + step·0x9E3779B97F4A7C15.
struct DropoutSpec {
  DType type = DType::f32;
  std::int64_t rows = 0, width = 0;
  double probability = 0;
  std::uint32_t site = 0;  ///< index of the dropout in the model; masks of different sites are independent
  bool residual = false;
};
/// The values that determine the mask of one dropout launch: equal values give the same mask on every device.
struct DropoutDraw {
  std::uint64_t seed = 0, step = 0;
  std::int64_t first_row = 0;  ///< global index of the first row: first sample × context
};

/// An op on a flat range of `elements`.
struct FlatSpec {
  DType type = DType::f32;
  std::int64_t elements = 0;
  bool accumulate = false;  ///< square_norm: added to the stored value, so that several tensors give one sum
};

struct SquareNormsSpec {
  DType type = DType::f32;
  std::vector<View> tensors;
};

/// The set lacks the op, or lacks it for that type or these shapes: what() contains the set, the op and the type.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws Unsupported unless the heads can be grouped and their numbers paired.
inline void require_groups(const RotarySpec& spec) {
  if (spec.key_value_heads < 1 || spec.heads % spec.key_value_heads != 0 || spec.depth % 2 != 0)
    throw Unsupported("rotary positions need groups of heads of equal size, and heads of an even width");
}

class ProductChoices;

struct Options {
  int threads = 1;  ///< CPU threads that one launch may use
  /// For the CPU's own loops: "x86-64-v2", "x86-64-v3", "x86-64-v4", or empty for the best that the machine has.
  std::string instruction_set{};
  bool tf32 = false;  ///< GPUs: fp32 products on tensor cores, with operands rounded to 10 bits
  /// GPUs: GELU, its slope and the bias' gradient within the products that they belong to, if the library can. The
  /// gradient is in the product's kernel only from fp16 to fp32 (cuBLASLt 13.0); from bf16 it is a second pass of the
  /// library's, with one block for 16 columns. cuda_kernels_bench prints whether that is faster than our own.
  bool fused_gelu = true, fused_bias_gradient = true;
  /// GPUs: attention on tensor cores, for supported types and shapes; else by a plain kernel.
  bool fused_attention = true;
  /// GPUs: attention of 16-bit types by cuDNN, if it is available and has a kernel; needs fused_attention.
  bool library_attention = true;
  std::shared_ptr<void> attention_library{};  ///< created by the set
  /// GPUs: all gradients of a layer norm in one pass over its rows, if a block of threads can hold a row; else the
  /// gradients of weight and bias are a separate pass.
  bool fused_norm = true;
  /// GPUs: the library's algorithm for each product. A product without a choice is measured when it is prepared. Null:
  /// the library's first one. Sets with the same table compute bit-identical results.
  std::shared_ptr<ProductChoices> choices{};
  /// Gets a line, once for each shape, if a library does not compute a product: the product, and what computes it
  /// instead. Called from the thread that prepares or launches it; may be empty.
  std::function<void(const std::string& line)> notice{};
  std::shared_ptr<void> library{};  ///< created by the set: computes its products
  /// Bytes of fp32 logits that are computed at a time if they are rounded when stored: on a CPU what fits its caches,
  /// on a GPU what keeps it busy.
  std::int64_t logits_bytes = std::int64_t{4} << 20;
  /// Elements of the largest matrix of a product of logits: kernels of libraries may count elements in 32 bits. With
  /// GPT-2's vocabulary 42,688 rows, so that a batch of 41 samples is the first that is divided.
  std::int64_t product_elements = (std::int64_t{1} << 31) - 1;
};

/// One row of the table: the types that an op has, and how it is prepared.
template <class Spec, class... Arguments>
struct OpEntry {
  using Make = Prepared<Arguments...>(const Spec&, const Options&);
  std::vector<DType> types;
  Make* make = nullptr;
};

/// The table. The comments list the arguments, outputs first; views that an op's specification leaves out are empty
/// (View{}).
struct KernelSet {
  std::string name;  ///< "cpu", "cuda"
  Options options;

  OpEntry<LinearSpec, View, View, View, View, View> linear_forward;  ///< y; x w b residual
  /// y before; x w b: before = x·wᵀ + b, y = GELU(before), which may read `before` rounded or not. GELU is its tanh
  /// form, x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
  OpEntry<LinearSpec, View, View, View, View, View> linear_gelu_forward;
  OpEntry<LinearSpec, View, View, View> linear_input_gradient;  ///< dx; dy w: dx = dy·w
  /// dbefore; dy w before: dbefore = (dy·w)·GELU'(before), where the layer's input x was GELU(before)
  OpEntry<LinearSpec, View, View, View, View> linear_gelu_input_gradient;
  OpEntry<LinearSpec, View, View, View, View>
      linear_weight_gradient;                           ///< dw db; dy x: dw = dyᵀ·x, db = sum of dy's rows
  OpEntry<BiasGradientSpec, View, View> bias_gradient;  ///< db; dy
  OpEntry<NormSpec, View, View, View, View, View, View> norm_forward;  ///< y mean rstd; x weight bias
  OpEntry<NormSpec, View, View, View, View, View, View, View, View, View>
      norm_backward;                                           ///< dx dweight dbias; dy x mean rstd weight residual
  OpEntry<AttentionSpec, View, View, View> attention_forward;  ///< attended log_sum_exp; qkv
  OpEntry<AttentionSpec, View, View, View, View, View>
      attention_backward;  ///< dqkv; dattended qkv log_sum_exp attended
  OpEntry<RotarySpec, View, View> rotary_forward;   ///< y; x
  OpEntry<RotarySpec, View, View> rotary_backward;  ///< dx; dy: turned back, and summed over the heads of a group
  /// y [rows, width]; x [rows, 2·width]: y = silu(x's first half)·(its second half), silu(g) = g/(1 + e^-g) (SwiGLU:
  /// Shazeer 2020, arXiv 2002.05202)
  OpEntry<ElementwiseSpec, View, View> swiglu_forward;
  OpEntry<ElementwiseSpec, View, View, View> swiglu_backward;               ///< dx; dy x
  OpEntry<CrossEntropySpec, View, View, View, View, double> cross_entropy;  ///< gradient loss; logits targets scale
  OpEntry<EmbeddingSpec, View, View, View, View> embedding_forward;         ///< y; tokens wte wpe
  OpEntry<EmbeddingSpec, View, View, View, View> embedding_backward;        ///< dwte dwpe; dy tokens
  OpEntry<DropoutSpec, View, View, View, DropoutDraw> dropout;              ///< y; x residual draw (y may be x)
  /// y; x bias residual draw: y = residual + dropout(x + bias), where the probability may be 0 (y may be x)
  OpEntry<DropoutSpec, View, View, View, View, DropoutDraw> residual_sum;
  OpEntry<TokenEmbeddingSpec, View, View, View, std::int64_t> token_embedding_forward;        ///< y; tokens wte first
  OpEntry<TokenEmbeddingSpec, View, View, View, std::int64_t> token_embedding_backward;       ///< dwte; dy tokens first
  OpEntry<PositionEmbeddingSpec, View, View, View, std::int64_t> position_embedding_forward;  ///< y; x wpe first_row
  OpEntry<PositionEmbeddingSpec, View, View, std::int64_t> position_embedding_backward;       ///< dwpe; dy first_row
  OpEntry<VocabularySpec, View, View, View, View, VocabularyPart>
      vocabulary_numerators;  ///< exponentials statistics; logits targets part
  OpEntry<VocabularySpec, View, View, View, View, double, VocabularyPart>
      vocabulary_loss;  ///< gradient (of the exponentials, in place) loss; statistics (all ranks') targets scale part
  OpEntry<ConvolutionSpec, View, View, View> convolution_forward;          ///< y; x w
  OpEntry<ConvolutionSpec, View, View, View> convolution_input_gradient;   ///< dx; dy w
  OpEntry<ConvolutionSpec, View, View, View> convolution_weight_gradient;  ///< dw; dy x
  OpEntry<BatchNormSpec, View, View, View, View, View, View, View>
      batch_norm_forward;  ///< y mean rstd; x weight bias residual
  /// dx dweight dbias dresidual; dy y x mean rstd weight. y is forward's output (zero where ReLU was inactive; empty
  /// without ReLU); dresidual is dy where ReLU was active. dx may be dy. dweight and dbias are fp32 (fp64 of fp64).
  OpEntry<BatchNormSpec, View, View, View, View, View, View, View, View, View, View> batch_norm_backward;
  /// y index; x: index (i32) is the place h·width + w of the maximum within its sample, the first of equal ones
  OpEntry<PoolSpec, View, View, View> max_pool_forward;
  OpEntry<PoolSpec, View, View, View> max_pool_backward;  ///< dx; dy index: windows that overlap add up
  OpEntry<MeanPoolSpec, View, View> mean_pool_forward;    ///< y; x
  OpEntry<MeanPoolSpec, View, View> mean_pool_backward;   ///< dx; dy
  OpEntry<ElementwiseSpec, View, View> pixels;            ///< y; bytes (i32, 0 to 255): y = bytes/127.5 - 1
  OpEntry<ElementwiseSpec, View, View, View> add;         ///< y; a b (y may be a or b)
  OpEntry<FlatSpec, View, double> scale;                  ///< x; factor: x *= factor
  OpEntry<FlatSpec, double*, View> square_norm;           ///< out; x: out = sum of x², in fp64
  OpEntry<FlatSpec, View, View>
      count_magnitudes;  ///< counts, added to; x: f64 [magnitude_bins] (kernels/tensor/magnitude.hpp)
  /// coefficient; square_norm clip: min(1, clip / (√square_norm + 1e-6)), in fp64 for every type
  OpEntry<FlatSpec, double*, const double*, double> clip_coefficient;
  OpEntry<UpdateSpec, UpdateStep> update;  ///< step: all of the specification's tensors (kernels/update.hpp)

  /// Optional: one launch for all tensors if that is faster; their addresses are then part of the specification, as in
  /// an update. The result is that of square_norm.
  OpEntry<SquareNormsSpec, double*> square_norms;  ///< out

  /// Prepares an op of this table, as in set.prepare(&KernelSet::add, spec); throws Unsupported.
  template <class Spec, class... Arguments>
  Prepared<Arguments...> prepare(OpEntry<Spec, Arguments...> KernelSet::*op, const Spec& spec) const;
};

// The ops of the table by name, for code that is repeated for each: those that sets derive from their products, and all
// others but square_norms.
// clang-format off
#define RANKSCOPE_PRODUCT_OPS(each) \
  each(linear_forward) each(linear_gelu_forward) each(linear_input_gradient) each(linear_gelu_input_gradient) \
  each(linear_weight_gradient) each(convolution_forward) each(convolution_input_gradient) \
  each(convolution_weight_gradient)
#define RANKSCOPE_OTHER_OPS(each) \
  each(bias_gradient) each(norm_forward) each(norm_backward) each(attention_forward) each(attention_backward) \
  each(rotary_forward) each(rotary_backward) each(swiglu_forward) each(swiglu_backward) each(cross_entropy) each(embedding_forward) each(embedding_backward) each(dropout) each(residual_sum) \
  each(token_embedding_forward) each(token_embedding_backward) each(position_embedding_forward) \
  each(position_embedding_backward) each(vocabulary_numerators) each(vocabulary_loss) each(batch_norm_forward) \
  each(batch_norm_backward) each(max_pool_forward) each(max_pool_backward) each(mean_pool_forward) \
  each(mean_pool_backward) each(pixels) each(add) each(scale) each(square_norm) each(count_magnitudes) \
  each(clip_coefficient) each(update)
// clang-format on

/// Declares the function of this name that prepares the op.
#define RANKSCOPE_DECLARE_OP(op) decltype(KernelSet::op)::Make op;

/// Calls visit(name, member) for every op of the two lists.
template <class Visitor>
void for_each_op(Visitor&& visit) {
#define RANKSCOPE_VISIT(op) visit(#op, &KernelSet::op);
  RANKSCOPE_PRODUCT_OPS(RANKSCOPE_VISIT);
  RANKSCOPE_OTHER_OPS(RANKSCOPE_VISIT);
#undef RANKSCOPE_VISIT
}

/// The name of an entry of the table; "?" for none.
template <class Entry>
std::string_view name_of_op(Entry KernelSet::*op) {
  std::string_view found = "?";
  for_each_op([&](std::string_view name, auto member) {
    if constexpr (std::is_same_v<decltype(member), Entry KernelSet::*>)
      if (member == op) found = name;
  });
  return found;
}

template <class Spec, class... Arguments>
Prepared<Arguments...> KernelSet::prepare(OpEntry<Spec, Arguments...> KernelSet::*op, const Spec& spec) const {
  const auto& entry = this->*op;
  bool known = entry.make != nullptr;
  if (known) {
    known = false;
    for (DType type : entry.types) known = known || type == spec.type;
  }
  if (!known) {
    // Built by append: GCC 12 warns of a non-existing overlap in "literal" + std::string.
    std::string message = "the kernel set '";
    message.append(name).append("' has no ").append(name_of_op(op)).append(" in ");
    message.append(rankscope::name_of(spec.type)).append("; it has");
    for (DType type : entry.types) message.append(" ").append(rankscope::name_of(type));
    if (entry.types.empty()) message.append(" none");
    throw Unsupported(message);
  }
  return entry.make(spec, options);
}

}  // namespace rankscope::kernels
