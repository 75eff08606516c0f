// The closed sets of names that a scenario's keys take, such as plan.schedule = "gpipe", each with the only table of
// its names. What a value does is said at its key (scenario.hpp).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/scenario/choice.hpp"

namespace rankscope {

enum class ModelKind : std::uint8_t { gpt, resnet, collective };
inline constexpr std::string_view model_kind_words[] = {"gpt", "resnet", "collective"};
template <>
inline constexpr std::span<const std::string_view> word_table<ModelKind> = model_kind_words;

/// The eight collectives, in OpKind's order.
enum class Operation : std::uint8_t {
  broadcast,
  scatter,
  reduce,
  all_reduce,
  gather,
  all_gather,
  reduce_scatter,
  all_to_all
};
inline constexpr std::string_view operation_words[] = {"broadcast", "scatter",    "reduce",         "all-reduce",
                                                       "gather",    "all-gather", "reduce-scatter", "all-to-all"};
template <>
inline constexpr std::span<const std::string_view> word_table<Operation> = operation_words;

enum class ScheduleKind : std::uint8_t {
  naive,
  gpipe,
  one_f_one_b,
  interleaved,
  zb_h1,
  zb_h2,
  zb_2p,
  zb_v,
  one_f_one_b_async,
  by_hand
};
inline constexpr std::string_view schedule_words[] = {"naive", "gpipe", "1f1b", "interleaved", "zb-h1",
                                                      "zb-h2", "zb-2p", "zb-v", "1f1b-async",  "by-hand"};
template <>
inline constexpr std::span<const std::string_view> word_table<ScheduleKind> = schedule_words;

enum class DataParallel : std::uint8_t { all_reduce, main_device, parameter_server };
inline constexpr std::string_view data_parallel_words[] = {"all-reduce", "main-device", "parameter-server"};
template <>
inline constexpr std::span<const std::string_view> word_table<DataParallel> = data_parallel_words;

enum class Offload : std::uint8_t { none, optimizer };
inline constexpr std::string_view offload_words[] = {"none", "optimizer"};
template <>
inline constexpr std::span<const std::string_view> word_table<Offload> = offload_words;

enum class Recompute : std::uint8_t { none, blocks, sqrt, selective };
inline constexpr std::string_view recompute_words[] = {"none", "blocks", "sqrt", "selective"};
template <>
inline constexpr std::span<const std::string_view> word_table<Recompute> = recompute_words;

enum class Precision : std::uint8_t { fp64, fp32, bf16, fp16 };
inline constexpr std::string_view precision_words[] = {"fp64", "fp32", "bf16", "fp16"};
template <>
inline constexpr std::span<const std::string_view> word_table<Precision> = precision_words;

/// Of 16-bit precision: `wide`, logits are fp32 until their gradient is rounded; `narrow`, they are stored like
/// activations.
enum class LogitsType : std::uint8_t { wide, narrow };
inline constexpr std::string_view logits_words[] = {"wide", "narrow"};
template <>
inline constexpr std::span<const std::string_view> word_table<LogitsType> = logits_words;

/// `automatic`: the communicator's own; else an algorithm of engine/plan/collective.
enum class CollectiveChoice : std::uint8_t { automatic, ring, naive, tree, halving_doubling };
inline constexpr std::string_view collective_words[] = {"auto", "ring", "naive", "tree", "halving-doubling"};
template <>
inline constexpr std::span<const std::string_view> word_table<CollectiveChoice> = collective_words;

enum class Decay : std::uint8_t { none, linear, cosine };
inline constexpr std::string_view decay_words[] = {"none", "linear", "cosine"};
template <>
inline constexpr std::span<const std::string_view> word_table<Decay> = decay_words;

enum class AttentionKernel : std::uint8_t { flash, stored };
inline constexpr std::string_view attention_words[] = {"flash", "stored"};
template <>
inline constexpr std::span<const std::string_view> word_table<AttentionKernel> = attention_words;

enum class Accumulation : std::uint8_t { fused, added, copied, flat };
inline constexpr std::string_view accumulation_words[] = {"fused", "added", "copied", "flat"};
template <>
inline constexpr std::span<const std::string_view> word_table<Accumulation> = accumulation_words;

/// A wrong program, which `verify` must catch.
enum class Plant : std::uint8_t {
  none,
  gradient_scale,
  dropped_micro_batch,
  skipped_norm_term,
  norm_counted_twice,
  untied_embedding,
  unsynchronised_norms,
  unmasked_padding,
  early_gather_read,
  overflow,
  lost_part
};
inline constexpr std::string_view plant_words[] = {
    "",
    "gradient_scale",
    "dropped_micro_batch",
    "skipped_norm_term",
    "norm_counted_twice",
    "untied_embedding",
    "unsynchronised_norms",
    "unmasked_padding",
    "early_gather_read",
    "overflow",
    "lost_part",
};
template <>
inline constexpr std::span<const std::string_view> word_table<Plant> = plant_words;

/// The names that a key ("plan.schedule") takes, in the order in which they are listed to people; an empty one stands
/// for none. Empty when the key is not a choice.
std::vector<std::string> choices(std::string_view key);

}  // namespace rankscope
