#include "engine/predict/cost/modelled_costs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/predict/cost/collective_costs.hpp"
#include "engine/predict/cost/device.hpp"
#include "engine/predict/cost/kernels.hpp"
#include "engine/predict/cost/stage_ledger.hpp"
#include "engine/predict/network/link.hpp"
#include "engine/predict/network/network.hpp"

namespace rankscope {
namespace {

/// Nanoseconds per (chunk, block, segment) of forward and backward, in one flat table.
class SegmentTable {
 public:
  struct Cost {
    std::int64_t forward = 0, input_gradient = 0, weight_gradient = 0, backward = 0;
    std::int64_t recompute = 0;  ///< if different from a forward; else 0
  };
  explicit SegmentTable(const ModelSpec& spec, std::size_t chunks)
      : segments_(static_cast<std::size_t>(spec.layers + 1) * segment_count), chunks_(chunks) {}
  Cost& segment(const SegmentSpec& s) { return segments_[slot(s.block, s.kind)]; }
  Cost& chunk(std::size_t c) { return chunks_[c]; }

  std::int64_t ns(const OpFields& f) const {
    const bool whole = f.segment == Segment::whole;
    if (whole ? f.chunk < 0 || static_cast<std::size_t>(f.chunk) >= chunks_.size()
              : slot(f.block, f.segment) >= segments_.size())
      throw std::invalid_argument("the model has no place for " + to_token(OpId::of(f)));
    // A block folded from its segments is their sum.
    Cost sum;
    if (whole && f.block >= 0) {
      for (int s = 0; s < segment_count; ++s) add(sum, segments_.at(slot(f.block, static_cast<Segment>(s))));
    } else {
      sum = whole ? chunks_[f.chunk] : segments_[slot(f.block, f.segment)];
    }
    if (f.kind == OpKind::backward) return sum.backward;
    if (f.kind == OpKind::input_gradient) return sum.input_gradient;
    if (f.kind == OpKind::weight_gradient) return sum.weight_gradient;
    return f.kind == OpKind::recompute && sum.recompute > 0 ? sum.recompute : sum.forward;
  }
  static void add(Cost& to, const Cost& c) {
    to.forward += c.forward;
    to.input_gradient += c.input_gradient;
    to.weight_gradient += c.weight_gradient;
    to.backward += c.backward;
    to.recompute += c.recompute;
  }

 private:
  static std::size_t slot(int block, Segment segment) {
    return static_cast<std::size_t>(block + 1) * segment_count + static_cast<std::size_t>(segment);
  }
  std::vector<Cost> segments_, chunks_;
};

/// Distributes `total` by weights so that the parts sum to it exactly.
class Spread {
 public:
  Spread(std::int64_t total, double weights) : total_(total), weights_(weights) {}
  std::int64_t next(double weight) {
    before_ += weight;
    const std::int64_t until =
        weights_ > 0 ? std::llround(static_cast<double>(total_) * std::min(1.0, before_ / weights_)) : 0;
    const std::int64_t part = until - given_;
    given_ = until;
    return part;
  }

 private:
  std::int64_t total_;
  double weights_, before_ = 0;
  std::int64_t given_ = 0;
};

/// Bytes that the host reads and writes at its own bandwidth; copies use the link.
double bytes_a_second(const ClusterSpec& cluster, const Op& op) {
  if (op.id.kind() == OpKind::copy) return positive_figure(cluster.host_bandwidth, "host_bandwidth", cluster);
  if (is_on_host(op.lane())) return positive_figure(cluster.host_memory_bandwidth, "host_memory_bandwidth", cluster);
  return cluster.memory_bandwidth * cluster.memory_efficiency;
}

/// Of an update in passes: update_bytes_per_parameter with the types of gradients and states in the op's operands.
double update_bytes_in_passes(const ClusterSpec& cluster, const RankProgram& program, const Op& op, DType type) {
  double elements = 0, gradients = 0, states = 0;
  for (const BufferUse& use : op.uses) {
    const Buffer& buffer = program.buffers[use.buffer];
    const auto bytes = static_cast<double>(buffer.bytes());
    if (buffer.memory == MemoryClass::parameters) elements += static_cast<double>(buffer.shape.elements());
    if (buffer.memory == MemoryClass::gradients) gradients += bytes;
    if (buffer.memory == MemoryClass::optimizer) states += bytes;
  }
  if (elements == 0) return 0;
  return elements * update_bytes_per_parameter(cluster, static_cast<double>(bytes_of(type)), gradients / elements,
                                               states / elements, type == DType::f16);
}

SegmentTable unit_table(const Model& model, const std::vector<int>& first_segment, std::int64_t unit) {
  SegmentTable table(model.spec, first_segment.size() - 1);
  for (std::size_t c = 0; c + 1 < first_segment.size(); ++c) {
    double forward = 0, input = 0, weight = 0;
    const auto begin = model.segments.begin() + first_segment[c], end = model.segments.begin() + first_segment[c + 1];
    for (auto s = begin; s != end; ++s) {
      forward += s->forward_flops;
      input += s->input_gradient_flops;
      weight += s->weight_gradient_flops;
    }
    Spread f(unit, forward), i(unit, input), w(unit, weight), b(2 * unit, input + weight);
    for (auto s = begin; s != end; ++s)
      table.segment(*s) = {f.next(s->forward_flops), i.next(s->input_gradient_flops), w.next(s->weight_gradient_flops),
                           b.next(s->input_gradient_flops + s->weight_gradient_flops), 0};
    // A single embedding has no FLOPs, and needs no time here.
    if (forward > 0) table.chunk(c) = {unit, unit, unit, 2 * unit, 0};
  }
  return table;
}

SegmentTable modelled_table(const Scenario& scenario, const Model& model) {
  const auto ns = [](double seconds) { return std::llround(seconds * 1e9); };
  const std::vector<int> first_segment = split_as_planned(model, scenario.plan);
  SegmentTable table(model.spec, first_segment.size() - 1);
  const RankGrid grid = scenario.plan.grid();
  const auto tensor_group = grid.group_of(0, GroupKind::tensor);
  const MeasuredOps measured(scenario.cluster.costs, scenario.plan.precision.name());
  const Route route = library_route(scenario.plan.collective).value_or(Route::best);
  const bool to_the_end = scenario.cluster.software.recompute_whole && scenario.plan.recompute == Recompute::blocks &&
                          scenario.plan.recompute_blocks == 1;
  for (std::size_t c = 0; c + 1 < first_segment.size(); ++c)
    for (int i = first_segment[c]; i < first_segment[c + 1]; ++i) {
      const SegmentSpec& s = model.segments[i];
      const SegmentSeconds seconds = segment_seconds(model, s, scenario.cluster, &measured);
      SegmentTable::Cost cost{ns(seconds.forward), ns(seconds.input_gradient), ns(seconds.weight_gradient),
                              ns(seconds.backward), 0};
      const double hidden = hidden_exchange_seconds(scenario, model, static_cast<std::size_t>(i), tensor_group);
      cost.backward -= ns(std::min(hidden, seconds.backward));
      // The last op of a block that this engine repeats includes what other software repeats after it.
      if (const auto rest = model.unrepeated_behind(s); to_the_end && !rest.empty()) {
        cost.recompute = cost.forward;
        for (const SegmentSpec& other : rest)
          cost.recompute += ns(segment_seconds(model, other, scenario.cluster).forward);
        const double stream = static_cast<double>(model.tokens() * model.spec.width * bytes_of(model.type));
        for (const Exchange& exchange : model.exchanges)
          if (exchange.from == TensorName::contracted && exchange.forward)
            cost.recompute += ns(collective_seconds(scenario.cluster, route, *exchange.forward, tensor_group, stream));
        if (gathers_checkpoints(scenario.cluster, model))
          cost.recompute += ns(collective_seconds(scenario.cluster, route, OpKind::all_gather, tensor_group, stream));
      }
      table.segment(s) = cost;
      SegmentTable::add(table.chunk(c), cost);
    }
  return table;
}

}  // namespace

double moved_bytes(const RankProgram& program, const Op& op, const OptimizerRule& rule) {
  if (op.id.kind() == OpKind::copy) return static_cast<double>(program.payload_bytes(op));
  const bool update = op.id.fields().segment == Segment::update;
  double bytes = 0;
  for (const BufferUse& use : op.uses) {
    const Buffer& buffer = program.buffers[use.buffer];
    int times = use.access == Access::accumulate ? 2 : 1;
    if (update && buffer.memory == MemoryClass::gradients) times += rule.gradient_passes - 1;
    if (update && buffer.memory == MemoryClass::parameters) times += rule.parameter_passes - 1;
    if (update && is_state(buffer)) times += rule.state_passes - 1;
    bytes += static_cast<double>(buffer.bytes()) * times;
  }
  return bytes;
}

double hidden_exchange_seconds(const Scenario& scenario, const Model& model, std::size_t segment,
                               std::span<const int> tensor_group) {
  const ClusterSpec& cluster = scenario.cluster;
  if (!cluster.software.overlap_exchanges || tensor_group.size() < 2) return 0;
  const SegmentSpec& here = model.segments[segment];
  if (!here.has_weight_gradient() || here.inputs.empty()) return 0;
  const double stream = static_cast<double>(model.tokens() * model.spec.width * bytes_of(model.type));
  for (const Exchange& exchange : model.exchanges) {
    const bool is_norm = exchange.from == TensorName::norm1 || exchange.from == TensorName::norm2;
    if (!is_norm || exchange.to != here.inputs.front().name || !exchange.backward) continue;
    const SegmentSeconds seconds = segment_seconds(model, here, cluster);
    const Route route = library_route(scenario.plan.collective).value_or(Route::best);
    const auto collective = [&](OpKind kind) { return collective_seconds(cluster, route, kind, tensor_group, stream); };
    const double sum = std::min(seconds.weight_gradient, collective(*exchange.backward));
    const bool again = exchange.forward == OpKind::all_gather && !cluster.software.fused;
    return sum + (again ? std::min(seconds.input_gradient, collective(OpKind::all_gather)) : 0);
  }
  return 0;
}

Costs unit_costs(const Model& model, const std::vector<int>& first_segment, std::int64_t unit_ns) {
  return {[table = unit_table(model, first_segment, unit_ns)](const RankProgram&, const Op& op) -> std::int64_t {
            const OpFields f = op.id.fields();
            return is_model_compute(f.kind) ? table.ns(f) : 0;
          },
          [](int, int) { return Link{}; },
          {}};
}

Costs unit_costs(std::int64_t unit_ns) {
  return {[unit_ns](const RankProgram&, const Op& op) -> std::int64_t {
            const OpKind kind = op.id.kind();
            return is_model_compute(kind) ? unit_ns * (kind == OpKind::backward ? 2 : 1) : 0;
          },
          [](int, int) { return Link{}; },
          {}};
}

Costs modelled_costs(const Scenario& scenario, const Model& model) {
  Costs costs;
  costs.compute_ns = [table = modelled_table(scenario, model), cluster = scenario.cluster, fault = scenario.fault,
                      rule = optimizer_rule(scenario.train.optimizer), type = model.type,
                      measured = MeasuredOps(scenario.cluster.costs, scenario.plan.precision.name())](
                         const RankProgram& program, const Op& op) -> std::int64_t {
    const OpFields f = op.id.fields();
    if (is_untimed(f.kind, f.purpose)) return 0;
    if (!is_model_compute(f.kind)) {
      const double moved = moved_bytes(program, op, rule);
      if (const auto known = measured.seconds(f.kind, f.segment, {0, moved})) return std::llround(*known * 1e9);
      const bool in_passes = !cluster.software.fused || cluster.software.update_bytes > 0;
      double bytes = 0;
      if (f.kind == OpKind::copy)
        bytes = moved;
      else if (f.segment == Segment::update && in_passes)
        bytes = update_bytes_in_passes(cluster, program, op, type);
      else if (f.segment != Segment::norm || !in_passes)  // the norm is one of the passes
        bytes = moved;
      return std::llround((bytes / bytes_a_second(cluster, op) + cluster.op_overhead_s) * 1e9);
    }
    return slowed_ns(fault, program.rank, f.kind, table.ns(f));
  };
  costs.link = [cluster = scenario.cluster](int from, int to) { return cluster_link(cluster, from, to); };
  costs.collective_ns = collective_costs(scenario.cluster, scenario.plan.grid(), scenario.plan.collective, costs.link);
  if (scenario.cluster.software.split_transfers && !model.sequence_parallel)
    costs.link = [cluster = scenario.cluster, grid = scenario.plan.grid()](int from, int to) {
      const bool of_stages = !grid.is_server(from) && !grid.is_server(to) &&
                             grid.coordinates_of(from).pipeline != grid.coordinates_of(to).pipeline;
      if (!of_stages) return cluster_link(cluster, from, to);
      const MessageCost cost = stage_message_cost(cluster, from, to, grid.group_of(to, GroupKind::tensor));
      return Link{std::llround(cost.latency * 1e9), cost.bandwidth * 1e-9};
    };
  return costs;
}

std::int64_t slowed_ns(const FaultSpec& fault, std::int32_t rank, OpKind kind, std::int64_t ns) {
  const bool slow = fault.slow_rank >= 0 && rank == fault.slow_rank && is_model_compute(kind);
  return slow ? std::llround(static_cast<double>(ns) * fault.slow_factor) : ns;
}

Costs slowed_costs(Costs costs, const FaultSpec& fault) {
  costs.compute_ns = [fault, plain = std::move(costs.compute_ns)](const RankProgram& program, const Op& op) {
    return slowed_ns(fault, program.rank, op.id.kind(), plain(program, op));
  };
  return costs;
}

}  // namespace rankscope
