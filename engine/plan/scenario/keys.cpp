#include "engine/plan/scenario/keys.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>

namespace rankscope {
namespace {

constexpr double any_int = 2147483647.0;
constexpr double any_seed = 9223372036854774784.0;  // the greatest double that fits TOML's 64-bit integers
constexpr double any_size = 1e30;

constexpr Range above(double least, double greatest) { return {least, greatest, true, false}; }
constexpr Range below(double least, double greatest) { return {least, greatest, false, true}; }

#define FIELD(member) [](Scenario& s) -> Field { return &s.member; }

// Limits of layers, micro-batches and chunks are those of op ids (engine/op/op_id.hpp).
const Key keys[] = {
    {"model", "kind", FIELD(model.kind), "the kind of model"},
    {"model", "layers", FIELD(model.layers), "transformer blocks, or blocks of a resnet (ResNet-50: 16)", {1, 2047}},
    {"model", "width", FIELD(model.width), "hidden size; of a resnet the first channels", {1, 1 << 20}},
    {"model", "heads", FIELD(model.heads), "attention heads", {1, 1 << 16}},
    {"model", "context", FIELD(model.context), "tokens per sample", {1, 1 << 20}},
    {"model", "vocabulary", FIELD(model.vocabulary), "different tokens", {2, 1 << 24}},
    {"model", "tied", FIELD(model.tied), "the head uses the token embedding's matrix"},
    {"model", "dropout", FIELD(model.dropout), "probability that an element is dropped", below(0, 1)},
    {"model", "image", FIELD(model.image), "of a resnet: pixels of a side", {1, 4096}},
    {"model", "classes", FIELD(model.classes), "of a resnet: what an image may be", {2, 2048}},
    {"model", "operation", FIELD(model.operation), "of a collective alone: which one"},
    {"model", "bytes", FIELD(model.bytes), "of a collective alone: the whole tensor's", {1, 1099511627776.0}},
    {"model", "root", FIELD(model.root), "of a collective alone: the rank that sends or collects", {0, any_int}},

    {"data", "source", FIELD(data.source), "synthetic, text:FILE or tokens:FILE"},
    {"data", "seed", FIELD(data.seed), "draws the language and the order of the data", {0, any_seed}},

    {"plan", "data", FIELD(plan.data), "data-parallel ranks", {1, 1 << 20}},
    {"plan", "tensor", FIELD(plan.tensor), "tensor-parallel ranks", {1, 1 << 20}},
    {"plan", "pipeline", FIELD(plan.pipeline), "pipeline stages", {1, 4095}},
    {"plan", "virtual", FIELD(plan.virtual_stages), "chunks per stage", {1, 4095}},
    {"plan", "schedule", FIELD(plan.schedule), "the order of a stage's work"},
    {"plan", "order", FIELD(plan.order), "the order itself, of a schedule by hand"},
    {"plan", "stages", FIELD(plan.stages), "layers of each chunk: even, cost, measured, or a list"},
    {"plan", "pass_times", FIELD(plan.pass_times), "of zb-2p: forward, input and weight gradient, message, share kept"},
    {"plan", "weight_stashing", FIELD(plan.weight_stashing), "of 1f1b-async: a backward uses its forward's weights"},
    {"plan", "micro_batches", FIELD(plan.micro_batches), "per data-parallel rank and step", {1, 65535}},
    {"plan", "data_parallel", FIELD(plan.data_parallel), "where gradients are summed and parameters updated"},
    {"plan", "servers", FIELD(plan.servers), "parameter servers, each with a part of the model", {1, 1 << 10}},
    {"plan", "staleness", FIELD(plan.staleness), "steps that a server lets workers be apart; 0: none", {0, 1 << 20}},
    {"plan", "zero", FIELD(plan.zero), "ZeRO stage", {0, 3}},
    {"plan", "offload", FIELD(plan.offload), "what lies in the host's memory"},
    {"plan", "recompute", FIELD(plan.recompute), "which activations are computed twice"},
    {"plan", "recompute_blocks", FIELD(plan.recompute_blocks), "blocks computed again together", {1, 2047}},
    {"plan", "sequence_parallel", FIELD(plan.sequence_parallel),
     "the tensor group shares rows, too; of one rank no effect"},
    {"plan", "precision", FIELD(plan.precision), "type of weights and activations"},
    {"plan", "bucket_mib", FIELD(plan.bucket_mib), "MiB of a gradient bucket", above(0, 1 << 20)},
    {"plan", "collective", FIELD(plan.collective), "algorithm of the collectives"},

    {"train", "global_batch", FIELD(train.global_batch), "samples per step over all ranks", {1, any_int}},
    {"train", "steps", FIELD(train.steps), "optimizer steps", {1, any_int}},
    {"train", "checkpoint_every", FIELD(train.checkpoint_every), "steps between checkpoints; 0: none", {0, any_int}},
    {"train", "optimizer", FIELD(train.optimizer), "the optimizer"},
    {"train", "learning_rate", FIELD(train.learning_rate), "learning rate", {0, any_size}},
    {"train", "warmup_steps", FIELD(train.warmup_steps), "steps in which the learning rate rises", {0, any_int}},
    {"train", "decay", FIELD(train.decay), "how the learning rate falls"},
    {"train", "min_learning_rate", FIELD(train.min_learning_rate), "where it ends", {0, any_size}},
    {"train", "decay_steps", FIELD(train.decay_steps), "the step at which it ends; 0 is the last", {0, any_int}},
    {"train", "weight_decay", FIELD(train.hyper.weight_decay), "on matrices only", {0, any_size}},
    {"train", "momentum", FIELD(train.hyper.momentum), "share of the buffer that is kept", below(0, 1)},
    {"train", "nesterov", FIELD(train.hyper.nesterov), "momentum looks ahead"},
    {"train", "beta1", FIELD(train.hyper.beta1), "decay of the first moment", below(0, 1)},
    {"train", "beta2", FIELD(train.hyper.beta2), "decay of the second moment", below(0, 1)},
    {"train", "epsilon", FIELD(train.hyper.epsilon), "keeps a denominator from zero", above(0, any_size)},
    {"train", "beta2_decay", FIELD(train.hyper.beta2_decay), "beta2 of step t is 1 - t^-beta2_decay", above(0, 1)},
    {"train", "epsilon2", FIELD(train.hyper.epsilon2), "least size that a step is relative to", above(0, any_size)},
    {"train", "update_clip", FIELD(train.hyper.update_clip), "greatest size of an update", above(0, any_size)},
    {"train", "gamma", FIELD(train.hyper.gamma), "curvatures count so many times", above(0, any_size)},
    {"train", "hessian_interval", FIELD(train.hyper.hessian_interval), "steps between curvatures", {1, any_int}},
    {"train", "clip", FIELD(train.clip), "greatest gradient norm; 0 is off", {0, any_size}},
    {"train", "loss_scale", FIELD(train.loss_scale), "fp16: what the loss is multiplied by at first", {1, 1 << 30}},
    {"train", "loss_scale_window", FIELD(train.loss_scale_window), "fp16: steps until it is doubled", {1, any_int}},
    {"train", "magnitudes_every", FIELD(train.magnitudes_every), "steps between counts of gradients", {0, any_int}},
    {"train", "seed", FIELD(train.seed), "draws initial weights and dropout", {0, any_seed}},

    {"cluster", "spec", FIELD(cluster.spec), "a file of the folder clusters, without .toml"},
    {"cluster", "peak_flops_fp64", FIELD(cluster.peak_flops_fp64), "FLOP/s of a device", {0, any_size}},
    {"cluster", "peak_flops_fp32", FIELD(cluster.peak_flops_fp32), "FLOP/s of a device", {0, any_size}},
    {"cluster", "peak_flops_bf16", FIELD(cluster.peak_flops_bf16), "FLOP/s of a device", {0, any_size}},
    {"cluster", "peak_flops_fp16", FIELD(cluster.peak_flops_fp16), "FLOP/s of a device", {0, any_size}},
    {"cluster", "memory_bytes", FIELD(cluster.memory_bytes), "bytes of a device", {0, any_size}},
    {"cluster", "memory_bandwidth", FIELD(cluster.memory_bandwidth), "bytes/s of a device", {0, any_size}},
    {"cluster", "op_overhead_s", FIELD(cluster.op_overhead_s), "seconds to launch a kernel", {0, any_size}},
    {"cluster", "devices_per_node", FIELD(cluster.devices_per_node), "devices of a node", {1, any_int}},
    {"cluster", "intra_latency_s", FIELD(cluster.intra_latency_s), "seconds within a node", {0, any_size}},
    {"cluster", "intra_bandwidth", FIELD(cluster.intra_bandwidth), "bytes/s within a node", {0, any_size}},
    {"cluster", "inter_latency_s", FIELD(cluster.inter_latency_s), "seconds between nodes", {0, any_size}},
    {"cluster", "inter_bandwidth", FIELD(cluster.inter_bandwidth), "bytes/s between nodes", {0, any_size}},

    {"cluster",
     "multiprocessors",
     FIELD(cluster.multiprocessors),
     "that share a product's tiles; 0: roofline",
     {0, any_int},
     true},
    {"cluster", "tile_rows", FIELD(cluster.tile_rows), "of a product's tile", {1, 65536}, true},
    {"cluster", "tile_columns", FIELD(cluster.tile_columns), "of a product's tile", {1, 65536}, true},
    {"cluster", "product_efficiency", FIELD(cluster.product_efficiency), "share of the peak that products sustain",
     above(0, 1), true},
    {"cluster", "memory_efficiency", FIELD(cluster.memory_efficiency), "share of the memory's bandwidth", above(0, 1),
     true},
    {"cluster",
     "cache_bandwidth",
     FIELD(cluster.cache_bandwidth),
     "bytes/s of the shared cache; 0 infinite",
     {0, any_size},
     true},
    {"cluster", "flash_share", FIELD(cluster.flash_share), "of the peak, that flash attention nears", above(0, 1),
     true},
    {"cluster", "power_watts", FIELD(cluster.power_watts), "of a busy device; 0 not said", {0, any_size}, true},
    {"cluster", "idle_watts", FIELD(cluster.idle_watts), "of one that waits; 0: as a busy one", {0, any_size}, true},
    {"cluster",
     "context_bytes",
     FIELD(cluster.context_bytes),
     "of a device, which driver and libraries take",
     {0, any_size},
     true},
    {"cluster", "allocator_slack", FIELD(cluster.allocator_slack), "share that an allocator loses", {0, 10}, true},
    {"cluster",
     "host_bandwidth",
     FIELD(cluster.host_bandwidth),
     "bytes/s between device and host",
     {0, any_size},
     true},
    {"cluster", "host_memory_bytes", FIELD(cluster.host_memory_bytes), "a device's share of it", {0, any_size}, true},
    {"cluster",
     "host_memory_bandwidth",
     FIELD(cluster.host_memory_bandwidth),
     "bytes/s, a device's share",
     {0, any_size},
     true},
    {"cluster", "nodes", FIELD(cluster.nodes), "that there are; 0: as many as asked for", {0, any_int}, true},
    {"cluster", "devices_per_card", FIELD(cluster.devices_per_card), "devices of a card", {1, any_int}, true},
    {"cluster", "card_latency_s", FIELD(cluster.card_latency_s), "seconds within a card", {0, any_size}, true},
    {"cluster", "card_bandwidth", FIELD(cluster.card_bandwidth), "bytes/s within a card", {0, any_size}, true},
    {"cluster", "rails", FIELD(cluster.rails), "network ports of a node; 0: one a device", {0, any_int}, true},
    {"cluster",
     "ring_ports",
     FIELD(cluster.ring_ports),
     "ports of a node that one group uses; 0: all",
     {0, any_int},
     true},
    {"cluster",
     "nodes_per_switch",
     FIELD(cluster.nodes_per_switch),
     "nodes of a leaf switch; 0: all",
     {0, any_int},
     true},
    {"cluster", "oversubscription", FIELD(cluster.oversubscription),
     "of a leaf: its nodes' bandwidth over its uplinks'", above(0, any_size), true},
    {"cluster", "intra_efficiency", FIELD(cluster.intra_efficiency), "share of its rate that collectives reach",
     above(0, 1), true},
    {"cluster", "inter_efficiency", FIELD(cluster.inter_efficiency), "share of its rate that collectives reach",
     above(0, 1), true},
    {"cluster",
     "message_efficiency",
     FIELD(cluster.message_efficiency),
     "share of inter_bandwidth for messages; 0: as collectives",
     {0, 1},
     true},
    {"cluster",
     "quick_share",
     FIELD(cluster.quick_share),
     "of the bandwidth, with shorter hops; 0: none",
     {0, 1},
     true},
    {"cluster",
     "quick_intra_latency_s",
     FIELD(cluster.quick_intra_latency_s),
     "seconds of such a hop within a node",
     {0, any_size},
     true},
    {"cluster",
     "quick_inter_latency_s",
     FIELD(cluster.quick_inter_latency_s),
     "seconds of such a hop between nodes",
     {0, any_size},
     true},
    {"cluster",
     "collective_latency_s",
     FIELD(cluster.collective_latency_s),
     "seconds beside a collective's hops",
     {0, any_size},
     true},
    {"cluster",
     "ring_fill",
     FIELD(cluster.ring_fill),
     "hops that a ring loses by filling and draining",
     {0, 1000},
     true},
    {"cluster",
     "lost_node",
     FIELD(cluster.lost_node),
     "gone, with the replicas that had ranks there; -1 is none",
     {-1, any_int},
     true},
    {"cluster", "slow_node", FIELD(cluster.slow_node), "whose network ports are slow; -1 is none", {-1, any_int}, true},
    {"cluster",
     "slow_node_factor",
     FIELD(cluster.slow_node_factor),
     "times as slow as the others' ports",
     {1, 1e6},
     true},
    {"cluster",
     "failure_hours",
     FIELD(cluster.failure_hours),
     "hours of one device between failures; 0: none",
     {0, any_size},
     true},
    {"cluster",
     "checkpoint_seconds",
     FIELD(cluster.checkpoint_seconds),
     "that a checkpoint stops training",
     {0, any_size},
     true},
    {"cluster",
     "restart_seconds",
     FIELD(cluster.restart_seconds),
     "from a failure until training goes on",
     {0, any_size},
     true},
    {"cluster", "measured", FIELD(cluster.measured), "a file of the folder measured, without .toml", {}, true},

    {"software", "attention", FIELD(cluster.software.attention), "flash, or stored: scores go through memory"},
    {"software", "fused", FIELD(cluster.software.fused), "an update and the loss are one kernel each"},
    {"software", "overlap", FIELD(cluster.software.overlap), "messages and reductions run beside compute"},
    {"software", "split_transfers", FIELD(cluster.software.split_transfers),
     "tensor ranks send a share each to the next stage"},
    {"software",
     "reduced_bytes",
     FIELD(cluster.software.reduced_bytes),
     "of a gradient's element when reduced; 0: its type's",
     {0, 8}},
    {"software",
     "sent_bytes",
     FIELD(cluster.software.sent_bytes),
     "of a gradient's element when sent; 0: as it is summed",
     {0, 8}},
    {"software", "overlap_exchanges", FIELD(cluster.software.overlap_exchanges),
     "tensor ranks' in backwards, beside products"},
    {"software", "recompute_whole", FIELD(cluster.software.recompute_whole), "blocks again to their end"},
    {"software", "accumulation", FIELD(cluster.software.accumulation), "of gradients: fused, added, copied or flat"},
    {"software", "host_gradients", FIELD(cluster.software.host_gradients), "with offload, leave as they are made"},
    {"software", "host_checkpoints", FIELD(cluster.software.host_checkpoints), "of recomputation, are on the host"},
    {"software", "split_checkpoints", FIELD(cluster.software.split_checkpoints),
     "inputs of repeated blocks, over tensor ranks"},
    {"software", "serial_messages", FIELD(cluster.software.serial_messages), "a stage's messages block both ends"},
    {"software", "reduce_whole", FIELD(cluster.software.reduce_whole), "with ZeRO-1 gradients are all-reduced"},
    {"software", "gather_ahead", FIELD(cluster.software.gather_ahead), "parameters beside the next forward"},
    {"software", "score_bias", FIELD(cluster.software.score_bias), "a bias is copied to stored scores (ALiBi)"},
    {"software", "embedding_norm", FIELD(cluster.software.embedding_norm), "a layer norm behind the embedding"},
    {"software", "persistent_norm", FIELD(cluster.software.persistent_norm), "layer norms read their rows once"},
    {"software", "separate_kernels", FIELD(cluster.software.separate_kernels), "biases, masks, sums, each alone"},
    {"software", "wide_scores", FIELD(cluster.software.wide_scores), "separate scale, mask and softmax are in fp32"},
    {"software", "split_qkv", FIELD(cluster.software.split_qkv), "gradients of q, k and v are joined by a copy"},
    {"software",
     "loss_metrics",
     FIELD(cluster.software.loss_metrics),
     "times that the loss is computed again, to be shown",
     {0, 100}},
    {"software",
     "update_bytes",
     FIELD(cluster.software.update_bytes),
     "of a parameter through memory in an update; 0: by fused",
     {0, 10000}},

    {"fault", "kill_rank", FIELD(fault.kill_rank), "this rank dies; -1 is none", {-1, any_int}},
    {"fault", "kill_step", FIELD(fault.kill_step), "at the start of this step", {-1, any_int}},
    {"fault", "slow_rank", FIELD(fault.slow_rank), "this rank is slow; -1 is none", {-1, any_int}},
    {"fault", "slow_factor", FIELD(fault.slow_factor), "times as long for its compute", above(0, 1e6)},
    {"fault", "plant", FIELD(fault.plant), "a wrong program that verify must catch"},
};

#undef FIELD

/// Levenshtein's distance.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string written(const Field& field) {
  struct Write {
    std::string operator()(const int* value) const { return std::to_string(*value); }
    std::string operator()(const double* value) const { return plain(*value); }
    std::string operator()(const std::uint64_t* value) const { return std::to_string(*value); }
    std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
    std::string operator()(const std::string* value) const { return *value; }
    std::string operator()(const AnyChoice* value) const { return value->name(); }
    std::string operator()(const std::optional<int>* value) const { return *value ? (*this)(&**value) : ""; }
    std::string operator()(const std::optional<double>* value) const { return *value ? (*this)(&**value) : ""; }
    std::string operator()(const std::optional<bool>* value) const { return *value ? (*this)(&**value) : ""; }
  };
  return std::visit(Write{}, field);
}

bool given(const Field& field) {
  if (const auto* i = std::get_if<std::optional<int>*>(&field)) return (*i)->has_value();
  if (const auto* d = std::get_if<std::optional<double>*>(&field)) return (*d)->has_value();
  if (const auto* b = std::get_if<std::optional<bool>*>(&field)) return (*b)->has_value();
  return true;
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
    if (key.name == name && (key.table == table || (key.table == "software" && table == "cluster"))) return &key;
  return nullptr;
}

std::string nearest(std::string_view given_word, const std::vector<std::string>& known) {
  // Known words are in small letters.
  std::string word(given_word);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string best;
  std::size_t fewest = word.size() / 3 + 2;  // more edits than that and it is another word
  for (const std::string& candidate : known) {
    // A word that begins another one is meant as it, whatever is missing: "micro" for "micro_batches".
    const bool begins = word.size() >= 3 && word.size() < candidate.size() && candidate.starts_with(word);
    const std::size_t distance = begins ? 1 : edits(word, candidate);
    if (distance < fewest && distance < std::max(word.size(), candidate.size())) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string plain(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

}  // namespace rankscope
