#include "engine/predict/fold/folded_costs.hpp"

#include <algorithm>

#include "engine/predict/cost/device.hpp"
#include "engine/predict/cost/host_copies.hpp"

namespace rankscope {

FoldedCosts::FoldedCosts(FoldedPlan& plan) : plan_(plan), chunks_(plan.chunk_seconds()) {
  seconds_.resize(chunks_.size() * 8);
  const int count = chunks();
  for (int c = 0; c < count; ++c) {
    fill(c);
    const int here = plan.stage_of(c);
    const auto to = [&](int chunk) {
      const bool leaves = chunk >= 0 && chunk < count && plan.stage_of(chunk) != here;
      return leaves ? plan.message(here, plan.stage_of(chunk)) : 0;
    };
    to_next_.push_back(to(c + 1));
    to_before_.push_back(to(c - 1));
  }
}

void FoldedCosts::fill(int chunk) {
  for (const OpKind kind : {OpKind::forward, OpKind::backward, OpKind::input_gradient, OpKind::weight_gradient})
    for (const bool is_first : {false, true})
      seconds_[slot(kind, static_cast<std::size_t>(chunk), is_first)] = parts(kind, chunk, is_first).sum();
}

PassSeconds FoldedCosts::parts(OpKind kind, int chunk, bool is_first) const {
  const ChunkSeconds& c = chunks_[chunk];
  const bool whole = kind == OpKind::backward;
  PassSeconds pass;
  double shared = 0;
  if (kind == OpKind::forward) {
    pass.compute = c.forward;
    pass.exchange = c.exchange_forward;
    shared = c.sharding.gather;
  } else if (kind == OpKind::weight_gradient) {
    pass.compute = c.weight_gradient;
    shared = c.sharding.reduce;
  } else {
    pass.compute = c.input_gradient + (whole ? c.weight_gradient : 0);
    pass.recompute = c.recompute;
    pass.exchange = c.exchange_backward + c.exchange_recompute;
    shared = c.sharding.gather + (whole ? c.sharding.reduce : 0);
  }
  // The first micro-batch writes its shard, the others add to it.
  const bool reduces = c.sharding.shard_bytes > 0 && (whole || kind == OpKind::weight_gradient);
  if (reduces) pass.adding = memory_seconds(plan_.cluster, c.sharding.shard_bytes * (is_first ? 2 : 3));
  // All exchanges of data ranks during an op share the links.
  pass.exposed = plan_.cluster.software.overlap ? std::max(0.0, shared - pass.own()) : shared;
  pass.copying = copying(kind, chunk, is_first, pass.own());
  return pass;
}

double FoldedCosts::copying(OpKind kind, int chunk, bool is_first, double own) const {
  const ClusterSpec& cluster = plan_.cluster;
  // Inputs of blocks are sent when the next block begins, which then waits for them.
  double seconds = cluster.software.host_checkpoints && kind != OpKind::weight_gradient
                       ? host_copy_seconds(cluster, plan_.checkpoint_bytes(chunk))
                       : 0;
  const bool makes_gradients = kind == OpKind::backward || kind == OpKind::weight_gradient;
  if (makes_gradients && keeps_gradients_on_host(plan_.scenario)) {
    const double elements = plan_.gradient_elements(chunk);
    const double whole = host_copy_seconds(cluster, host_gradient_bytes(plan_.model.type, elements, is_first));
    seconds += cluster.software.overlap ? std::max(0.0, whole - own) : whole;
  }
  return seconds;
}

double FoldedCosts::exposed_reduction(int stage) const {
  const Pass& last = plan_.schedule.stages[stage].last_backward;
  if (plan_.shards() && plan_.scenario.plan.zero >= 2)  // in each micro-batch
    return plan_.cluster.software.overlap ? chunks_[last.chunk].sharding.last_reduce : 0;
  const double whole = plan_.step_end().stages[stage].reduce;
  if (!plan_.cluster.software.overlap) return whole;
  // The last bucket can only be reduced when the last backward has ended.
  return uncovered(whole, stage, sent_gradient_bytes(plan_.cluster, plan_.model.type), seconds(last));
}

double FoldedCosts::exposed_gather(int stage) const {
  const double whole = plan_.step_end().stages[stage].gather;
  if (!plan_.cluster.software.gather_ahead || whole == 0) return whole;
  // The first forward waits for the first bucket's parameters.
  double forwards = 0;
  for (int c = 0; c < chunks(); ++c)
    if (plan_.stage_of(c) == stage) forwards += seconds(OpKind::forward, c, true);
  return uncovered(whole, stage, static_cast<double>(bytes_of(plan_.model.type)), forwards);
}

double FoldedCosts::uncovered(double whole, int stage, double bytes_per_parameter, double compute) const {
  const double bytes = plan_.parameters()[stage].elements * bytes_per_parameter;
  const double buckets = std::max(1.0, bytes / (plan_.scenario.plan.bucket_mib * 1048576));
  return std::max(whole / buckets, whole - compute);
}

void FoldedCosts::slow_down(int chunk, double factor) {
  ChunkSeconds& c = chunks_[chunk];
  for (double* part : {&c.forward, &c.input_gradient, &c.weight_gradient, &c.recompute}) *part *= factor;
  fill(chunk);
}

void FoldedCosts::replace(const PassTimes& of_a_stage) {
  const double parts = plan_.schedule.shape.virtual_stages;
  for (ChunkSeconds& c : chunks_) {
    c = {};
    c.forward = of_a_stage.forward / parts;
    c.input_gradient = of_a_stage.input_gradient / parts;
    c.weight_gradient = of_a_stage.weight_gradient / parts;
  }
  for (int c = 0; c < chunks(); ++c) fill(c);
  for (auto* messages : {&to_next_, &to_before_})
    for (double& seconds : *messages)
      if (seconds > 0) seconds = of_a_stage.message;
}

double step_seconds(FoldedPlan& plan, const FoldedCosts& costs, const std::vector<double>& end) {
  const StepEnd& behind = plan.step_end();
  double reduced = 0, updating = 0, gathering = 0;
  for (std::size_t s = 0; s < end.size(); ++s) {
    reduced = std::max(reduced, end[s] + costs.exposed_reduction(static_cast<int>(s)));
    updating = std::max(updating, behind.stages[s].update);
    gathering = std::max(gathering, costs.exposed_gather(static_cast<int>(s)));
  }
  return reduced + behind.embedding + updating + gathering;
}

}  // namespace rankscope
