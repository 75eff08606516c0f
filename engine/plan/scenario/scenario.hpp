// The scenario file as a value. It is read by read.hpp; every field has the name of its key.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/op/kind.hpp"
#include "engine/plan/mesh/rank_grid.hpp"
#include "engine/plan/optimizer_rule/hyper_parameters.hpp"
#include "engine/plan/scenario/choices.hpp"
#include "kernels/tensor/type.hpp"

namespace rankscope {

struct ModelSpec {
  Choice<ModelKind> kind = ModelKind::gpt;  ///< a resnet has bottleneck blocks (engine/plan/model/resnet_rows.hpp)
  int layers = 8;                           ///< blocks; of a ResNet-50 16
  int width = 128;                          ///< of a resnet the channels of the first convolution
  // Of a gpt, and of a llama, which has no dropout.
  int heads = 4;
  int context = 64;  ///< tokens per sample
  int vocabulary = 256;
  bool tied = true;      ///< the head uses the token embedding's matrix
  double dropout = 0.0;  ///< probability, on embeddings and on both residual branches
  // Of a llama.
  int key_value_heads = 0;     ///< heads of keys and values (grouped queries); 0: as many as `heads`
  int inner = 0;               ///< width of the gated MLP; 0: 8/3 of `width`, rounded up to a multiple of 64
  double rope_theta = 10000;   ///< base of the rotary positions' frequencies
  double norm_epsilon = 1e-5;  ///< of its RMS norms
  // Of a resnet.
  int image = 64;    ///< pixels of a side; a sample is one image of three colours
  int classes = 10;  ///< number of image classes
  // Of a single collective: no model, but one collective per step, on plan.data ranks by plan.collective.
  Choice<Operation> operation = Operation::all_reduce;
  /// Of the complete tensor: a broadcast or a reduction keeps it undivided, the others cut it into one part per rank.
  /// Rounded up to whole elements, and to equal parts if there are parts.
  double bytes = 1 << 20;
  int root = 0;  ///< of a broadcast, scatter, reduce or gather
  int heads_of_keys() const { return key_value_heads > 0 ? key_value_heads : heads; }
  int mlp_width() const { return inner > 0 ? inner : (8 * width / 3 + 63) / 64 * 64; }
  bool is_resnet() const { return kind == ModelKind::resnet; }
  bool is_collective() const { return kind == ModelKind::collective; }
  OpKind operation_kind() const {
    return static_cast<OpKind>(static_cast<int>(OpKind::broadcast) + static_cast<int>(Operation(operation)));
  }
  /// Number of predictions in a sample, over which a loss is the mean: a transformer's next tokens, or an image's
  /// class.
  int tokens_per_sample() const { return is_collective() ? 0 : is_resnet() ? 1 : context; }
  /// The name of one of these.
  std::string token_word() const { return is_resnet() ? "image" : "token"; }
  /// The parts before the blocks, and after them.
  std::string front_word() const { return is_resnet() ? "stem" : "embedding"; }
  std::string end_word() const { return is_resnet() ? "classifier" : "head"; }
  bool operator==(const ModelSpec&) const = default;
};

struct DataSpec {
  std::string source = "synthetic";  ///< "synthetic", "text:FILE" (bytes are tokens) or "tokens:FILE"
  int token_bytes = 2;               ///< of one token in "tokens:FILE": 2 or 4
  std::uint64_t seed = 1;
  bool operator==(const DataSpec&) const = default;
};

struct PlanSpec {
  int data = 1;
  int tensor = 1;
  int pipeline = 1;
  int virtual_stages = 1;  ///< key `virtual`: chunks per rank
  Choice<ScheduleKind> schedule = ScheduleKind::one_f_one_b;
  std::string order;  ///< of schedule "by-hand": a line for each stage, such as "stage 0: F:c0:m0 B:c0:m0"
  /// Layers of each chunk: "even", "cost" (by FLOPs), a list such as "3 2 2 1", or "measured", which becomes a list
  /// before anything is compiled (engine/prove/calibrate/measured_stages.hpp).
  std::string stages = "even";
  /// Of schedule "zb-2p": relative times of a stage's forward, input gradient, weight gradient and message, and the
  /// share of its activations that a weight gradient still needs (PassTimes of engine/plan/schedule).
  std::string pass_times = "1 1 1 0 1";
  /// Of schedule "1f1b-async": weights are kept until the backward of every micro-batch whose forward used them.
  bool weight_stashing = false;
  int micro_batches = 1;  ///< per data-parallel rank and step
  /// Samples of one, instead of their number: reading makes the number of it, and 0 again.
  int micro_batch_size = 0;
  /// Where the data group's gradients are summed and its parameters updated: "all-reduce" (on every rank),
  /// "main-device" (on its first rank, which sends out samples and parameters), "parameter-server" (on separate
  /// ranks).
  Choice<DataParallel> data_parallel = DataParallel::all_reduce;
  int servers = 1;    ///< of "parameter-server": each has an equal part of the parameters
  int staleness = 0;  ///< of "parameter-server": steps whose updates a worker's parameters may lack; 0: synchronous
  int zero = 0;
  Choice<Offload> offload =
      Offload::none;  ///< data in host memory: "none", or "optimizer" (its states; the host updates)
  Choice<Recompute> recompute = Recompute::none;
  int recompute_blocks = 1;  ///< of recompute "blocks": the input of every n-th block of a chunk is kept
  bool sequence_parallel = false;
  Choice<Precision> precision = Precision::fp32;
  Choice<LogitsType> logits = LogitsType::wide;  ///< of a GPT in 16 bits; the loss is computed in fp32 from either
  double bucket_mib = 25.0;                      ///< data-parallel gradient buckets; the first one is at most 1 MiB
  Choice<CollectiveChoice> collective =
      CollectiveChoice::automatic;  ///< "auto" (the communicator's own) or one of engine/plan/collective
  bool has_main_device() const { return data_parallel == DataParallel::main_device; }
  bool has_servers() const { return data_parallel == DataParallel::parameter_server; }
  /// A stage updates after the backward of each micro-batch, which is a separate mini-batch; else once a step.
  bool updates_each_micro_batch() const { return schedule == ScheduleKind::one_f_one_b_async; }
  int updates_a_step() const { return updates_each_micro_batch() ? micro_batches : 1; }
  /// Stages run forward with weights that lack updates which a single rank would already have made.
  bool has_stale_weights() const { return updates_a_step() > 1 && pipeline > 1; }
  RankGrid grid() const { return {tensor, data, pipeline, has_servers() ? servers : 0}; }
  int ranks() const { return grid().size(); }
  int chunks() const { return pipeline * virtual_stages; }
  bool operator==(const PlanSpec&) const = default;
};

/// The layers of each chunk where plan.stages is a list of numbers, none negative; nullopt if it is no list.
std::optional<std::vector<int>> listed_layers(const std::string& stages);
/// The five numbers of plan.pass_times; nullopt if there are not five, or out of range: all positive but the
/// message, which may be 0, and the share at most 1.
std::optional<std::array<double, 5>> listed_times(const std::string& pass_times);

struct TrainSpec {
  int global_batch = 8;  ///< samples per step over all data-parallel ranks
  int steps = 20;
  std::string optimizer = "adamw";  ///< one of engine/plan/optimizer_rule
  double learning_rate =
      3e-4;  ///< the greatest: after the warm-up, before the decay (engine/execute/optimizer/learning_rate)
  int warmup_steps = 0;
  Choice<Decay> decay = Decay::none;
  double min_learning_rate = 0;  ///< where the decay ends
  int decay_steps = 0;           ///< the step at which it ends, counted from the first; 0: `steps`
  HyperParameters hyper;         ///< the given values of the optimizer's own; its rule has the defaults
  int checkpoint_every = 0;      ///< steps from one checkpoint to the next; 0: none
  double clip = 0.0;             ///< greatest global gradient norm; 0 is off
  double loss_scale = 65536;     ///< fp16: what losses are multiplied by at first (PyTorch's GradScaler)
  int loss_scale_window = 2000;  ///< fp16: steps without an overflow after which it is doubled
  int magnitudes_every = 0;      ///< steps from one count of the gradients' magnitudes to the next; 0: never
  std::uint64_t seed = 1234;
  bool counts_magnitudes(std::uint32_t step) const {
    return magnitudes_every > 0 && step % static_cast<std::uint32_t>(magnitudes_every) == 0;
  }
  bool operator==(const TrainSpec&) const = default;
};

/// The measured time of an op on a device: a row of scenarios/measured/NAME.toml (measured.hpp).
struct MeasuredCost {
  std::string op;               ///< kind and segment: "forward qkv", "optimizer update"
  std::string precision;        ///< the plan's
  double flops = 0, bytes = 0;  ///< of the op, as the model counts them
  double seconds = 0;           ///< mean time of one run
  /// SegmentSpec::walked_bytes; older files, from before it was counted, have only 0.
  double walked_bytes = 0;
  bool operator==(const MeasuredCost&) const = default;
};

/// The software on a cluster if it is not this engine: the table [software] of its file, or of a scenario. The default
/// is this engine with NCCL.
struct SoftwareSpec {
  Choice<AttentionKernel> attention = AttentionKernel::flash;  ///< stored: all scores go through memory
  Choice<Collectives> collectives = Collectives::library;      ///< who moves the bytes of a collective
  bool fused = true;               ///< updates and the loss are one kernel each; else several passes over memory
  bool overlap = true;             ///< messages between stages and gradients' reductions run during compute
  bool split_transfers = false;    ///< tensor ranks each send a share to the next stage, which gathers them
  int reduced_bytes = 0;           ///< of a gradient's element of a 16-bit parameter as it is reduced; 0: its type's
  int sent_bytes = 0;              ///< of it as it is sent, with casts before and after; 0: as it is summed
  bool overlap_exchanges = false;  ///< tensor ranks' exchanges of input gradients run during weights' gradients
  bool recompute_whole = false;    ///< blocks are recomputed to their end, with their last product
  /// How a weight's gradient joins the sum over micro-batches: "fused" into its product, "added" by a kernel that reads
  /// both, or "copied": cast to a copy of the sum's type that is then added (DeepSpeed's bf16 optimizer); or "flat": it
  /// joins no sum but is copied to its place in the gradient of a flat parameter, which is reduced (PyTorch's FSDP).
  Choice<Accumulation> accumulation = Accumulation::fused;
  /// With plan.offload: each micro-batch's gradients are copied to the host at once and are fetched again to
  /// be added to, and the step ends when the updated parameters are back (DeepSpeed's ZeRO-Offload).
  bool host_gradients = false;
  bool host_checkpoints = false;  ///< inputs of recomputed blocks are in the host's memory
  /// Inputs of recomputed blocks are divided over tensor ranks, and gathered for that (Megatron-LM's
  /// distributed checkpointed activations, DeepSpeed's partition_activations).
  bool split_checkpoints = false;
  bool serial_messages = false;   ///< a stage's messages are sent one after the other, each blocks both its ends
  bool reduce_whole = false;      ///< also with ZeRO-1, gradients are all-reduced, not reduce-scattered
  bool gather_ahead = false;      ///< ZeRO-1's and 2's updated parameters are gathered during the next step's forwards
  bool score_bias = false;        ///< stored attention: a bias is copied to the scores first (ALiBi)
  bool embedding_norm = false;    ///< a layer norm after the embedding
  bool persistent_norm = true;    ///< layer norms keep a row while they process it; else they read it again
  bool separate_kernels = false;  ///< biases, masks, scales, dropout and sums are a kernel each
  bool wide_scores = false;       ///< with these, stored scores are cast to fp32 for scale, mask and softmax, and back
  bool split_qkv = false;         ///< queries, keys and values have separate gradients, which are then joined
  int loss_metrics = 0;           ///< how often the loss is computed again from the logits, for display
  double update_bytes = 0;        ///< of a parameter, memory traffic of an update with norm and clipping; 0: by `fused`
  bool operator==(const SoftwareSpec&) const = default;
};

/// A machine's figures, from a cluster file or from the scenario itself. Those of the second half are optional: a
/// machine without them has devices with a roofline, and one network port for each.
struct ClusterSpec {
  std::string spec = "laptop";  ///< a name, as of scenarios/clusters/NAME.toml, or a file's path; empty: described here
  double peak_flops_fp64 = 0, peak_flops_fp32 = 0, peak_flops_bf16 = 0, peak_flops_fp16 = 0;  ///< FLOP/s of one device
  double memory_bytes = 0;                                                                    ///< of one device
  double memory_bandwidth = 0;                                                                ///< bytes/s of one device
  double op_overhead_s = 0;  ///< launching one kernel, seconds
  int devices_per_node = 1;
  double intra_latency_s = 0, intra_bandwidth = 0;  ///< between two devices of a node: seconds, bytes/s each way
  double inter_latency_s = 0, inter_bandwidth = 0;  ///< of one network port, between two nodes

  // What determines how close a kernel gets to the peaks (engine/predict/cost/device.hpp).
  int multiprocessors = 0;  ///< that share the tiles of a matrix product; 0: unknown, products use the roofline
  int tile_rows = 256, tile_columns = 128;               ///< of the result, which one multiprocessor computes at a time
  double product_efficiency = 1, memory_efficiency = 1;  ///< shares of the two peaks that long kernels sustain
  double cache_bandwidth = 0;  ///< bytes/s from the shared cache to all multiprocessors; 0: infinite
  double flash_share = 0.612;  ///< of the peak: limit for attention without stored scores on long sequences
  double power_watts = 0;      ///< of one busy device; 0: unknown
  double idle_watts = 0;       ///< of one that waits; 0: as a busy one
  double context_bytes = 0;    ///< of the device's memory that the driver and libraries' handles use
  double allocator_slack = 0;  ///< an allocator's loss between its blocks, as a share of the requested bytes

  // Interruptions of a long run (engine/predict/cost/goodput.hpp).
  double failure_hours = 0;       ///< of one device's work between two failures, on average; 0: none
  double checkpoint_seconds = 0;  ///< in which nothing is trained, for each checkpoint
  double restart_seconds = 0;     ///< from a failure until training continues

  // The host's memory, for plans that use it (plan.offload).
  double host_bandwidth = 0;         ///< between a device and its host (PCIe): bytes/s each way
  double host_memory_bytes = 0;      ///< a device's share of what the host has; 0: unknown
  double host_memory_bandwidth = 0;  ///< bytes/s of the host's memory, a device's share of it

  // The network between the devices (engine/predict/network/network.hpp).
  int nodes = 0;             ///< of the machine; 0: as many as are requested
  int devices_per_card = 1;  ///< devices on one card, with their own link
  double card_latency_s = 0, card_bandwidth = 0;
  int rails = 0;                                      ///< network ports of a node; 0: one for each device
  int ring_ports = 0;                                 ///< of them that one group's collectives use; 0: all
  int nodes_per_switch = 0;                           ///< nodes below one leaf of the fat tree; 0: all
  double oversubscription = 1;                        ///< of a leaf: bandwidth of its nodes over that of its uplinks
  double intra_efficiency = 1, inter_efficiency = 1;  ///< shares of the links' rates that collectives reach
  double message_efficiency = 0;  ///< share of inter_bandwidth that messages reach; 0: as collectives
  /// A second protocol (NCCL's LL128): shorter hops at this share of the bandwidth. 0: there is none.
  double quick_share = 0, quick_intra_latency_s = 0, quick_inter_latency_s = 0;
  double collective_latency_s = 0;  ///< of a collective itself, in addition to its hops
  int slow_node = -1;               ///< one node whose network ports are slow; -1: none
  double slow_node_factor = 1;      ///< by how much
  int lost_node = -1;               ///< one failed node, with all replicas that had ranks there; -1: none
  double ring_fill = 0;             ///< time that a ring's rounds lose by filling and draining, in hops

  SoftwareSpec software;
  std::string
      stack;  ///< key `software.stack`: a file of scenarios/software with the software's other keys; empty: none

  /// Name of a file of measured ops, which replace modelled costs if they apply (engine/predict/cost/measured.hpp).
  std::string measured;
  std::vector<MeasuredCost> costs;  ///< that file's content

  double peak_flops(DType type) const;
  /// Its name for people: without the folder and the ending of a path; "own" without a file.
  std::string label() const;
  /// Watts of a device that waits for others for this share of its time.
  double average_watts(double waiting) const;
  bool operator==(const ClusterSpec&) const = default;
};

/// Deliberate faults, for lessons and tests: table `[fault]`.
struct FaultSpec {
  int kill_rank = -1, kill_step = -1;  ///< this rank dies at the start of this step
  int slow_rank = -1;
  double slow_factor = 1.0;  ///< the slow rank's compute takes this many times as long: simulated, in `sleep` runs,
                             ///< and on the device clock, where its measured costs are multiplied
  Choice<Plant> plant = Plant::none;
  bool operator==(const FaultSpec&) const = default;
};

struct Scenario {
  std::string title;
  std::string file;  ///< its source; empty if created in memory
  ModelSpec model;
  DataSpec data;
  PlanSpec plan;
  TrainSpec train;
  ClusterSpec cluster;
  FaultSpec fault;

  DType compute_type() const;
  /// Samples in one micro-batch of one data-parallel rank.
  int micro_batch_size() const { return train.global_batch / (plan.data * plan.micro_batches); }
  bool operator==(const Scenario&) const = default;
};

}  // namespace rankscope
