// A GPT as rows: GPT-2 style, with learned positions, pre-layer-norm blocks, GELU in its tanh form, biases, and a tied
// or untied head.
#pragma once
#include "engine/plan/model/transformer_rows.hpp"

namespace rankscope::gpt_rows {

using namespace transformer_rows;
using enum Size;
using enum Place;

enum Name : Parameter {
  wte,
  wpe,
  ln_1_weight,
  ln_1_bias,
  c_attn_weight,
  c_attn_bias,
  attn_c_proj_weight,
  attn_c_proj_bias,
  ln_2_weight,
  ln_2_bias,
  c_fc_weight,
  c_fc_bias,
  mlp_c_proj_weight,
  mlp_c_proj_bias,
  ln_f_weight,
  ln_f_bias,
  head_weight,
};

inline constexpr TensorSplit by_heads{0, 3};

/// Within a block in the order of GPT-2 checkpoints.
inline constexpr ParameterRow parameters[] = {
    {wte, "wte.weight", before_blocks, {words, width}, Start::normal, by_rows},
    {wpe, "wpe.weight", before_blocks, {context, width}, Start::normal},
    {ln_1_weight, "ln_1.weight", block, {width}, Start::ones},
    {ln_1_bias, "ln_1.bias", block, {width}, Start::zeros},
    {c_attn_weight, "attn.c_attn.weight", block, {3 * width, width}, Start::normal, by_heads},
    {c_attn_bias, "attn.c_attn.bias", block, {3 * width}, Start::zeros, by_heads},
    {attn_c_proj_weight, "attn.c_proj.weight", block, {width, width}, Start::residual_normal, by_columns},
    {attn_c_proj_bias, "attn.c_proj.bias", block, {width}, Start::zeros},
    {ln_2_weight, "ln_2.weight", block, {width}, Start::ones},
    {ln_2_bias, "ln_2.bias", block, {width}, Start::zeros},
    {c_fc_weight, "mlp.c_fc.weight", block, {4 * width, width}, Start::normal, by_rows},
    {c_fc_bias, "mlp.c_fc.bias", block, {4 * width}, Start::zeros, by_rows},
    {mlp_c_proj_weight, "mlp.c_proj.weight", block, {width, 4 * width}, Start::residual_normal, by_columns},
    {mlp_c_proj_bias, "mlp.c_proj.bias", block, {width}, Start::zeros},
    {ln_f_weight, "ln_f.weight", behind_blocks, {width}, Start::ones},
    {ln_f_bias, "ln_f.bias", behind_blocks, {width}, Start::zeros},
    {head_weight, "lm_head.weight", behind_blocks, {words, width}, Start::normal, by_rows, When::untied, wte},
};

inline constexpr TensorRow tensors[] = {
    {tokens, Element::i32, {all_rows}},
    {targets, Element::i32, {all_rows}},
    {residual, Element::computed, {own_rows, width}},
    {mean1, Element::statistic, {own_rows}},
    {rstd1, Element::statistic, {own_rows}},
    {norm1, Element::computed, {own_rows, width}},
    {qkv, Element::computed, {all_rows, 3 * share}},
    {softmax, Element::statistic, {samples, own_heads, context}},
    {attended, Element::computed, {all_rows, share}},
    {middle, Element::computed, {own_rows, width}},
    {mean2, Element::statistic, {own_rows}},
    {rstd2, Element::statistic, {own_rows}},
    {norm2, Element::computed, {own_rows, width}},
    {pre_gelu, Element::computed, {all_rows, 4 * share}},
    {activated, Element::computed, {all_rows, 4 * share}},
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

inline constexpr NormNames attention_norm{residual, {mean1, rstd1}, norm1, {ln_1_weight, ln_1_bias}};
inline constexpr NormNames mlp_norm{middle, {mean2, rstd2}, norm2, {ln_2_weight, ln_2_bias}};
inline constexpr NormNames last_norm{residual, {mean1, rstd1}, norm1, {ln_f_weight, ln_f_bias}};
inline constexpr ActivationNames gelu{Activation::gelu, pre_gelu, activated, 4 * share}, no_activation{};
inline constexpr ProductNames qkv_product{{c_attn_weight, c_attn_bias}, width, 3 * share};
inline constexpr ProductNames up_product{{c_fc_weight, c_fc_bias}, width, 4 * share};

/// The segments of one rank.
inline constexpr SegmentRow segments[] = {
    embedding({wte, wpe}, output),
    norm_product(Segment::qkv, attention_norm, qkv_product, qkv, no_activation, middle),
    attention(false),
    residual_product(Segment::projection, {{attn_c_proj_weight, attn_c_proj_bias}, share, width}, attended, residual,
                     middle, no_activation, 1),
    norm_product(Segment::up, mlp_norm, up_product, pre_gelu, gelu, output),
    residual_product(Segment::down, {{mlp_c_proj_weight, mlp_c_proj_bias}, 4 * share, width}, activated, middle, output,
                     gelu, 2),
    head(last_norm, head_weight),
};

/// The segments of tensor ranks.
inline constexpr SegmentRow split_segments[] = {
    embedding({wte}, embedded),
    positions({wpe}),
    stream_norm(Segment::attention_norm, block, attention_norm, {middle}),
    split_product(Segment::qkv, qkv_product, norm1, qkv, no_activation),
    attention(false),
    partial_product(Segment::projection, {{attn_c_proj_weight}, share, width, true}, attended, projected,
                    no_activation),
    sum_norm({attn_c_proj_bias}, mlp_norm, projected, residual, output, 1),
    split_product(Segment::up, up_product, norm2, pre_gelu, gelu),
    partial_product(Segment::down, {{mlp_c_proj_weight}, 4 * share, width, true}, activated, contracted, gelu),
    stream_sum({mlp_c_proj_bias}, contracted, middle, output, 2),
    stream_norm(Segment::final_norm, behind_blocks, last_norm, {}),
    split_head(head_weight, norm1),
    loss_of_ranks,
};

static_assert(halves_equal_whole(segments) && halves_equal_whole(split_segments));

}  // namespace rankscope::gpt_rows
