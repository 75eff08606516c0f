#include "engine/op/kind.hpp"

namespace rankscope {

std::string_view name_of(OpKind kind) {
  switch (kind) {
    case OpKind::forward: return "forward";
    case OpKind::backward: return "backward";
    case OpKind::input_gradient: return "input_gradient";
    case OpKind::weight_gradient: return "weight_gradient";
    case OpKind::recompute: return "recompute";
    case OpKind::send: return "send";
    case OpKind::receive: return "receive";
    case OpKind::broadcast: return "broadcast";
    case OpKind::scatter: return "scatter";
    case OpKind::reduce: return "reduce";
    case OpKind::all_reduce: return "all_reduce";
    case OpKind::gather: return "gather";
    case OpKind::all_gather: return "all_gather";
    case OpKind::reduce_scatter: return "reduce_scatter";
    case OpKind::all_to_all: return "all_to_all";
    case OpKind::copy: return "copy";
    case OpKind::optimizer: return "optimizer";
    case OpKind::load_batch: return "load_batch";
    case OpKind::checkpoint: return "checkpoint";
    case OpKind::check: return "check";
  }
  return "?";
}

std::string_view name_of(Lane lane) {
  switch (lane) {
    case Lane::compute: return "compute";
    case Lane::copy: return "copy";
    case Lane::tensor: return "tensor";
    case Lane::data: return "data";
    case Lane::zero_gather: return "zero_gather";
    case Lane::zero_reduce: return "zero_reduce";
    case Lane::forward_send: return "forward_send";
    case Lane::forward_receive: return "forward_receive";
    case Lane::backward_send: return "backward_send";
    case Lane::backward_receive: return "backward_receive";
    case Lane::checkpoint: return "checkpoint";
    case Lane::server: return "server";
    case Lane::host: return "host";
  }
  return "?";
}

std::string_view name_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::none: return "none";
    case Purpose::data_gradient: return "data_gradient";
    case Purpose::zero_parameter: return "zero_parameter";
    case Purpose::zero_gradient: return "zero_gradient";
    case Purpose::tensor: return "tensor";
    case Purpose::pipeline_forward: return "pipeline_forward";
    case Purpose::pipeline_backward: return "pipeline_backward";
    case Purpose::embedding: return "embedding";
    case Purpose::norm: return "norm";
    case Purpose::loss: return "loss";
    case Purpose::server: return "server";
    case Purpose::data_parameter: return "data_parameter";
    case Purpose::batch: return "batch";
    case Purpose::offload: return "offload";
    case Purpose::alone: return "alone";
    case Purpose::replica_loss: return "replica_loss";
  }
  return "?";
}

std::string_view name_of(Segment segment) {
  switch (segment) {
    case Segment::whole: return "whole";
    case Segment::embedding: return "embedding";
    case Segment::qkv: return "qkv";
    case Segment::attention: return "attention";
    case Segment::projection: return "projection";
    case Segment::up: return "up";
    case Segment::down: return "down";
    case Segment::head: return "head";
    case Segment::norm: return "norm";
    case Segment::update: return "update";
    case Segment::accumulate: return "accumulate";
    case Segment::loss_scale: return "loss_scale";
    case Segment::positions: return "positions";
    case Segment::attention_norm: return "attention_norm";
    case Segment::mlp_norm: return "mlp_norm";
    case Segment::output: return "output";
    case Segment::final_norm: return "final_norm";
    case Segment::loss: return "loss";
    case Segment::stem: return "stem";
    case Segment::pool: return "pool";
    case Segment::conv1: return "conv1";
    case Segment::conv2: return "conv2";
    case Segment::conv3: return "conv3";
    case Segment::shortcut_sum: return "shortcut_sum";
    case Segment::classifier: return "classifier";
    case Segment::stash: return "stash";
  }
  return "?";
}

std::string_view name_of(GroupKind group) {
  switch (group) {
    case GroupKind::self: return "self";
    case GroupKind::tensor: return "tensor";
    case GroupKind::data: return "data";
    case GroupKind::pipeline: return "pipeline";
    case GroupKind::embedding: return "embedding";
    case GroupKind::model: return "model";
    case GroupKind::world: return "world";
    case GroupKind::server: return "server";
  }
  return "?";
}

bool is_communication(OpKind kind) { return kind == OpKind::send || kind == OpKind::receive || is_collective(kind); }

bool moves_bytes(OpKind kind) { return is_communication(kind) || kind == OpKind::copy; }

bool is_on_host(Lane lane) { return lane == Lane::host; }

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
    // Its input is produced on the compute lane, as a model would; before the check the compute lane waits for it.
    case Purpose::alone: return is_collective(kind) ? Lane::data : Lane::compute;
  }
  return Lane::compute;
}

}  // namespace rankscope
