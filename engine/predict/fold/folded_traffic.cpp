#include <map>
#include <tuple>
#include <vector>

#include "engine/predict/cost/host_copies.hpp"
#include "engine/predict/fold/folded_plan.hpp"

namespace rankscope {
namespace {

/// What ranks send, by purpose, kind and group; of a rank of each stage, then averaged over participating stages.
class Traffic {
 public:
  explicit Traffic(int stages) : stages_(static_cast<std::size_t>(stages)) {}
  void add(int stage, Purpose purpose, OpKind kind, GroupKind group, double count, double bytes) {
    Sum& sum =
        sums_.try_emplace({purpose, kind, group}, Sum{std::vector<double>(stages_), std::vector<double>(stages_)})
            .first->second;
    sum.count[stage] += count;
    sum.bytes[stage] += count * bytes;
  }
  /// A collective of n members over this number of bytes, counted as a ring.
  void add_collective(int stage, Purpose purpose, OpKind kind, GroupKind group, double count, int n, double bytes) {
    if (n < 2) return;
    const double hops = static_cast<double>(n - 1) / n;
    add(stage, purpose, kind, group, count, (kind == OpKind::all_reduce ? 2 : 1) * hops * bytes);
  }
  std::vector<FoldedTraffic> rows() const {
    std::vector<FoldedTraffic> rows;
    for (const auto& [key, sum] : sums_) {
      FoldedTraffic row;
      std::tie(row.purpose, row.kind, row.group) = key;
      double taking_part = 0;
      for (std::size_t s = 0; s < stages_; ++s) {
        taking_part += sum.count[s] > 0;
        row.count += sum.count[s];
        row.bytes_per_rank += sum.bytes[s];
      }
      row.count /= taking_part;
      row.bytes_per_rank /= taking_part;
      rows.push_back(row);
    }
    return rows;
  }

 private:
  struct Sum {
    std::vector<double> count, bytes;  ///< [stage]
  };
  std::size_t stages_;
  std::map<std::tuple<Purpose, OpKind, GroupKind>, Sum> sums_;
};

/// Exchanges of tensor ranks, and of data ranks with shards, for a chunk in all micro-batches.
void add_exchanges(Traffic& traffic, const FoldedPlan& plan, int chunk) {
  const double m = plan.scenario.plan.micro_batches;
  const int stage = plan.stage_of(chunk), begin = plan.begin_of(chunk), end = plan.end_of(chunk);
  plan.for_each_segment(begin, end, [&](const SegmentSpec& segment, bool again) {
    plan.for_each_exchange(segment, [&](const Exchange& exchange, double bytes) {
      const auto add = [&](OpKind kind, double count) {
        traffic.add_collective(stage, exchange.purpose, kind, GroupKind::tensor, count, plan.grid.tensor, bytes);
      };
      if (exchange.forward) add(*exchange.forward, m * (1 + again + plan.is_gathered_again(exchange)));
      if (exchange.backward) add(*exchange.backward, m);
    });
  });
  if (gathers_checkpoints(plan.cluster, plan.model))
    traffic.add_collective(stage, Purpose::tensor, OpKind::all_gather, GroupKind::tensor,
                           m * plan.repeated_groups(chunk), plan.grid.tensor, plan.own_stream_bytes());
  if (plan.scenario.plan.zero < 2) return;
  const double gradient = sent_gradient_bytes(plan.cluster, plan.model.type);
  const auto element = static_cast<double>(bytes_of(plan.model.type));
  for (const double elements : elements_of_parts(plan.model, begin, end)) {
    const auto add = [&](Purpose purpose, OpKind kind, double count, double bytes) {
      traffic.add_collective(stage, purpose, kind, GroupKind::data, count, plan.grid.data, bytes);
    };
    if (plan.scenario.plan.zero == 3) add(Purpose::zero_parameter, OpKind::all_gather, 2 * m, elements * element);
    add(Purpose::zero_gradient, OpKind::reduce_scatter, m, elements * gradient);
  }
}

/// Exchanges of data ranks for a stage, once a step.
void add_reductions(Traffic& traffic, const FoldedPlan& plan, int stage, double elements) {
  const int zero = plan.scenario.plan.zero;
  const double gradient = sent_gradient_bytes(plan.cluster, plan.model.type);
  const auto add = [&](Purpose purpose, OpKind kind, double bytes) {
    traffic.add_collective(stage, purpose, kind, GroupKind::data, 1, plan.grid.data, bytes);
  };
  if (zero == 0) add(Purpose::data_gradient, OpKind::all_reduce, elements * gradient);
  if (zero == 1)
    add(Purpose::zero_gradient, plan.cluster.software.reduce_whole ? OpKind::all_reduce : OpKind::reduce_scatter,
        elements * gradient);
  if (zero == 1 || zero == 2)
    add(Purpose::zero_parameter, OpKind::all_gather, elements * static_cast<double>(bytes_of(plan.model.type)));
}

/// Activations and their gradients between stages; split ones are gathered by the receiver's tensor group.
void add_messages(Traffic& traffic, const FoldedPlan& plan) {
  const double stream = plan.own_stream_bytes(), m = plan.scenario.plan.micro_batches;
  const int tensor = plan.grid.tensor;
  const bool split = plan.cluster.software.split_transfers && !plan.model.sequence_parallel && tensor > 1;
  const auto send = [&](int from_chunk, int to_chunk, Purpose purpose) {
    const int from = plan.stage_of(from_chunk), to = plan.stage_of(to_chunk);
    if (from == to) return;
    traffic.add(from, purpose, OpKind::send, GroupKind::self, m, split ? stream / tensor : stream);
    if (split) traffic.add_collective(to, purpose, OpKind::all_gather, GroupKind::tensor, m, tensor, stream);
  };
  for (int c = 0; c + 1 < plan.chunks(); ++c) {
    send(c, c + 1, Purpose::pipeline_forward);
    send(c + 1, c, Purpose::pipeline_backward);
  }
}

/// Gradients, their sums and updated parameters, and inputs of blocks, between a chunk's device and its host.
void add_host_copies(Traffic& traffic, const FoldedPlan& plan, int chunk) {
  const int stage = plan.stage_of(chunk);
  const double m = plan.scenario.plan.micro_batches;
  const auto add = [&](double count, double bytes) {
    if (bytes > 0) traffic.add(stage, Purpose::offload, OpKind::copy, GroupKind::self, count, bytes);
  };
  if (plan.cluster.software.host_checkpoints) add(2 * m, plan.checkpoint_bytes(chunk));
  if (!keeps_gradients_on_host(plan.scenario)) return;
  const DType type = plan.model.type;
  const double elements = plan.gradient_elements(chunk);
  add(1, host_gradient_bytes(type, elements, true));
  add(m - 1, host_gradient_bytes(type, elements, false));
  add(1, host_widening_bytes(type, elements));
  add(1, elements * static_cast<double>(bytes_of(type)));
}

}  // namespace

std::vector<FoldedTraffic> fold_traffic(const Scenario& scenario) {
  Schedules schedules;
  FoldMemo memo(schedules);
  FoldedPlan plan(scenario, memo);
  Traffic traffic(plan.grid.pipeline);
  for (int c = 0; c < plan.chunks(); ++c) add_exchanges(traffic, plan, c);
  for (int stage = 0; stage < plan.grid.pipeline; ++stage)
    add_reductions(traffic, plan, stage, plan.parameters()[stage].elements);
  for (int c = 0; c < plan.chunks(); ++c) add_host_copies(traffic, plan, c);
  add_messages(traffic, plan);
  if (const double bytes = plan.embedding_bytes(); bytes > 0)
    for (const int stage : {plan.schedule.stage_of_chunk.front(), plan.schedule.stage_of_chunk.back()})
      traffic.add_collective(stage, Purpose::embedding, OpKind::all_reduce, GroupKind::embedding, 1, 2, bytes);
  return traffic.rows();
}

}  // namespace rankscope
