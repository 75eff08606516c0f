#include "engine/plan/scenario/keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

constexpr double any_int = 2147483647.0;
constexpr double any_seed = 9223372036854774784.0;  // the greatest double that fits TOML's 64-bit integers
constexpr double any_size = 1e30;

constexpr Range above(double least, double greatest) { return {least, greatest, true, false}; }
constexpr Range below(double least, double greatest) { return {least, greatest, false, true}; }

#define FIELD(member) [](Scenario& s) -> Field { return &s.member; }
// A key with the same name as its member: of a table, of an optimizer's own numbers, of the software.
#define KEY(table, name, ...) \
  { #table, #name, FIELD(table.name), __VA_ARGS__ }
#define HYPER(name, ...) \
  { "train", #name, FIELD(train.hyper.name), __VA_ARGS__ }
#define SOFTWARE(name, ...) \
  { "software", #name, FIELD(cluster.software.name), __VA_ARGS__ }

// Limits of layers, micro-batches and chunks are those of op ids (engine/op/op_id.hpp).
const Key keys[] = {
    KEY(model, kind, "the kind of model"),
    KEY(model, layers, "transformer blocks, or blocks of a resnet (ResNet-50: 16)", {1, 2047}),
    KEY(model, width, "hidden size; in a resnet, the first channels", {1, 1 << 20}),
    KEY(model, heads, "attention heads", {1, 1 << 16}),
    KEY(model, context, "tokens per sample", {1, 1 << 20}),
    KEY(model, vocabulary, "number of different tokens", {2, 1 << 24}),
    KEY(model, tied, "the head shares the token embedding matrix"),
    KEY(model, dropout, "probability that an element is dropped", below(0, 1)),
    KEY(model, key_value_heads, "llama: heads of keys and values; 0: as heads", {0, 1 << 16}),
    KEY(model, inner, "llama: width of the gated MLP; 0: 8/3 of the width", {0, 1 << 22}),
    KEY(model, rope_theta, "llama: base of the rotary positions' frequencies", above(1, any_size)),
    KEY(model, norm_epsilon, "llama: added to the mean square in a norm", above(0, 1)),
    KEY(model, image, "resnet: pixels per side of an image", {1, 4096}),
    KEY(model, classes, "resnet: number of image classes", {2, 2048}),
    KEY(model, operation, "single collective: which one"),
    KEY(model, bytes, "single collective: bytes of the whole tensor", {1, 1099511627776.0}),
    KEY(model, root, "single collective: the rank that sends or collects", {0, any_int}),
    KEY(data, source, "synthetic, text:FILE or tokens:FILE"),
    KEY(data, token_bytes, "bytes of a token in tokens:FILE, 2 or 4", {2, 4}),
    KEY(data, seed, "seed of the language and of the order of the data", {0, any_seed}),
    KEY(plan, data, "data-parallel ranks", {1, 1 << 20}),
    KEY(plan, tensor, "tensor-parallel ranks", {1, 1 << 20}),
    KEY(plan, pipeline, "pipeline stages", {1, 4095}),
    {"plan", "virtual", FIELD(plan.virtual_stages), "chunks per stage", {1, 4095}},
    KEY(plan, schedule, "order of the work of a stage"),
    KEY(plan, order, "the order itself, for a schedule by hand"),
    KEY(plan, stages, "layers of each chunk: even, cost, measured, or a list"),
    KEY(plan, pass_times, "zb-2p: forward, input and weight gradient, message, kept share"),
    KEY(plan, weight_stashing, "1f1b-async: a backward uses its forward's weights"),
    KEY(plan, micro_batches, "number per data-parallel rank and step", {1, 65535}),
    KEY(plan, micro_batch_size, "samples of each, instead of micro_batches; 0: by these", {0, any_int}, true),
    KEY(plan, data_parallel, "where gradients are summed and parameters updated"),
    KEY(plan, servers, "number of parameter servers, each with a part of the model", {1, 1 << 10}),
    KEY(plan, staleness, "most steps between workers at a server; 0: synchronous", {0, 1 << 20}),
    KEY(plan, zero, "ZeRO stage", {0, 3}),
    KEY(plan, offload, "what is stored in host memory"),
    KEY(plan, recompute, "which activations are recomputed"),
    KEY(plan, recompute_blocks, "blocks that are recomputed together", {1, 2047}),
    KEY(plan, sequence_parallel, "tensor ranks also split the rows; no effect with one"),
    KEY(plan, precision, "type of weights and activations"),
    KEY(plan, logits, "bf16, fp16: type of the logits; wide: fp32, narrow: as activations"),
    KEY(plan, bucket_mib, "size of a gradient bucket, MiB", above(0, 1 << 20)),
    KEY(plan, collective, "algorithm of the collectives"),
    KEY(train, global_batch, "samples per step over all ranks", {1, any_int}),
    KEY(train, steps, "optimizer steps", {1, any_int}),
    KEY(train, checkpoint_every, "steps between checkpoints; 0: none", {0, any_int}),
    KEY(train, optimizer, "the optimizer"),
    KEY(train, learning_rate, "learning rate", {0, any_size}),
    KEY(train, warmup_steps, "steps in which the learning rate rises", {0, any_int}),
    KEY(train, decay, "how the learning rate falls"),
    KEY(train, min_learning_rate, "learning rate at the end of the decay", {0, any_size}),
    KEY(train, decay_steps, "step at which the decay ends; 0 is the last", {0, any_int}),
    HYPER(weight_decay, "weight decay, on matrices only", {0, any_size}),
    HYPER(momentum, "share of the momentum buffer kept each step", below(0, 1)),
    HYPER(nesterov, "Nesterov momentum (looks ahead)"),
    HYPER(beta1, "decay of the first moment", below(0, 1)),
    HYPER(beta2, "decay of the second moment", below(0, 1)),
    HYPER(epsilon, "keeps denominators above zero", above(0, any_size)),
    HYPER(beta2_decay, "beta2 of step t is 1 - t^-beta2_decay", above(0, 1)),
    HYPER(epsilon2, "smallest parameter size that a step is relative to", above(0, any_size)),
    HYPER(update_clip, "largest size of an update", above(0, any_size)),
    HYPER(gamma, "factor on curvatures", above(0, any_size)),
    HYPER(hessian_interval, "steps between estimates of the curvature", {1, any_int}),
    HYPER(trust, "LARS: relative step of a matrix at a rate of 1", above(0, any_size)),
    KEY(train, clip, "largest gradient norm; 0 is off", {0, any_size}),
    KEY(train, loss_scale, "fp16: initial loss scale", {1, 1 << 30}),
    KEY(train, loss_scale_window, "fp16: steps until the loss scale doubles", {1, any_int}),
    KEY(train, magnitudes_every, "steps between counts of gradients by magnitude", {0, any_int}),
    KEY(train, seed, "seed of initial weights and dropout", {0, any_seed}),
    KEY(cluster, spec, "a machine by name, or its file's path; none: described here"),
    KEY(cluster, peak_flops_fp64, "FLOP/s of a device", {0, any_size}),
    KEY(cluster, peak_flops_fp32, "FLOP/s of a device", {0, any_size}),
    KEY(cluster, peak_flops_bf16, "FLOP/s of a device", {0, any_size}),
    KEY(cluster, peak_flops_fp16, "FLOP/s of a device", {0, any_size}),
    KEY(cluster, memory_bytes, "memory of a device, bytes", {0, any_size}),
    KEY(cluster, memory_bandwidth, "bytes/s of a device", {0, any_size}),
    KEY(cluster, op_overhead_s, "seconds to launch a kernel", {0, any_size}),
    KEY(cluster, devices_per_node, "devices per node", {1, any_int}),
    KEY(cluster, intra_latency_s, "latency within a node, seconds", {0, any_size}),
    KEY(cluster, intra_bandwidth, "bytes/s within a node", {0, any_size}),
    KEY(cluster, inter_latency_s, "latency between nodes, seconds", {0, any_size}),
    KEY(cluster, inter_bandwidth, "bytes/s between nodes", {0, any_size}),
    KEY(cluster, multiprocessors, "processors that share the tiles of a product; 0: roofline", {0, any_int}),
    KEY(cluster, tile_rows, "rows of a product's tile", {1, 65536}),
    KEY(cluster, tile_columns, "columns of a product's tile", {1, 65536}),
    KEY(cluster, product_efficiency, "share of the peak that matrix products reach", above(0, 1)),
    KEY(cluster, memory_efficiency, "share of the memory bandwidth that kernels reach", above(0, 1)),
    KEY(cluster, cache_bandwidth, "bytes/s of the shared cache; 0: infinite", {0, any_size}),
    KEY(cluster, flash_share, "share of the peak that flash attention approaches", above(0, 1)),
    KEY(cluster, power_watts, "power of a busy device; 0: unknown", {0, any_size}),
    KEY(cluster, idle_watts, "power of a waiting device; 0: as a busy one", {0, any_size}),
    KEY(cluster, context_bytes, "device memory used by driver and libraries", {0, any_size}),
    KEY(cluster, allocator_slack, "share of memory lost in the allocator", {0, 10}),
    KEY(cluster, host_bandwidth, "bytes/s between device and host", {0, any_size}),
    KEY(cluster, host_memory_bytes, "host memory per device", {0, any_size}),
    KEY(cluster, host_memory_bandwidth, "bytes/s of host memory per device", {0, any_size}),
    KEY(cluster, nodes, "nodes in the cluster; 0: unlimited", {0, any_int}),
    KEY(cluster, devices_per_card, "devices per card", {1, any_int}),
    KEY(cluster, card_latency_s, "latency within a card, seconds", {0, any_size}),
    KEY(cluster, card_bandwidth, "bytes/s within a card", {0, any_size}),
    KEY(cluster, rails, "network ports per node; 0: one per device", {0, any_int}),
    KEY(cluster, ring_ports, "ports of a node that one group uses; 0: all", {0, any_int}),
    KEY(cluster, nodes_per_switch, "nodes per leaf switch; 0: all", {0, any_int}),
    KEY(cluster, oversubscription, "of a leaf: bandwidth of its nodes / of its uplinks", above(0, any_size)),
    KEY(cluster, intra_efficiency, "share of its rate that collectives reach", above(0, 1)),
    KEY(cluster, inter_efficiency, "share of its rate that collectives reach", above(0, 1)),
    KEY(cluster, message_efficiency, "share of inter_bandwidth for messages; 0: as collectives", {0, 1}),
    KEY(cluster, quick_share, "share of the bandwidth with shorter hops; 0: none", {0, 1}),
    KEY(cluster, quick_intra_latency_s, "latency of such a hop within a node, seconds", {0, any_size}),
    KEY(cluster, quick_inter_latency_s, "latency of such a hop between nodes, seconds", {0, any_size}),
    KEY(cluster, collective_latency_s, "fixed time of a collective besides its hops, seconds", {0, any_size}),
    KEY(cluster, ring_fill, "hops that a ring loses by filling and draining", {0, 1000}),
    KEY(cluster, lost_node, "lost, with the replicas that had ranks on it; -1 is none", {-1, any_int}),
    KEY(cluster, slow_node, "whose network ports are slow; -1 is none", {-1, any_int}),
    KEY(cluster, slow_node_factor, "its ports are this many times slower", {1, 1e6}),
    KEY(cluster, failure_hours, "hours of one device between failures; 0: none", {0, any_size}),
    KEY(cluster, checkpoint_seconds, "time that a checkpoint stops training", {0, any_size}),
    KEY(cluster, restart_seconds, "time from a failure until training continues", {0, any_size}),
    KEY(cluster, measured, "a file in the folder measured, without .toml"),
    {"software", "stack", FIELD(cluster.stack), "a framework by name, or its file's path; none: the cluster's"},
    SOFTWARE(attention, "flash, or stored: scores go through memory"),
    SOFTWARE(collectives, "library: as NCCL; engine: the listed transfers, one by one"),
    SOFTWARE(fused, "an update and the loss are one kernel each"),
    SOFTWARE(overlap, "messages and reductions overlap with compute"),
    SOFTWARE(split_transfers, "each tensor rank sends a share to the next stage"),
    SOFTWARE(reduced_bytes, "bytes per gradient element when reduced; 0: as its type", {0, 8}),
    SOFTWARE(sent_bytes, "bytes per gradient element when sent; 0: as summed", {0, 8}),
    SOFTWARE(overlap_exchanges, "tensor all-reduces in backward overlap with products"),
    SOFTWARE(recompute_whole, "recompute blocks up to their end"),
    SOFTWARE(accumulation, "how gradients are summed: fused, added, copied or flat"),
    SOFTWARE(host_gradients, "with offload, sent as soon as they are ready"),
    SOFTWARE(host_checkpoints, "inputs of recomputed blocks are in host memory"),
    SOFTWARE(split_checkpoints, "inputs of recomputed blocks are split over tensor ranks"),
    SOFTWARE(serial_messages, "a stage's messages block both ends"),
    SOFTWARE(reduce_whole, "with ZeRO-1 gradients are all-reduced"),
    SOFTWARE(gather_ahead, "updated parameters are gathered during the next forward"),
    SOFTWARE(score_bias, "a bias is copied to stored scores (ALiBi)"),
    SOFTWARE(embedding_norm, "a layer norm after the embedding"),
    SOFTWARE(persistent_norm, "layer norms read their rows once"),
    SOFTWARE(separate_kernels, "biases, masks and sums are separate kernels"),
    SOFTWARE(wide_scores, "separate scale, mask and softmax are in fp32"),
    SOFTWARE(split_qkv, "gradients of q, k and v are joined by a copy"),
    SOFTWARE(loss_metrics, "extra computations of the loss for display", {0, 100}),
    SOFTWARE(update_bytes, "bytes per parameter moved in an update; 0: by fused", {0, 10000}),
    KEY(fault, kill_rank, "rank that dies; -1 is none", {-1, any_int}),
    KEY(fault, kill_step, "step at whose start it dies", {-1, any_int}),
    KEY(fault, slow_rank, "slow rank; -1 is none", {-1, any_int}),
    KEY(fault, slow_factor, "factor on the compute time of the slow rank", above(0, 1e6)),
    KEY(fault, plant, "an error in the program that verify must find"),
};

#undef SOFTWARE
#undef HYPER
#undef KEY
#undef FIELD

/// Levenshtein's distance, in which also two letters in the wrong order are one edit.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1), above, above_that;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    above_that = std::move(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], above_that[j - 2] + 1);
    }
  }
  return row[b.size()];
}

struct Write {
  std::string operator()(double value) const { return plain(value); }
  std::string operator()(const AnyChoice& value) const { return value.name(); }
  template <class Value>
  std::string operator()(const Value& value) const {
    return fmt::format("{}", value);
  }
  template <class Value>
  std::string operator()(const std::optional<Value>& value) const {
    return value ? (*this)(*value) : "";
  }
};

}  // namespace

std::string written(const Field& field) {
  return std::visit([](const auto* value) { return Write{}(*value); }, field);
}

bool given(const Field& field) {
  return std::visit(
      []([[maybe_unused]] const auto* value) {
        if constexpr (requires { value->has_value(); }) return value->has_value();
        return true;
      },
      field);
}

std::span<const Key> scenario_keys() { return keys; }

std::vector<std::string_view> scenario_tables() {
  std::vector<std::string_view> tables;
  for (const Key& key : keys)
    if (tables.empty() || tables.back() != key.table) tables.push_back(key.table);
  return tables;
}

const Key* find_key(std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const std::string_view table = path.substr(0, dot), name = path.substr(dot + 1);
  for (const Key& key : keys)
    if (key.name == name && (key.table == table || (key.table == software_table && table == cluster_table)))
      return &key;
  return nullptr;
}

std::string nearest(std::string_view given_word, const std::vector<std::string>& known) {
  // Known words are in lower case.
  const std::string word = lowered(given_word);
  std::string best;
  std::size_t fewest = (word.size() + 1) / 3 + 1;  // with as many edits it is another word
  for (const std::string& candidate : known) {
    // A prefix of a known word counts as that word: "micro" for "micro_batches".
    const bool begins = word.size() >= 3 && word.size() < candidate.size() && candidate.starts_with(word);
    const std::size_t distance = begins ? 1 : edits(word, candidate);
    if (distance < fewest && distance < std::max(word.size(), candidate.size())) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string nearest_or(std::string_view word, const std::vector<std::string>& known, const std::string& otherwise) {
  const std::string near = nearest(word, known);
  return near.empty() ? otherwise : "did you mean '" + near + "'?";
}

std::string plain(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

}  // namespace rankscope
