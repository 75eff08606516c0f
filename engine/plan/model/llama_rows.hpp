// A Llama as rows (Touvron et al. 2023, arXiv 2302.13971, and 2307.09288 for grouped queries): RMS norm, rotary
// positions, SwiGLU, no biases, a tied or untied head. Parameters have the names of Hugging Face's checkpoints, except
// that q_proj, k_proj and v_proj lie on top of each other in one matrix, and so do gate_proj and up_proj, as in its
// Phi-3: one product instead of three, and of two.
#pragma once
#include "engine/plan/model/transformer_rows.hpp"

namespace rankscope::llama_rows {

using namespace transformer_rows;
using enum Size;
using enum Place;

enum Name : Parameter {
  embed_tokens,
  input_layernorm,
  qkv_proj,
  o_proj,
  post_attention_layernorm,
  gate_up_proj,
  down_proj,
  final_layernorm,
  lm_head,
};

inline constexpr TensorSplit by_heads{0, 3}, by_halves{0, 2};

inline constexpr ParameterRow parameters[] = {
    {embed_tokens, "model.embed_tokens.weight", before_blocks, {words, width}, Start::normal, by_rows},
    {input_layernorm, "input_layernorm.weight", block, {width}, Start::ones},
    {.name = qkv_proj,
     .text = "self_attn.qkv_proj.weight",
     .place = block,
     .whole = {packed, width},
     .start = Start::normal,
     .split = by_heads,
     .first_group = group},
    {o_proj, "self_attn.o_proj.weight", block, {width, width}, Start::residual_normal, by_columns},
    {post_attention_layernorm, "post_attention_layernorm.weight", block, {width}, Start::ones},
    {gate_up_proj, "mlp.gate_up_proj.weight", block, {2 * inner, width}, Start::normal, by_halves},
    {down_proj, "mlp.down_proj.weight", block, {width, inner}, Start::residual_normal, by_columns},
    {final_layernorm, "model.norm.weight", behind_blocks, {width}, Start::ones},
    {lm_head, "lm_head.weight", behind_blocks, {words, width}, Start::normal, by_rows, When::untied, embed_tokens},
};

inline constexpr TensorRow tensors[] = {
    {tokens, Element::i32, {all_rows}},
    {targets, Element::i32, {all_rows}},
    {residual, Element::computed, {own_rows, width}},
    {rstd1, Element::statistic, {own_rows}},
    {norm1, Element::computed, {own_rows, width}},
    {qkv, Element::computed, {all_rows, own_packed}},
    {softmax, Element::statistic, {samples, own_heads, context}},
    {attended, Element::computed, {all_rows, share}},
    {middle, Element::computed, {own_rows, width}},
    {rstd2, Element::statistic, {own_rows}},
    {norm2, Element::computed, {own_rows, width}},
    {gate_up, Element::computed, {all_rows, 2 * own_inner}},
    {activated, Element::computed, {all_rows, own_inner}},
    {output, Element::computed, {own_rows, width}},
    {logits, Element::computed, {all_rows, own_words}},
    {loss, Element::f64, {one}},
    // Of tensor ranks.
    {embedded, Element::computed, {all_rows, width}},
    {embedded_sum, Element::computed, {own_rows, width}},
    {norm1_all, Element::computed, {all_rows, width}},
    {projected, Element::computed, {all_rows, width}},
    {projected_sum, Element::computed, {own_rows, width}},
    {norm2_all, Element::computed, {all_rows, width}},
    {contracted, Element::computed, {all_rows, width}},
    {contracted_sum, Element::computed, {own_rows, width}},
    {statistics, Element::statistic, {all_rows, 3 * one}},
    {statistics_all, Element::statistic, {ranks, all_rows, 3 * one}},
};

inline constexpr NormNames attention_norm{residual, {rstd1}, norm1, {input_layernorm}};
inline constexpr NormNames mlp_norm{middle, {rstd2}, norm2, {post_attention_layernorm}};
inline constexpr NormNames last_norm{residual, {rstd1}, norm1, {final_layernorm}};
inline constexpr ActivationNames swiglu{Activation::swiglu, gate_up, activated, own_inner}, no_activation{};
inline constexpr ProductNames qkv_product{{qkv_proj}, width, own_packed}, projection{{o_proj}, share, width};
inline constexpr ProductNames up_product{{gate_up_proj}, width, 2 * own_inner},
    down_product{{down_proj}, own_inner, width};

/// The segments of one rank.
inline constexpr SegmentRow segments[] = {
    embedding({embed_tokens}, output),
    norm_product(Segment::qkv, attention_norm, qkv_product, qkv, no_activation, middle),
    attention(true),
    residual_product(Segment::projection, projection, attended, residual, middle, no_activation, 1),
    norm_product(Segment::up, mlp_norm, up_product, gate_up, swiglu, output),
    residual_product(Segment::down, down_product, activated, middle, output, swiglu, 2),
    head(last_norm, lm_head),
};

/// The segments of tensor ranks.
inline constexpr SegmentRow split_segments[] = {
    embedding({embed_tokens}, embedded),
    positions({}),
    stream_norm(Segment::attention_norm, block, attention_norm, {middle}),
    split_product(Segment::qkv, qkv_product, norm1, qkv, no_activation),
    attention(true),
    partial_product(Segment::projection, projection, attended, projected, no_activation),
    sum_norm({}, mlp_norm, projected, residual, output, 1),
    split_product(Segment::up, up_product, norm2, gate_up, swiglu),
    partial_product(Segment::down, down_product, activated, contracted, swiglu),
    stream_sum({}, contracted, middle, output, 2),
    stream_norm(Segment::final_norm, behind_blocks, last_norm, {}),
    split_head(lm_head, norm1),
    loss_of_ranks,
};

static_assert(halves_equal_whole(segments) && halves_equal_whole(split_segments));

}  // namespace rankscope::llama_rows
