// The closed sets of names that a scenario's keys accept, such as plan.schedule = "gpipe", each with the only table of
// its names. The effect of a value is described at its key (scenario.hpp).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/scenario/choice.hpp"

namespace rankscope {

enum class ModelKind : std::uint8_t { gpt, llama, resnet, collective };
template <>
inline constexpr auto word_table<ModelKind> = word_list("gpt", "llama", "resnet", "collective");

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
template <>
inline constexpr auto word_table<Operation> = word_list("broadcast", "scatter", "reduce", "all-reduce", "gather",
                                                        "all-gather", "reduce-scatter", "all-to-all");

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
template <>
inline constexpr auto word_table<ScheduleKind> = word_list("naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2",
                                                           "zb-2p", "zb-v", "1f1b-async", "by-hand");
/// Its builder makes input gradients and weight gradients instead of whole backwards.
constexpr bool is_zero_bubble(ScheduleKind kind) { return kind >= ScheduleKind::zb_h1 && kind <= ScheduleKind::zb_v; }

enum class DataParallel : std::uint8_t { all_reduce, main_device, parameter_server };
template <>
inline constexpr auto word_table<DataParallel> = word_list("all-reduce", "main-device", "parameter-server");

enum class Offload : std::uint8_t { none, optimizer };
template <>
inline constexpr auto word_table<Offload> = word_list("none", "optimizer");

enum class Recompute : std::uint8_t { none, blocks, sqrt, selective };
template <>
inline constexpr auto word_table<Recompute> = word_list("none", "blocks", "sqrt", "selective");

enum class Precision : std::uint8_t { fp64, fp32, bf16, fp16 };
template <>
inline constexpr auto word_table<Precision> = word_list("fp64", "fp32", "bf16", "fp16");

/// Of 16-bit precision: `wide`, logits are fp32 until their gradient is rounded; `narrow`, they are stored like
/// activations.
enum class LogitsType : std::uint8_t { wide, narrow };
template <>
inline constexpr auto word_table<LogitsType> = word_list("wide", "narrow");

/// `automatic`: the communicator's own; else an algorithm of engine/plan/collective.
enum class CollectiveChoice : std::uint8_t { automatic, ring, naive, tree, halving_doubling };
template <>
inline constexpr auto word_table<CollectiveChoice> = word_list("auto", "ring", "naive", "tree", "halving-doubling");

enum class Decay : std::uint8_t { none, linear, cosine };
template <>
inline constexpr auto word_table<Decay> = word_list("none", "linear", "cosine");

enum class AttentionKernel : std::uint8_t { flash, stored };
template <>
inline constexpr auto word_table<AttentionKernel> = word_list("flash", "stored");

/// `library`: rings over all ports and trees, as NCCL's; `engine`: the transfer lists of engine/plan/collective, which
/// this engine runs itself.
enum class Collectives : std::uint8_t { library, engine };
template <>
inline constexpr auto word_table<Collectives> = word_list("library", "engine");

enum class Accumulation : std::uint8_t { fused, added, copied, flat };
template <>
inline constexpr auto word_table<Accumulation> = word_list("fused", "added", "copied", "flat");

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
template <>
inline constexpr auto word_table<Plant> = word_list("", "gradient_scale", "dropped_micro_batch", "skipped_norm_term",
                                                    "norm_counted_twice", "untied_embedding", "unsynchronised_norms",
                                                    "unmasked_padding", "early_gather_read", "overflow", "lost_part");

/// The names that a key ("plan.schedule") accepts, in the order in which they are listed for users; an empty one means
/// none. Empty if the key is not a choice.
std::vector<std::string> choices(std::string_view key);

}  // namespace rankscope
