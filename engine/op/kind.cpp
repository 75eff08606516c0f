#include "engine/op/kind.hpp"

#include "engine/op/word_list.hpp"

namespace rankscope {

constexpr auto op_kind_names =
    word_list("forward", "backward", "input_gradient", "weight_gradient", "recompute", "send", "receive", "broadcast",
              "scatter", "reduce", "all_reduce", "gather", "all_gather", "reduce_scatter", "all_to_all", "copy",
              "optimizer", "load_batch", "checkpoint", "check", "compute");
static_assert(op_kind_names.size() == op_kind_count);
std::string_view name_of(OpKind kind) { return word_at(op_kind_names, kind); }

constexpr auto lane_names =
    word_list("compute", "copy", "tensor", "data", "zero_gather", "zero_reduce", "forward_send", "forward_receive",
              "backward_send", "backward_receive", "checkpoint", "server", "host");
static_assert(lane_names.size() == lane_count);
std::string_view name_of(Lane lane) { return word_at(lane_names, lane); }

constexpr auto purpose_names = word_list("none", "data_gradient", "zero_parameter", "zero_gradient", "tensor",
                                         "pipeline_forward", "pipeline_backward", "embedding", "norm", "loss", "server",
                                         "data_parameter", "batch", "offload", "alone", "replica_loss");
static_assert(purpose_names.size() == purpose_count);
std::string_view name_of(Purpose purpose) { return word_at(purpose_names, purpose); }

constexpr auto segment_names =
    word_list("whole", "embedding", "qkv", "attention", "projection", "up", "down", "head", "norm", "update",
              "accumulate", "loss_scale", "positions", "attention_norm", "mlp_norm", "output", "final_norm", "loss",
              "stem", "pool", "conv1", "conv2", "conv3", "shortcut_sum", "classifier", "stash");
static_assert(segment_names.size() == segment_count);
std::string_view name_of(Segment segment) { return word_at(segment_names, segment); }

constexpr auto group_kind_names =
    word_list("self", "tensor", "data", "pipeline", "embedding", "model", "world", "server");
static_assert(group_kind_names.size() == group_kind_count);
std::string_view name_of(GroupKind group) { return word_at(group_kind_names, group); }

bool is_communication(OpKind kind) { return kind == OpKind::send || kind == OpKind::receive || is_collective(kind); }

bool moves_bytes(OpKind kind) { return is_communication(kind) || kind == OpKind::copy; }

bool is_compute(Lane lane) {
  return lane == Lane::compute || (is_observed(lane) && lane < observed_lane(LaneUse::communication, 0));
}

bool is_on_host(Lane lane) { return lane == Lane::host || lane >= observed_lane(LaneUse::host, 0); }

bool may_have(OpKind kind, Purpose purpose) {
  if (is_communication(kind)) return purpose != Purpose::none && purpose != Purpose::offload;
  if (kind == OpKind::optimizer)
    return purpose == Purpose::none || purpose == Purpose::server || purpose == Purpose::offload;
  return purpose == Purpose::none || (kind == OpKind::copy && purpose == Purpose::offload) ||
         (kind == OpKind::load_batch && purpose == Purpose::alone);
}

bool is_model_compute(OpKind kind) { return kind <= OpKind::recompute; }

Lane lane_of(OpKind kind, Purpose purpose) {
  switch (purpose) {
    case Purpose::none:
      if (kind == OpKind::checkpoint) return Lane::checkpoint;
      return kind == OpKind::copy || kind == OpKind::load_batch ? Lane::copy : Lane::compute;
    case Purpose::pipeline_forward: return kind == OpKind::send ? Lane::forward_send : Lane::forward_receive;
    case Purpose::pipeline_backward: return kind == OpKind::send ? Lane::backward_send : Lane::backward_receive;
    case Purpose::tensor:
    case Purpose::loss: return Lane::tensor;
    case Purpose::zero_parameter: return Lane::zero_gather;
    case Purpose::zero_gradient: return Lane::zero_reduce;
    case Purpose::data_gradient:
    case Purpose::embedding:
    case Purpose::norm:
    case Purpose::data_parameter:
    case Purpose::batch:
    case Purpose::replica_loss: return Lane::data;
    case Purpose::server: return Lane::server;
    case Purpose::offload: return kind == OpKind::copy ? Lane::copy : Lane::host;
    // Its input is produced on the compute lane, as in a model; before the check the compute lane waits for it.
    case Purpose::alone: return is_collective(kind) ? Lane::data : Lane::compute;
  }
  return Lane::compute;
}

}  // namespace rankscope
