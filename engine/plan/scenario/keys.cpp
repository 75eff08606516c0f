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
    {"model", "width", FIELD(model.width), "hidden size; in a resnet, the first channels", {1, 1 << 20}},
    {"model", "heads", FIELD(model.heads), "attention heads", {1, 1 << 16}},
    {"model", "context", FIELD(model.context), "tokens per sample", {1, 1 << 20}},
    {"model", "vocabulary", FIELD(model.vocabulary), "number of different tokens", {2, 1 << 24}},
    {"model", "tied", FIELD(model.tied), "the head shares the token embedding matrix"},
    {"model", "dropout", FIELD(model.dropout), "probability that an element is dropped", below(0, 1)},
    {"model", "image", FIELD(model.image), "resnet: pixels per side of an image", {1, 4096}},
    {"model", "classes", FIELD(model.classes), "resnet: number of image classes", {2, 2048}},
    {"model", "operation", FIELD(model.operation), "single collective: which one"},
    {"model", "bytes", FIELD(model.bytes), "single collective: bytes of the whole tensor", {1, 1099511627776.0}},
    {"model", "root", FIELD(model.root), "single collective: the rank that sends or collects", {0, any_int}},

    {"data", "source", FIELD(data.source), "synthetic, text:FILE or tokens:FILE"},
    {"data", "seed", FIELD(data.seed), "seed of the language and of the order of the data", {0, any_seed}},

    {"plan", "data", FIELD(plan.data), "data-parallel ranks", {1, 1 << 20}},
    {"plan", "tensor", FIELD(plan.tensor), "tensor-parallel ranks", {1, 1 << 20}},
    {"plan", "pipeline", FIELD(plan.pipeline), "pipeline stages", {1, 4095}},
    {"plan", "virtual", FIELD(plan.virtual_stages), "chunks per stage", {1, 4095}},
    {"plan", "schedule", FIELD(plan.schedule), "order of the work of a stage"},
    {"plan", "order", FIELD(plan.order), "the order itself, for a schedule by hand"},
    {"plan", "stages", FIELD(plan.stages), "layers of each chunk: even, cost, measured, or a list"},
    {"plan", "pass_times", FIELD(plan.pass_times), "zb-2p: forward, input and weight gradient, message, kept share"},
    {"plan", "weight_stashing", FIELD(plan.weight_stashing), "1f1b-async: a backward uses its forward's weights"},
    {"plan", "micro_batches", FIELD(plan.micro_batches), "number per data-parallel rank and step", {1, 65535}},
    {"plan", "data_parallel", FIELD(plan.data_parallel), "where gradients are summed and parameters updated"},
    {"plan",
     "servers",
     FIELD(plan.servers),
     "number of parameter servers, each with a part of the model",
     {1, 1 << 10}},
    {"plan",
     "staleness",
     FIELD(plan.staleness),
     "most steps between workers at a server; 0: synchronous",
     {0, 1 << 20}},
    {"plan", "zero", FIELD(plan.zero), "ZeRO stage", {0, 3}},
    {"plan", "offload", FIELD(plan.offload), "what is stored in host memory"},
    {"plan", "recompute", FIELD(plan.recompute), "which activations are recomputed"},
    {"plan", "recompute_blocks", FIELD(plan.recompute_blocks), "blocks that are recomputed together", {1, 2047}},
    {"plan", "sequence_parallel", FIELD(plan.sequence_parallel),
     "tensor ranks also split the rows; no effect with one"},
    {"plan", "precision", FIELD(plan.precision), "type of weights and activations"},
    {"plan", "logits", FIELD(plan.logits), "bf16, fp16: type of the logits; wide: fp32, narrow: as activations"},
    {"plan", "bucket_mib", FIELD(plan.bucket_mib), "size of a gradient bucket, MiB", above(0, 1 << 20)},
    {"plan", "collective", FIELD(plan.collective), "algorithm of the collectives"},

    {"train", "global_batch", FIELD(train.global_batch), "samples per step over all ranks", {1, any_int}},
    {"train", "steps", FIELD(train.steps), "optimizer steps", {1, any_int}},
    {"train", "checkpoint_every", FIELD(train.checkpoint_every), "steps between checkpoints; 0: none", {0, any_int}},
    {"train", "optimizer", FIELD(train.optimizer), "the optimizer"},
    {"train", "learning_rate", FIELD(train.learning_rate), "learning rate", {0, any_size}},
    {"train", "warmup_steps", FIELD(train.warmup_steps), "steps in which the learning rate rises", {0, any_int}},
    {"train", "decay", FIELD(train.decay), "how the learning rate falls"},
    {"train",
     "min_learning_rate",
     FIELD(train.min_learning_rate),
     "learning rate at the end of the decay",
     {0, any_size}},
    {"train", "decay_steps", FIELD(train.decay_steps), "step at which the decay ends; 0 is the last", {0, any_int}},
    {"train", "weight_decay", FIELD(train.hyper.weight_decay), "weight decay, on matrices only", {0, any_size}},
    {"train", "momentum", FIELD(train.hyper.momentum), "share of the momentum buffer kept each step", below(0, 1)},
    {"train", "nesterov", FIELD(train.hyper.nesterov), "Nesterov momentum (looks ahead)"},
    {"train", "beta1", FIELD(train.hyper.beta1), "decay of the first moment", below(0, 1)},
    {"train", "beta2", FIELD(train.hyper.beta2), "decay of the second moment", below(0, 1)},
    {"train", "epsilon", FIELD(train.hyper.epsilon), "keeps denominators above zero", above(0, any_size)},
    {"train", "beta2_decay", FIELD(train.hyper.beta2_decay), "beta2 of step t is 1 - t^-beta2_decay", above(0, 1)},
    {"train", "epsilon2", FIELD(train.hyper.epsilon2), "smallest parameter size that a step is relative to",
     above(0, any_size)},
    {"train", "update_clip", FIELD(train.hyper.update_clip), "largest size of an update", above(0, any_size)},
    {"train", "gamma", FIELD(train.hyper.gamma), "factor on curvatures", above(0, any_size)},
    {"train",
     "hessian_interval",
     FIELD(train.hyper.hessian_interval),
     "steps between estimates of the curvature",
     {1, any_int}},
    {"train", "trust", FIELD(train.hyper.trust), "LARS: relative step of a matrix at a rate of 1", above(0, any_size)},
    {"train", "clip", FIELD(train.clip), "largest gradient norm; 0 is off", {0, any_size}},
    {"train", "loss_scale", FIELD(train.loss_scale), "fp16: initial loss scale", {1, 1 << 30}},
    {"train",
     "loss_scale_window",
     FIELD(train.loss_scale_window),
     "fp16: steps until the loss scale doubles",
     {1, any_int}},
    {"train",
     "magnitudes_every",
     FIELD(train.magnitudes_every),
     "steps between counts of gradients by magnitude",
     {0, any_int}},
    {"train", "seed", FIELD(train.seed), "seed of initial weights and dropout", {0, any_seed}},

    {"cluster", "spec", FIELD(cluster.spec), "a file in the folder clusters, without .toml"},
    {"cluster", "peak_flops_fp64", FIELD(cluster.peak_flops_fp64), "FLOP/s of a device", {0, any_size}},
    {"cluster", "peak_flops_fp32", FIELD(cluster.peak_flops_fp32), "FLOP/s of a device", {0, any_size}},
    {"cluster", "peak_flops_bf16", FIELD(cluster.peak_flops_bf16), "FLOP/s of a device", {0, any_size}},
    {"cluster", "peak_flops_fp16", FIELD(cluster.peak_flops_fp16), "FLOP/s of a device", {0, any_size}},
    {"cluster", "memory_bytes", FIELD(cluster.memory_bytes), "memory of a device, bytes", {0, any_size}},
    {"cluster", "memory_bandwidth", FIELD(cluster.memory_bandwidth), "bytes/s of a device", {0, any_size}},
    {"cluster", "op_overhead_s", FIELD(cluster.op_overhead_s), "seconds to launch a kernel", {0, any_size}},
    {"cluster", "devices_per_node", FIELD(cluster.devices_per_node), "devices per node", {1, any_int}},
    {"cluster", "intra_latency_s", FIELD(cluster.intra_latency_s), "latency within a node, seconds", {0, any_size}},
    {"cluster", "intra_bandwidth", FIELD(cluster.intra_bandwidth), "bytes/s within a node", {0, any_size}},
    {"cluster", "inter_latency_s", FIELD(cluster.inter_latency_s), "latency between nodes, seconds", {0, any_size}},
    {"cluster", "inter_bandwidth", FIELD(cluster.inter_bandwidth), "bytes/s between nodes", {0, any_size}},

    {"cluster",
     "multiprocessors",
     FIELD(cluster.multiprocessors),
     "processors that share the tiles of a product; 0: roofline",
     {0, any_int},
     true},
    {"cluster", "tile_rows", FIELD(cluster.tile_rows), "rows of a product's tile", {1, 65536}, true},
    {"cluster", "tile_columns", FIELD(cluster.tile_columns), "columns of a product's tile", {1, 65536}, true},
    {"cluster", "product_efficiency", FIELD(cluster.product_efficiency), "share of the peak that matrix products reach",
     above(0, 1), true},
    {"cluster", "memory_efficiency", FIELD(cluster.memory_efficiency),
     "share of the memory bandwidth that kernels reach", above(0, 1), true},
    {"cluster",
     "cache_bandwidth",
     FIELD(cluster.cache_bandwidth),
     "bytes/s of the shared cache; 0: infinite",
     {0, any_size},
     true},
    {"cluster", "flash_share", FIELD(cluster.flash_share), "share of the peak that flash attention approaches",
     above(0, 1), true},
    {"cluster", "power_watts", FIELD(cluster.power_watts), "power of a busy device; 0: unknown", {0, any_size}, true},
    {"cluster",
     "idle_watts",
     FIELD(cluster.idle_watts),
     "power of a waiting device; 0: as a busy one",
     {0, any_size},
     true},
    {"cluster",
     "context_bytes",
     FIELD(cluster.context_bytes),
     "device memory used by driver and libraries",
     {0, any_size},
     true},
    {"cluster",
     "allocator_slack",
     FIELD(cluster.allocator_slack),
     "share of memory lost in the allocator",
     {0, 10},
     true},
    {"cluster",
     "host_bandwidth",
     FIELD(cluster.host_bandwidth),
     "bytes/s between device and host",
     {0, any_size},
     true},
    {"cluster", "host_memory_bytes", FIELD(cluster.host_memory_bytes), "host memory per device", {0, any_size}, true},
    {"cluster",
     "host_memory_bandwidth",
     FIELD(cluster.host_memory_bandwidth),
     "bytes/s of host memory per device",
     {0, any_size},
     true},
    {"cluster", "nodes", FIELD(cluster.nodes), "nodes in the cluster; 0: unlimited", {0, any_int}, true},
    {"cluster", "devices_per_card", FIELD(cluster.devices_per_card), "devices per card", {1, any_int}, true},
    {"cluster", "card_latency_s", FIELD(cluster.card_latency_s), "latency within a card, seconds", {0, any_size}, true},
    {"cluster", "card_bandwidth", FIELD(cluster.card_bandwidth), "bytes/s within a card", {0, any_size}, true},
    {"cluster", "rails", FIELD(cluster.rails), "network ports per node; 0: one per device", {0, any_int}, true},
    {"cluster",
     "ring_ports",
     FIELD(cluster.ring_ports),
     "ports of a node that one group uses; 0: all",
     {0, any_int},
     true},
    {"cluster",
     "nodes_per_switch",
     FIELD(cluster.nodes_per_switch),
     "nodes per leaf switch; 0: all",
     {0, any_int},
     true},
    {"cluster", "oversubscription", FIELD(cluster.oversubscription),
     "of a leaf: bandwidth of its nodes / of its uplinks", above(0, any_size), true},
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
     "share of the bandwidth with shorter hops; 0: none",
     {0, 1},
     true},
    {"cluster",
     "quick_intra_latency_s",
     FIELD(cluster.quick_intra_latency_s),
     "latency of such a hop within a node, seconds",
     {0, any_size},
     true},
    {"cluster",
     "quick_inter_latency_s",
     FIELD(cluster.quick_inter_latency_s),
     "latency of such a hop between nodes, seconds",
     {0, any_size},
     true},
    {"cluster",
     "collective_latency_s",
     FIELD(cluster.collective_latency_s),
     "fixed time of a collective besides its hops, seconds",
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
     "lost, with the replicas that had ranks on it; -1 is none",
     {-1, any_int},
     true},
    {"cluster", "slow_node", FIELD(cluster.slow_node), "whose network ports are slow; -1 is none", {-1, any_int}, true},
    {"cluster",
     "slow_node_factor",
     FIELD(cluster.slow_node_factor),
     "its ports are this many times slower",
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
     "time that a checkpoint stops training",
     {0, any_size},
     true},
    {"cluster",
     "restart_seconds",
     FIELD(cluster.restart_seconds),
     "time from a failure until training continues",
     {0, any_size},
     true},
    {"cluster", "measured", FIELD(cluster.measured), "a file in the folder measured, without .toml", {}, true},

    {"software", "attention", FIELD(cluster.software.attention), "flash, or stored: scores go through memory"},
    {"software", "fused", FIELD(cluster.software.fused), "an update and the loss are one kernel each"},
    {"software", "overlap", FIELD(cluster.software.overlap), "messages and reductions overlap with compute"},
    {"software", "split_transfers", FIELD(cluster.software.split_transfers),
     "each tensor rank sends a share to the next stage"},
    {"software",
     "reduced_bytes",
     FIELD(cluster.software.reduced_bytes),
     "bytes per gradient element when reduced; 0: as its type",
     {0, 8}},
    {"software",
     "sent_bytes",
     FIELD(cluster.software.sent_bytes),
     "bytes per gradient element when sent; 0: as summed",
     {0, 8}},
    {"software", "overlap_exchanges", FIELD(cluster.software.overlap_exchanges),
     "tensor all-reduces in backward overlap with products"},
    {"software", "recompute_whole", FIELD(cluster.software.recompute_whole), "recompute blocks up to their end"},
    {"software", "accumulation", FIELD(cluster.software.accumulation),
     "how gradients are summed: fused, added, copied or flat"},
    {"software", "host_gradients", FIELD(cluster.software.host_gradients),
     "with offload, sent as soon as they are ready"},
    {"software", "host_checkpoints", FIELD(cluster.software.host_checkpoints),
     "inputs of recomputed blocks are in host memory"},
    {"software", "split_checkpoints", FIELD(cluster.software.split_checkpoints),
     "inputs of recomputed blocks are split over tensor ranks"},
    {"software", "serial_messages", FIELD(cluster.software.serial_messages), "a stage's messages block both ends"},
    {"software", "reduce_whole", FIELD(cluster.software.reduce_whole), "with ZeRO-1 gradients are all-reduced"},
    {"software", "gather_ahead", FIELD(cluster.software.gather_ahead),
     "updated parameters are gathered during the next forward"},
    {"software", "score_bias", FIELD(cluster.software.score_bias), "a bias is copied to stored scores (ALiBi)"},
    {"software", "embedding_norm", FIELD(cluster.software.embedding_norm), "a layer norm after the embedding"},
    {"software", "persistent_norm", FIELD(cluster.software.persistent_norm), "layer norms read their rows once"},
    {"software", "separate_kernels", FIELD(cluster.software.separate_kernels),
     "biases, masks and sums are separate kernels"},
    {"software", "wide_scores", FIELD(cluster.software.wide_scores), "separate scale, mask and softmax are in fp32"},
    {"software", "split_qkv", FIELD(cluster.software.split_qkv), "gradients of q, k and v are joined by a copy"},
    {"software",
     "loss_metrics",
     FIELD(cluster.software.loss_metrics),
     "extra computations of the loss for display",
     {0, 100}},
    {"software",
     "update_bytes",
     FIELD(cluster.software.update_bytes),
     "bytes per parameter moved in an update; 0: by fused",
     {0, 10000}},

    {"fault", "kill_rank", FIELD(fault.kill_rank), "rank that dies; -1 is none", {-1, any_int}},
    {"fault", "kill_step", FIELD(fault.kill_step), "step at whose start it dies", {-1, any_int}},
    {"fault", "slow_rank", FIELD(fault.slow_rank), "slow rank; -1 is none", {-1, any_int}},
    {"fault", "slow_factor", FIELD(fault.slow_factor), "factor on the compute time of the slow rank", above(0, 1e6)},
    {"fault", "plant", FIELD(fault.plant), "an error in the program that verify must find"},
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
    if (key.name == name && (key.table == table || (key.table == software_table && table == cluster_table)))
      return &key;
  return nullptr;
}

std::string nearest(std::string_view given_word, const std::vector<std::string>& known) {
  // Known words are in small letters.
  std::string word(given_word);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string best;
  std::size_t fewest = word.size() / 3 + 2;  // more edits than that and it is another word
  for (const std::string& candidate : known) {
    // A prefix of a known word is taken for that word: "micro" for "micro_batches".
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
