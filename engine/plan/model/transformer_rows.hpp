// Rows of a transformer's segments: from a layer and the names of its operands to everything that a segment reads,
// writes and keeps, and its work. gpt_rows.hpp and llama_rows.hpp are made of these. Internal to the room.
//
// FLOPs follow from the products. With T tokens in a micro-batch, s of them per sample, width h and vocabulary V,
// those of a GPT's forward are (2·m·n·k each)
//
//   qkv 6Th²   attention 2Tsh (scores) + 2Tsh (values)   projection 2Th²   up 8Th²   down 8Th²   head 2ThV
//
// A product's input gradient costs the same, and so does its weight gradient; attention has no weights, so its
// whole backward, twice its forward, is input gradient. Over L layers and a batch of B samples the sum is
// 72BsLh²(1 + s/(6h) + V/(12Lh)), the form of Narayanan et al. 2021 (arXiv 2104.04473, appendix). Attention counts all
// s × s scores although causality needs only half of them, and lookups, norms, activations, rotations and sums are not
// counted, as there.
#pragma once
#include "engine/plan/model/rows.hpp"

namespace rankscope::transformer_rows {

// A tensor rank's part of a product: its output columns (rows of the matrix; Megatron's "column parallel", since it
// writes x·A), so that activations and attention get complete heads and columns, or its input columns, whose results
// are then summed.
inline constexpr TensorSplit by_rows{0, 1}, by_columns{1, 1};

/// A norm's operands.
struct NormNames {
  TensorName x;
  Tensors statistics;  ///< mean and rstd of a layer norm, rstd of an RMS norm
  TensorName normed;
  Parameters parameters;  ///< weight, and of a layer norm its bias
  constexpr NormKind kind() const { return parameters.size() > 1 ? NormKind::layer : NormKind::rms; }
  constexpr Tensors kept() const { return Tensors{x} + statistics; }
};

/// A product with a weight and perhaps a bias: its size.
struct ProductNames {
  Parameters parameters;
  Extent in, out;
  bool bias_follows = false;  ///< it is added after the sum over tensor ranks, by a kernel like the others' biases
  constexpr bool biased() const { return parameters.size() > 1; }
  constexpr WorkRow work(Work kind) const {
    WorkRow row(kind, in, out);
    row.bias = biased() || bias_follows;
    return row;
  }
  /// One whose bias' gradient is its own kernel.
  constexpr WorkRow own_work() const { return work(biased() ? Work::biased_product : Work::product); }
};

/// An activation between the result of a product and the input of the next.
struct ActivationNames {
  Activation kind = Activation::none;
  TensorName before{}, after{};
  Extent width{};  ///< of `after`
  constexpr bool exists() const { return kind != Activation::none; }
  constexpr Tensors kept() const { return exists() ? Tensors{before} : Tensors{}; }
  constexpr Few<WorkRow, 5> forward() const {
    if (!exists()) return {};
    return {{kind == Activation::gelu ? Work::gelu : Work::swiglu, width, width}};
  }
  constexpr Few<WorkRow, 5> slope() const {
    if (!exists()) return {};
    return {{kind == Activation::gelu ? Work::gelu_slope : Work::swiglu_slope, width, width}};
  }
};

/// Tokens, and positions if there is a second parameter.
constexpr SegmentRow embedding(Parameters parameters, TensorName result) {
  const bool positions = parameters.size() > 1;
  return {.kind = Segment::embedding,
          .place = Place::before_blocks,
          .layer = positions ? Layer(layer::Embedding{}) : Layer(layer::TokenEmbedding{}),
          .parameters = parameters,
          .inputs = {TensorName::tokens},
          .outputs = {result},
          .gradient_inputs = {result},
          .kept = {TensorName::tokens},
          .weight = {.gradients = {result}, .kept = {TensorName::tokens}, .parameters = parameters},
          .backward_reads_parameters = false,
          .work = positions ? Few<WorkRow, 5>{Work::lookup, Work::positions} : Few<WorkRow, 5>{Work::lookup}};
}

/// `branch`: the tensor whose gradient is that of the residual branch, which is added to that of the norm's input.
constexpr SegmentRow norm_product(Segment kind, const NormNames& norm, const ProductNames& product, TensorName result,
                                  const ActivationNames& activation, TensorName branch) {
  const Tensors activated = activation.exists() ? Tensors{activation.after} : Tensors{};
  return {.kind = kind,
          .place = Place::block,
          .layer = layer::NormProduct{norm.kind(), product.biased(), activation.kind},
          .parameters = norm.parameters + product.parameters,
          .inputs = {norm.x},
          .outputs = norm.statistics + Tensors{norm.normed, result} + activated,
          .gradient_inputs = {result, branch},
          .kept = norm.kept() + Tensors{norm.normed},
          .gradient_outputs = {norm.x},
          .input = {.kept = norm.kept(), .parameters = norm.parameters},
          .weight = {.gradients = {result}, .kept = {norm.normed}, .parameters = product.parameters},
          .work = Few<WorkRow, 5>{Work::joined_norm, product.own_work()} + activation.forward()};
}

constexpr SegmentRow attention(bool rotary) {
  using enum TensorName;
  return {.kind = Segment::attention,
          .place = Place::block,
          .layer = layer::Attention{rotary},
          .inputs = {qkv},
          .outputs = {softmax, attended},
          .gradient_inputs = {attended},
          .kept = {qkv, softmax, attended},
          .gradient_outputs = {qkv},
          .input = {.kept = {qkv, softmax, attended}},
          .work = rotary ? Few<WorkRow, 5>{Work::rotary, Work::attention} : Few<WorkRow, 5>{Work::attention}};
}

/// `before`: what made the product's input, if it was an activation.
constexpr SegmentRow residual_product(Segment kind, const ProductNames& product, TensorName x, TensorName residual,
                                      TensorName result, const ActivationNames& before, int dropout_site) {
  WorkRow sum(Work::residual_sum);
  sum.bias = product.biased();
  return {.kind = kind,
          .place = Place::block,
          .layer = layer::ResidualProduct{product.biased(), before.kind},
          .parameters = product.parameters,
          .inputs = {x, residual},
          .outputs = {result},
          .gradient_inputs = {result},
          .kept = Tensors{x} + before.kept(),
          .gradient_outputs = {before.exists() ? before.before : x},
          .input = {.kept = before.kept()},
          .weight = {.gradients = {result}, .kept = {x}, .parameters = product.parameters},
          .dropout_site = dropout_site,
          .work = Few<WorkRow, 5>{product.work(Work::product)} + before.slope() + Few<WorkRow, 5>{sum}};
}

constexpr SegmentRow head(const NormNames& norm, Parameter weight) {
  using enum TensorName;
  return {.kind = Segment::head,
          .place = Place::behind_blocks,
          .layer = layer::Head{norm.kind()},
          .parameters = norm.parameters + Parameters{weight},
          .inputs = {norm.x, targets},
          .outputs = norm.statistics + Tensors{norm.normed, logits, loss},
          .kept = norm.kept() + Tensors{norm.normed, logits},
          .gradient_outputs = {norm.x},
          .input = {.kept = norm.kept() + Tensors{logits}, .parameters = norm.parameters},
          .weight = {.kept = {norm.normed, logits}, .parameters = {weight}},
          .work = {Work::norm, Work::loss_gradient, {Work::product, Size::width, Size::own_words}, Work::loss}};
}

// Of tensor ranks (Megatron-LM; Shoeybi et al. 2019, arXiv 1909.08053): products on a rank's share, and between them
// the work that all ranks repeat, or with sequence parallelism (Korthikanti et al. 2022, arXiv 2205.05198) each for its
// rows.

/// `parameters`: the positions, if they are learned.
constexpr SegmentRow positions(Parameters parameters) {
  using enum TensorName;
  return {.kind = Segment::positions,
          .place = Place::before_blocks,
          .layer = layer::Positions{parameters.size() > 0},
          .parameters = parameters,
          .inputs = {embedded},
          .outputs = {output},
          .gradient_inputs = {output},
          .gradient_outputs = {embedded},
          .input = {.parameters = parameters},
          .backward_reads_parameters = false,
          .work = {parameters.size() > 0 ? Work::positions : Work::stream_copy}};
}

/// `branch`: as of norm_product, in a block.
constexpr SegmentRow stream_norm(Segment kind, Place place, const NormNames& norm, Tensors branch) {
  return {.kind = kind,
          .place = place,
          .layer = layer::StreamNorm{norm.kind()},
          .parameters = norm.parameters,
          .inputs = {norm.x},
          .outputs = norm.statistics + Tensors{norm.normed},
          .gradient_inputs = Tensors{norm.normed} + branch,
          .kept = norm.kept(),
          .gradient_outputs = {norm.x},
          .input = {.kept = norm.kept(), .parameters = norm.parameters},
          .work = {branch.empty() ? Work::norm : Work::joined_norm}};
}

constexpr SegmentRow split_product(Segment kind, const ProductNames& product, TensorName x, TensorName result,
                                   const ActivationNames& activation) {
  const Tensors activated = activation.exists() ? Tensors{activation.after} : Tensors{};
  return {.kind = kind,
          .place = Place::block,
          .layer = layer::SplitProduct{product.biased(), activation.kind},
          .parameters = product.parameters,
          .inputs = {x},
          .outputs = Tensors{result} + activated,
          .gradient_inputs = {result},
          .kept = {x},
          .gradient_outputs = {x},
          .weight = {.gradients = {result}, .kept = {x}, .parameters = product.parameters},
          .work = Few<WorkRow, 5>{product.own_work()} + activation.forward()};
}

constexpr SegmentRow partial_product(Segment kind, const ProductNames& product, TensorName x, TensorName result,
                                     const ActivationNames& before) {
  return {.kind = kind,
          .place = Place::block,
          .layer = layer::PartialProduct{before.kind},
          .parameters = product.parameters,
          .inputs = {x},
          .outputs = {result},
          .gradient_inputs = {result},
          .kept = Tensors{x} + before.kept(),
          .gradient_outputs = {before.exists() ? before.before : x},
          .input = {.kept = before.kept()},
          .weight = {.gradients = {result}, .kept = {x}, .parameters = product.parameters},
          .work = Few<WorkRow, 5>{product.work(Work::product)} + before.slope()};
}

/// `bias`: of the branch's product, which is added after the sum over ranks; empty if it has none.
constexpr SegmentRow sum_norm(Parameters bias, const NormNames& norm, TensorName added, TensorName residual,
                              TensorName branch, int dropout_site) {
  WorkRow sum(Work::residual_sum);
  sum.bias = bias.size() > 0;
  return {.kind = Segment::mlp_norm,
          .place = Place::block,
          .layer = layer::SumNorm{norm.kind(), sum.bias},
          .parameters = bias + norm.parameters,
          .inputs = {added, residual},
          .outputs = norm.kept() + Tensors{norm.normed},
          .gradient_inputs = {norm.normed, branch},
          .kept = norm.kept(),
          .gradient_outputs = {norm.x, added},
          .input = {.kept = norm.kept(), .parameters = bias + norm.parameters},
          .dropout_site = dropout_site,
          .work = {sum, Work::joined_norm}};
}

constexpr SegmentRow stream_sum(Parameters bias, TensorName added, TensorName residual, TensorName result,
                                int dropout_site) {
  WorkRow sum(Work::residual_sum);
  sum.bias = bias.size() > 0;
  return {.kind = Segment::output,
          .place = Place::block,
          .layer = layer::Sum{sum.bias},
          .parameters = bias,
          .inputs = {added, residual},
          .outputs = {result},
          .gradient_inputs = {result},
          .gradient_outputs = {added},
          .input = {.parameters = bias},
          .dropout_site = dropout_site,
          .work = {sum}};
}

constexpr SegmentRow split_head(Parameter weight, TensorName normed) {
  using enum TensorName;
  return {.kind = Segment::head,
          .place = Place::behind_blocks,
          .layer = layer::SplitHead{},
          .parameters = {weight},
          .inputs = {normed, targets},
          .outputs = {logits, statistics},
          .kept = {normed, logits},
          .gradient_outputs = {normed},
          .input = {.kept = {logits}},
          .weight = {.kept = {normed, logits}, .parameters = {weight}},
          .work = {Work::loss_gradient, {Work::product, Size::width, Size::own_words}}};
}

inline constexpr SegmentRow loss_of_ranks{.kind = Segment::loss,
                                          .place = Place::behind_blocks,
                                          .layer = layer::Loss{},
                                          .inputs = {TensorName::statistics, TensorName::targets},
                                          .outputs = {TensorName::logits, TensorName::loss},
                                          .changed = {TensorName::logits},
                                          .work = {Work::loss}};

using enum TensorName;
inline constexpr Exchange loss_exchange{statistics, statistics_all, OpKind::all_gather, std::nullopt, Purpose::loss};
inline constexpr Exchange exchanges[] = {
    {embedded, embedded, OpKind::all_reduce, std::nullopt},     {norm1, norm1, std::nullopt, OpKind::all_reduce},
    {projected, projected, OpKind::all_reduce, std::nullopt},   {norm2, norm2, std::nullopt, OpKind::all_reduce},
    {contracted, contracted, OpKind::all_reduce, std::nullopt}, loss_exchange,
};
/// With sequence parallelism.
inline constexpr Exchange row_exchanges[] = {
    {embedded, embedded_sum, OpKind::reduce_scatter, OpKind::all_gather},
    {norm1, norm1_all, OpKind::all_gather, OpKind::reduce_scatter},
    {projected, projected_sum, OpKind::reduce_scatter, OpKind::all_gather},
    {norm2, norm2_all, OpKind::all_gather, OpKind::reduce_scatter},
    {contracted, contracted_sum, OpKind::reduce_scatter, OpKind::all_gather},
    loss_exchange,
};

}  // namespace rankscope::transformer_rows
