#include "engine/simulate/folded.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/simulate/costs.hpp"
#include "engine/simulate/folded_plan.hpp"
#include "engine/simulate/kernels.hpp"
#include "engine/simulate/network.hpp"

namespace rankscope {
namespace {

class Folded {
 public:
  Folded(const Scenario& scenario, const Model& model)
      : plan_(scenario, model), scenario_(scenario), cluster_(scenario.cluster), model_(model), grid_(plan_.grid) {
    // Chunks of as many blocks are alike, but for what is in front of these or behind, and for where their ranks are.
    std::map<std::pair<std::array<int, 3>, int>, ChunkSeconds> known;
    for (int c = 0; c < plan_.chunks(); ++c) {
      const int begin = plan_.begin_of(c), end = plan_.end_of(c), stage = plan_.stage_of(c);
      const int place = grid_.rank_of({0, 0, stage}) % std::max(1, cluster_.devices_per_node);
      const auto [found, made] = known.try_emplace({parts_of(model_, begin, end), place});
      if (made) found->second = plan_.seconds_of(begin, end, stage);
      chunks_.push_back(found->second);
      recomputed_flops_ += found->second.repeated_flops;
    }
  }

  /// The spans of one stage's ranks, all alike.
  std::vector<FoldedSpan> timeline(int stage) {
    drawn_stage_ = stage;
    run();
    return std::move(spans_);
  }

  FoldedStep run() {
    lay_out();
    if (scenario_.fault.slow_rank >= 0) lay_out_straggler();
    finish();
    step_.memory = fold_memory(scenario_, model_, schedule_, plan_.first_segment, parameters_);
    return std::move(step_);
  }

 private:
  void draw(OpId op, double begin, double end) { spans_.push_back({op, begin, end}); }
  int stage_of(int chunk) const { return plan_.stage_of(chunk); }
  std::vector<int> group(int stage, GroupKind kind) const { return plan_.group(stage, kind); }

  /// Of what data ranks exchange beside an op that takes so long, what it does not cover. All of it shares the links.
  double uncovered(double seconds, double beside) const {
    return cluster_.overlap ? std::max(0.0, seconds - beside) : seconds;
  }

  /// Adds an op to the account, and returns its seconds.
  double account(const OpFields& f) {
    const ChunkSeconds& c = chunks_[static_cast<std::size_t>(f.chunk)];
    double compute = 0, recompute = 0, exchange = 0, sharding = 0;
    if (f.kind == OpKind::forward) {
      compute = c.forward;
      exchange = c.exchange_forward;
      sharding = c.gather;
    } else if (f.kind == OpKind::weight_gradient) {
      compute = c.weight_gradient;
      sharding = c.reduce;
    } else {
      const bool whole = f.kind == OpKind::backward;
      compute = c.input_gradient + (whole ? c.weight_gradient : 0);
      recompute = c.recompute;
      exchange = c.exchange_backward + c.exchange_recompute;
      sharding = c.gather + (whole ? c.reduce : 0);
    }
    // The first micro-batch writes its shard, the others add theirs.
    const bool reduces = c.shard_bytes > 0 && (f.kind == OpKind::backward || f.kind == OpKind::weight_gradient);
    const double adding = reduces ? memory_seconds(cluster_, c.shard_bytes * (f.micro_batch == 0 ? 2 : 3)) : 0;
    step_.optimizer += adding;
    const double own = compute + recompute + exchange + adding, exposed = uncovered(sharding, own);
    step_.compute += compute;
    step_.recompute += recompute;
    step_.tensor += exchange;
    step_.zero += exposed;
    ++step_.ops;
    return own + exposed;
  }

  double message(int from_chunk, int to_chunk) const {
    const int from = stage_of(from_chunk), to = stage_of(to_chunk);
    const double bytes = plan_.own_stream_bytes();
    const auto receivers = model_.sequence_parallel ? std::vector<int>{} : group(to, GroupKind::tensor);
    // Replicas are alike, but one may have a node with slow ports: it sets the pace.
    double seconds = 0;
    const int replicas = cluster_.slow_node >= 0 ? grid_.data : 1;
    for (int d = 0; d < replicas; ++d)
      seconds = std::max(seconds,
                         stage_message_cost(cluster_, grid_.rank_of({0, d, from}), grid_.rank_of({0, d, to}), receivers)
                             .seconds(bytes));
    return seconds;
  }

  /// The straggler's replica, in whose time all the others' reductions begin. Its tensor group waits for it at every
  /// exchange, and so computes at its pace. The account stays that of the others: what they wait is bubble.
  void lay_out_straggler() {
    const int slow = grid_.coordinates_of(scenario_.fault.slow_rank).pipeline;
    for (int c = 0; c < schedule_.shape.chunks(); ++c) {
      if (stage_of(c) != slow) continue;
      ChunkSeconds& chunk = chunks_[static_cast<std::size_t>(c)];
      for (double* part : {&chunk.forward, &chunk.input_gradient, &chunk.weight_gradient, &chunk.recompute})
        *part *= scenario_.fault.slow_factor;
    }
    FoldedStep account = std::move(step_);
    step_ = {};
    spans_.clear();
    lay_out();
    step_ = std::move(account);
  }

  void lay_out() {
    const auto stages = schedule_.order.size();
    const int chunks = schedule_.shape.chunks();
    const auto m = static_cast<std::size_t>(schedule_.shape.micro_batches);
    // When what an op needs from another chunk is there: [direction][chunk · m + micro-batch], negative until known.
    std::vector<double> there[2];
    for (auto& direction : there) direction.assign(static_cast<std::size_t>(chunks) * m, -1);
    std::vector<double> forward_message, backward_message;  // [chunk]: to the next, to the one before; 0 within a stage
    for (int c = 0; c < chunks; ++c) {
      const bool to_next = c + 1 < chunks && stage_of(c) != stage_of(c + 1),
                 to_before = c > 0 && stage_of(c) != stage_of(c - 1);
      forward_message.push_back(to_next ? message(c, c + 1) : 0);
      backward_message.push_back(to_before ? message(c, c - 1) : 0);
    }
    struct Lanes {
      double send[2] = {0, 0}, receive[2] = {0, 0};
    };
    std::vector<Lanes> lanes(stages);
    std::vector<std::size_t> next(stages, 0);
    end_.assign(stages, 0);
    last_backward_.assign(stages, 0);
    last_chunk_.assign(stages, 0);
    const auto slot = [&](int chunk, int micro_batch) {
      return static_cast<std::size_t>(chunk) * m + static_cast<std::size_t>(micro_batch);
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 0; s < stages; ++s)
        for (; next[s] < schedule_.order[s].size(); ++next[s], moved = true) {
          const OpFields f = schedule_.order[s][next[s]].fields();
          const bool forward = f.kind == OpKind::forward, halves = f.kind == OpKind::weight_gradient;
          const int source = forward ? f.chunk - 1 : f.chunk + 1, sink = forward ? f.chunk + 1 : f.chunk - 1;
          double ready = end_[s];
          if (!halves && source >= 0 && source < chunks) {
            const double arrival = there[forward ? 0 : 1][slot(source, f.micro_batch)];
            if (arrival < 0) break;
            ready = std::max(ready, arrival);
          }
          const double seconds = account(f);
          const bool waits = !forward && !halves && source >= 0 && source < chunks;
          const double ahead = waits ? chunks_[static_cast<std::size_t>(f.chunk)].ahead : 0;
          const double begin = std::max(ready, end_[s] + ahead) - ahead;
          end_[s] = begin + seconds;
          if (static_cast<int>(s) == drawn_stage_) draw(schedule_.order[s][next[s]], begin, end_[s]);
          if (f.kind != OpKind::forward) {
            last_backward_[s] = seconds;
            last_chunk_[s] = f.chunk;
          }
          if (halves || sink < 0 || sink >= chunks) continue;
          const auto direction = static_cast<std::size_t>(forward ? 0 : 1);
          const double takes = forward ? forward_message[static_cast<std::size_t>(f.chunk)]
                                       : backward_message[static_cast<std::size_t>(f.chunk)];
          double arrival = end_[s] + takes;
          if (stage_of(sink) != static_cast<int>(s) && cluster_.overlap) {
            Lanes &here = lanes[s], &other = lanes[static_cast<std::size_t>(stage_of(sink))];
            arrival = std::max({end_[s], here.send[direction], other.receive[direction]}) + takes;
            here.send[direction] = other.receive[direction] = arrival;
          } else if (!cluster_.overlap) {
            end_[s] = arrival;
            step_.pipeline += takes;
          }
          const bool leaves = stage_of(sink) != static_cast<int>(s) || !cluster_.overlap;
          if (leaves && static_cast<int>(s) == drawn_stage_)
            draw(OpId::of({OpKind::send, forward ? Purpose::pipeline_forward : Purpose::pipeline_backward, f.chunk,
                           f.micro_batch}),
                 arrival - takes, arrival);
          there[direction][slot(f.chunk, f.micro_batch)] = arrival;
        }
    }
    for (std::size_t s = 0; s < stages; ++s)
      if (next[s] < schedule_.order[s].size())
        throw std::invalid_argument("the schedule '" + schedule_.name + "' never gets to " +
                                    to_token(schedule_.order[s][next[s]]));
  }

  void finish() {
    const auto stages = end_.size();
    const bool shards = plan_.shards();
    const bool each_micro_batch = shards && scenario_.plan.zero >= 2;
    const auto element = static_cast<double>(bytes_of(model_.type));
    const double gradient = gradient_bytes(cluster_, model_.type), sent = sent_gradient_bytes(cluster_, model_.type);
    const bool loss_scale = scenario_.plan.precision == "fp16";
    double reduced = 0, updating = 0, gathering = 0;
    std::vector<double> exposed(stages), own_update(stages), own_gather(stages);
    for (std::size_t s = 0; s < stages; ++s) {
      const StageParameters& own = parameters_[s];
      const double elements = own.elements, states = own.state_bytes;
      const double update =
          update_bytes_per_parameter(element, gradient, states / elements, cluster_.fused, loss_scale);
      const auto data_group = group(static_cast<int>(s), GroupKind::data);
      const bool scatters = shards && !cluster_.reduce_whole;
      exposed[s] =
          plan_.collective(scatters ? OpKind::reduce_scatter : OpKind::all_reduce, data_group, elements * sent);
      if (sent != gradient && grid_.data > 1)  // cast, and cast back
        exposed[s] += 2 * memory_seconds(cluster_, elements * (gradient + sent));
      if (each_micro_batch) {
        exposed[s] = cluster_.overlap ? chunks_[static_cast<std::size_t>(last_chunk_[s])].last_reduce : 0;
      } else if (cluster_.overlap) {
        // The last bucket can only be reduced when the last backward has ended.
        const double buckets = std::max(1.0, elements * sent / (scenario_.plan.bucket_mib * 1048576));
        exposed[s] = std::max(exposed[s] / buckets, exposed[s] - last_backward_[s]);
      }
      own_update[s] = memory_seconds(cluster_, elements * update / (shards ? grid_.data : 1));
      own_gather[s] =
          shards && scenario_.plan.zero < 3 ? plan_.collective(OpKind::all_gather, data_group, elements * element) : 0;
      reduced = std::max(reduced, end_[s] + exposed[s]);
      updating = std::max(updating, own_update[s]);
      gathering = std::max(gathering, own_gather[s]);
      (shards ? step_.zero : step_.data) += exposed[s] + own_gather[s];
      step_.optimizer += own_update[s];
    }
    double embedding = 0;
    if (const double bytes = plan_.embedding_bytes(); bytes > 0) {
      const int first = schedule_.stage_of_chunk.front();
      embedding = plan_.collective(OpKind::all_reduce, group(first, GroupKind::embedding), bytes);
      step_.pipeline += 2 * embedding;  // of the first and of the last stage
    }
    step_.seconds = reduced + embedding + updating + gathering;
    if (drawn_stage_ >= 0) {
      const auto s = static_cast<std::size_t>(drawn_stage_);
      const Purpose purpose = shards ? Purpose::zero_gradient : Purpose::data_gradient;
      const OpKind kind = shards && !cluster_.reduce_whole ? OpKind::reduce_scatter : OpKind::all_reduce;
      if (exposed[s] > 0) draw(OpId::of({kind, purpose, -1, -1}), end_[s], end_[s] + exposed[s]);
      const double update_begins = reduced + embedding;
      draw(OpId::of({OpKind::optimizer, Purpose::none, -1, -1, -1, Segment::update}), update_begins,
           update_begins + own_update[s]);
      if (own_gather[s] > 0)
        draw(OpId::of({OpKind::all_gather, Purpose::zero_parameter, -1, -1}), step_.seconds - gathering,
             step_.seconds - gathering + own_gather[s]);
    }
    const auto count = static_cast<double>(stages);
    for (double* part :
         {&step_.compute, &step_.recompute, &step_.tensor, &step_.pipeline, &step_.data, &step_.zero, &step_.optimizer})
      *part /= count;
    const double rest = step_.seconds - step_.compute - step_.recompute - step_.tensor - step_.pipeline - step_.data -
                        step_.zero - step_.optimizer;
    step_.bubble =
        std::abs(rest) > 1e-9 * step_.seconds ? rest : 0;  // without a pipeline only the sums' rounding is left;
    step_.model_flops = model_.model_flops_per_sample() * scenario_.train.global_batch;
    step_.hardware_flops =
        step_.model_flops + recomputed_flops_ * grid_.tensor * grid_.data * scenario_.plan.micro_batches;
  }

  FoldedPlan plan_;
  const Scenario& scenario_;
  const ClusterSpec& cluster_;
  const Model& model_;
  const RankGrid& grid_;
  const ChunkSchedule& schedule_ = plan_.schedule;
  std::vector<ChunkSeconds> chunks_;
  std::vector<StageParameters> parameters_ =
      parameters_of_stages(scenario_, model_, schedule_, plan_.first_segment);  ///< [stage]
  double recomputed_flops_ = 0;  // of one rank of each stage and one micro-batch
  std::vector<double> end_, last_backward_;
  std::vector<int> last_chunk_;  ///< [stage]: of its last backward
  int drawn_stage_ = -1;
  std::vector<FoldedSpan> spans_;
  FoldedStep step_;
};

Coordinates coordinates_in(const RankGrid& grid, int rank) {
  if (rank >= 0 && rank < grid.size()) return grid.coordinates_of(rank);
  throw std::invalid_argument("the plan has ranks 0 to " + std::to_string(grid.size() - 1) + ", and no rank " +
                              std::to_string(rank));
}

}  // namespace

double FoldedStep::mfu(const ClusterSpec& cluster, DType type, int ranks) const {
  return model_flops / (seconds * ranks * cluster.peak_flops(type));
}

double FoldedStep::hfu(const ClusterSpec& cluster, DType type, int ranks) const {
  return hardware_flops / (seconds * ranks * cluster.peak_flops(type));
}

FoldedStep fold_step(const Scenario& scenario) { return fold_step(scenario, make_model(scenario)); }

std::vector<FoldedSpan> fold_timeline(const Scenario& scenario, int rank) {
  const RankGrid grid = scenario.plan.grid();
  const Coordinates at = coordinates_in(grid, rank);
  Scenario drawn = scenario;
  // The straggler's replica is drawn as it is; any other as the others are.
  const int slow = scenario.fault.slow_rank;
  if (slow >= 0 && grid.coordinates_of(slow).data != at.data) drawn.fault.slow_rank = -1;
  const Model model = make_model(drawn);
  return Folded(drawn, model).timeline(at.pipeline);
}

std::vector<MemoryLevel> fold_levels(const Scenario& scenario, int rank) {
  const int stage = coordinates_in(scenario.plan.grid(), rank).pipeline;
  const Model model = make_model(scenario);
  const FoldedPlan plan(scenario, model);
  return fold_memory_levels(scenario, model, plan.schedule, plan.first_segment, stage);
}

FoldedStep fold_step(const Scenario& scenario, const Model& model) { return Folded(scenario, model).run(); }

}  // namespace rankscope
