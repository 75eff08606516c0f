// The vocabulary of a training step: what an op does, on which lane, over which group of ranks, and why it
// communicates. A switch over any of these is written without a default, so that a new kind is a compile error wherever
// it is not handled.
#pragma once
#include <cstdint>
#include <string_view>

namespace rankscope {

enum class OpKind : std::uint8_t {
  forward,
  backward,         ///< input and weight gradient together
  input_gradient,   ///< the half of a split backward that the previous stage waits for
  weight_gradient,  ///< the half that only the optimizer waits for
  recompute,        ///< a forward repeated because its activations were not stored
  send,
  receive,
  broadcast,
  scatter,
  reduce,
  all_reduce,
  gather,
  all_gather,
  reduce_scatter,
  all_to_all,
  copy,  ///< between host and device
  optimizer,
  load_batch,
  checkpoint,
  check,    ///< compares the result of a single collective with its definition
  compute,  ///< a computation whose part of the step is unknown: of imported runs only
};
inline constexpr int op_kind_count = 21;

/// Ops of one lane run in order; ops of different lanes only by dependency. A lane is a thread on the CPU and a stream
/// on a GPU, and each communication lane has its own communicators: with a single in-order communication lane 1F1B
/// deadlocks under rendezvous.
enum class Lane : std::uint8_t {
  compute,
  copy,
  tensor,
  data,
  zero_gather,
  zero_reduce,
  forward_send,
  forward_receive,
  backward_send,
  backward_receive,
  checkpoint,  ///< writes its operands while training continues, until the update that would change them
  server,      ///< gradients pushed to parameter servers, the servers' work on them, and parameters pulled
  host,        ///< the host's part of a step: updates whose states are in host memory
};
inline constexpr int lane_count = 13;

/// Lanes of imported runs are numbers from first_observed_lane on, which tell only what is done there: streams that
/// compute, then communication, then the host's threads. Their names are in the rank's StepFacts (engine/step).
inline constexpr int first_observed_lane = 16, observed_compute_lanes = 24, observed_communication_lanes = 24,
                     observed_host_lanes = 16;
/// The size of tables by lane that hold any run.
inline constexpr int lane_slots =
    first_observed_lane + observed_compute_lanes + observed_communication_lanes + observed_host_lanes;
enum class LaneUse : std::uint8_t { compute, communication, host };
/// The n-th observed lane of that use.
constexpr Lane observed_lane(LaneUse use, int n) {
  const int skipped = use == LaneUse::compute         ? 0
                      : use == LaneUse::communication ? observed_compute_lanes
                                                      : observed_compute_lanes + observed_communication_lanes;
  return static_cast<Lane>(first_observed_lane + skipped + n);
}
constexpr bool is_observed(Lane lane) { return static_cast<int>(lane) >= first_observed_lane; }

/// Why bytes move.
enum class Purpose : std::uint8_t {
  none,  ///< not a communication
  data_gradient,
  zero_parameter,
  zero_gradient,
  tensor,
  pipeline_forward,
  pipeline_backward,
  embedding,       ///< tied embedding's gradient of the first and the last stage
  norm,            ///< the global gradient norm
  loss,            ///< the statistics of all tensor ranks that a cross-entropy needs
  server,          ///< between workers and parameter servers
  data_parameter,  ///< from the main device to its replicas
  batch,           ///< samples, from the main device to its replicas
  offload,         ///< between a device and its host
  alone,           ///< a single collective (model.kind = "collective") and its input
  replica_loss,    ///< from the replicas to the main device
};
inline constexpr int purpose_count = 16;

/// The longest run of kernels without a communication, recomputation or input/weight-gradient boundary inside. Tensor
/// ranks communicate more often, so theirs are finer: the same name is then the rest of a segment (engine/plan/model).
enum class Segment : std::uint8_t {
  whole,       ///< everything the chunk does: the folded op of a schedule or a picture
  embedding,   ///< token and position embedding
  qkv,         ///< layer norm and the query, key and value product
  attention,   ///< the attention core
  projection,  ///< attention's output product and the residual sum
  up,          ///< layer norm, the MLP's first product and GELU
  down,        ///< the MLP's second product and the residual sum
  head,        ///< last layer norm, the product with the vocabulary and the cross-entropy
  norm,        ///< of an optimizer op: the sum of the squared gradients; of a copy: this sum
  update,      ///< of an optimizer op: the parameters' update; of a copy: the results of the host's update
  accumulate,  ///< of an optimizer op: a micro-batch's reduced gradients are added to the shard (ZeRO)
  loss_scale,  ///< of an optimizer op: the loss scale is halved after an overflow, or doubled after many steps without
  // Of tensor ranks.
  positions,       ///< positions added to the summed embedding
  attention_norm,  ///< layer norm before attention
  mlp_norm,        ///< attention's residual sum and the layer norm before the MLP
  output,          ///< the MLP's residual sum
  final_norm,      ///< last layer norm
  loss,            ///< cross-entropy from the statistics of all ranks
  // Of residual networks (engine/plan/model/resnet_rows.hpp).
  stem,          ///< the first convolution
  pool,          ///< its batch norm, ReLU and max pooling
  conv1,         ///< a block's convolution to fewer channels, and the one of its shortcut
  conv2,         ///< batch norm, ReLU and the block's 3 × 3 convolution
  conv3,         ///< batch norm, ReLU and the convolution back to many channels
  shortcut_sum,  ///< batch norm, the sum with the block's input, ReLU
  classifier,    ///< mean over the pixels, the product with the classes and the cross-entropy
  stash,         ///< of an optimizer op: weights that a pending backward needs are copied before an update changes them
  // 31 marks ids of imported runs, which have no segments (ObservedOp in op_id.hpp).
};
inline constexpr int segment_count = 26;

/// Which slice of the rank grid a collective spans.
enum class GroupKind : std::uint8_t {
  self,
  tensor,
  data,
  pipeline,
  embedding,  ///< first and last pipeline stage of one tensor and data coordinate
  model,      ///< tensor × pipeline: all that hold one replica
  world,
  server,  ///< the parameter servers
};
inline constexpr int group_kind_count = 8;

std::string_view name_of(OpKind kind);
std::string_view name_of(Lane lane);
std::string_view name_of(Purpose purpose);
std::string_view name_of(Segment segment);
std::string_view name_of(GroupKind group);

/// True for the eight collectives.
constexpr bool is_collective(OpKind kind) { return kind >= OpKind::broadcast && kind <= OpKind::all_to_all; }
/// Of the collectives, those in which one member sends or collects: broadcast, scatter, reduce and gather.
constexpr bool has_root(OpKind kind) {
  return kind == OpKind::broadcast || kind == OpKind::scatter || kind == OpKind::reduce || kind == OpKind::gather;
}
/// Those of a tensor of n equal parts, one per member; broadcast, reduce and all_reduce are of one undivided tensor.
constexpr bool has_parts(OpKind kind) {
  return is_collective(kind) && kind != OpKind::broadcast && kind != OpKind::reduce && kind != OpKind::all_reduce;
}
/// Those in which a member contributes its part of the tensor: gather and all_gather.
constexpr bool gathers_parts(OpKind kind) { return kind == OpKind::gather || kind == OpKind::all_gather; }
/// Those in which a member receives its part of the tensor: scatter and reduce_scatter.
constexpr bool hands_out_parts(OpKind kind) { return kind == OpKind::scatter || kind == OpKind::reduce_scatter; }
/// Those that sum the data of all members: reduce, all_reduce and reduce_scatter.
constexpr bool is_sum(OpKind kind) {
  return kind == OpKind::reduce || kind == OpKind::all_reduce || kind == OpKind::reduce_scatter;
}
/// True for send, receive and the eight collectives.
bool is_communication(OpKind kind);
/// False for a purpose that ops of that kind cannot have: each communication has one, a copy or an optimizer op may
/// have one, other kinds have none.
bool may_have(OpKind kind, Purpose purpose);
/// True for ops that move bytes from one memory to another: a communication between ranks, or a copy between host and
/// device.
bool moves_bytes(OpKind kind);
/// True for a lane of the model's computations.
bool is_compute(Lane lane);
/// True for a lane whose ops the host runs, on its own memory.
bool is_on_host(Lane lane);
/// True for ops that only check a single collective: on the device clock, where a step is just the collective,
/// they take no time.
constexpr bool is_untimed(OpKind kind, Purpose purpose) {
  return kind == OpKind::check || (kind == OpKind::load_batch && purpose == Purpose::alone);
}
/// True for ops that a device computes for the model: forward, backward and its halves, recompute.
bool is_model_compute(OpKind kind);

/// The lane that runs an op: a function of its identity, so any rank gets it without building a program.
Lane lane_of(OpKind kind, Purpose purpose);

}  // namespace rankscope
