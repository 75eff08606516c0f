#include "engine/simulate/folded.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/mesh/rank_grid.hpp"
#include "engine/model/model.hpp"
#include "engine/schedule/schedule.hpp"
#include "engine/simulate/costs.hpp"
#include "engine/simulate/kernels.hpp"
#include "engine/simulate/network.hpp"

namespace rankscope {
namespace {

/// Seconds of one chunk and micro-batch.
struct ChunkSeconds : BlockSeconds {
  double ahead = 0;               ///< of what is computed and exchanged again, what needs no gradient to be there
  double gather = 0, reduce = 0;  ///< with ZeRO-3 and ZeRO-2: of all its parameters, and of all their gradients
  double last_reduce = 0;         ///< of the part whose gradients come last
  double repeated_flops = 0;      ///< by recomputation
  double shard_bytes = 0;         ///< of this rank's part of the gradients, which every micro-batch adds to
};

/// What ranks send, by purpose and kind; of a rank of each stage, then averaged over stages that take part.
class Traffic {
 public:
  explicit Traffic(int stages) : stages_(static_cast<std::size_t>(stages)) {}
  void add(int stage, Purpose purpose, OpKind kind, double count, double bytes) {
    Sum& sum = sums_.try_emplace({purpose, kind}, Sum{std::vector<double>(stages_), std::vector<double>(stages_)})
                   .first->second;
    sum.count[static_cast<std::size_t>(stage)] += count;
    sum.bytes[static_cast<std::size_t>(stage)] += count * bytes;
  }
  /// A collective of n members over so many bytes, as a ring sends it.
  void add_collective(int stage, Purpose purpose, OpKind kind, double count, std::size_t n, double bytes) {
    if (n < 2) return;
    const double hops = static_cast<double>(n - 1) / static_cast<double>(n);
    add(stage, purpose, kind, count, (kind == OpKind::all_reduce ? 2 : 1) * hops * bytes);
  }
  std::vector<FoldedTraffic> rows() const {
    std::vector<FoldedTraffic> rows;
    for (const auto& [key, sum] : sums_) {
      FoldedTraffic row{key.first, key.second, 0, 0};
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
  std::map<std::pair<Purpose, OpKind>, Sum> sums_;
};

class Folded {
 public:
  Folded(const Scenario& scenario, const Model& model)
      : scenario_(scenario),
        cluster_(scenario.cluster),
        model_(model),
        grid_{scenario.plan.tensor, scenario.plan.data, scenario.plan.pipeline},
        schedule_(make_schedule_of(scenario.plan)),
        first_segment_(split_as_planned(model_, scenario.plan)),
        measured_(scenario.cluster.costs, scenario.plan.precision),
        traffic_(scenario.plan.pipeline) {
    // Chunks of as many blocks are alike, but for what is in front of these or behind, and for where their ranks are.
    std::map<std::pair<std::array<int, 3>, int>, ChunkSeconds> known;
    for (int c = 0; c < schedule_.shape.chunks(); ++c) {
      const int begin = first_segment_[static_cast<std::size_t>(c)],
                end = first_segment_[static_cast<std::size_t>(c) + 1];
      const int place = grid_.rank_of({0, 0, stage_of(c)}) % std::max(1, cluster_.devices_per_node);
      const auto [found, made] = known.try_emplace({parts_of(model_, begin, end), place});
      if (made) found->second = seconds_of(begin, end, stage_of(c));
      chunks_.push_back(found->second);
      recomputed_flops_ += found->second.repeated_flops;
      count_exchanges(begin, end, stage_of(c));
    }
  }

  /// Of the first block alone.
  BlockSeconds block() {
    const int begin = model_.segments_before_blocks();
    return seconds_of(begin, begin + model_.segments_a_block(), 0);
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
    step_.traffic = traffic_.rows();
    step_.ideal_bubble = ideal_bubble(schedule_);
    step_.memory = fold_memory(scenario_, model_, schedule_, first_segment_);
    return std::move(step_);
  }

 private:
  static ChunkSchedule make_schedule_of(const PlanSpec& plan) {
    const PipelineShape shape{plan.pipeline, plan.virtual_stages, plan.micro_batches};
    return plan.schedule == "by-hand" ? by_hand_schedule(plan.order, shape) : make_schedule(plan.schedule, shape);
  }
  void draw(OpId op, double begin, double end) { spans_.push_back({op, begin, end}); }
  int stage_of(int chunk) const { return schedule_.stage_of_chunk[static_cast<std::size_t>(chunk)]; }
  std::vector<int> group(int stage, GroupKind kind) const { return grid_.group_of(grid_.rank_of({0, 0, stage}), kind); }

  double collective(OpKind kind, const std::vector<int>& members, double bytes) const {
    return collective_seconds(cluster_, Route::best, kind, members, bytes);
  }

  /// Of a chunk with these blocks: whether this segment is computed again before its backward.
  bool is_repeated(const SegmentSpec& segment, int first_block, int last_block) const {
    if (segment.block < 0) return false;
    if (scenario_.plan.recompute == "selective") return segment.kind == Segment::attention;
    const int together = blocks_repeated_together(scenario_.plan, last_block - first_block + 1);
    if (together == 0) return false;
    // No backward reads what the last product of a group makes.
    const bool last = segment.block == last_block || (segment.block - first_block) % together == together - 1;
    return cluster_.recompute_whole || !last || (segment.kind != Segment::down && segment.kind != Segment::output);
  }

  /// Of segments [begin, end) on a stage.
  ChunkSeconds seconds_of(int begin, int end, int stage) {
    int first_block = model_.spec.layers, last_block = -1;
    for (int i = begin; i < end; ++i)
      if (const int block = model_.segments[static_cast<std::size_t>(i)].block; block >= 0) {
        first_block = std::min(first_block, block);
        last_block = std::max(last_block, block);
      }
    // This engine computes a chunk's last blocks again while it waits for their gradient.
    const int together = blocks_repeated_together(scenario_.plan, last_block - first_block + 1);
    const bool ends_in_block = model_.segments[static_cast<std::size_t>(end) - 1].block >= 0;
    const int ahead_from = cluster_.overlap && ends_in_block && together > 0
                               ? first_block + (last_block - first_block) / together * together
                               : model_.spec.layers;
    const auto tensor_group = group(stage, GroupKind::tensor);
    const double stream = static_cast<double>(model_.tokens() * model_.spec.width * bytes_of(model_.type));
    const double words = static_cast<double>(model_.tokens() * 3 * 4);
    const bool gathers_again = model_.sequence_parallel && !cluster_.fused;
    ChunkSeconds sum;
    for (int i = begin; i < end; ++i) {
      const SegmentSpec& segment = model_.segments[static_cast<std::size_t>(i)];
      const SegmentSeconds seconds = segment_seconds(model_, segment, cluster_, &measured_);
      sum.forward += seconds.forward;
      sum.input_gradient += seconds.input_gradient;
      sum.weight_gradient += seconds.weight_gradient;
      const bool again = is_repeated(segment, first_block, last_block);
      if (again) {
        sum.recompute += seconds.forward;
        if (segment.block >= ahead_from) sum.ahead += seconds.forward;
        sum.repeated_flops += segment.forward_flops;
      }
      for (const Exchange& exchange : model_.exchanges) {
        const auto is_from = [&](const TensorSpec& t) { return t.name == exchange.from; };
        if (std::none_of(segment.outputs.begin(), segment.outputs.end(), is_from)) continue;
        const double bytes = exchange.purpose == Purpose::loss ? words * model_.tensor : stream;
        const double forward = exchange.forward ? collective(*exchange.forward, tensor_group, bytes) : 0;
        sum.exchange_forward += forward;
        if (exchange.backward) sum.exchange_backward += collective(*exchange.backward, tensor_group, bytes);
        if (gathers_again && exchange.forward == OpKind::all_gather && exchange.purpose == Purpose::tensor)
          sum.exchange_backward += forward;
        if (again) sum.exchange_recompute += forward;
        if (again && segment.block >= ahead_from) sum.ahead += forward;
      }
    }
    for (int i = begin; i < end; ++i)
      sum.exchange_backward -= hidden_exchange_seconds(scenario_, model_, static_cast<std::size_t>(i), tensor_group);
    if (scenario_.plan.zero >= 2) add_sharding(sum, begin, end, stage);
    return sum;
  }

  /// What tensor ranks, data ranks with shards, and stages send for a chunk in all micro-batches.
  void count_exchanges(int begin, int end, int stage) {
    const double m = scenario_.plan.micro_batches, t = grid_.tensor;
    const double stream = static_cast<double>(model_.tokens() * model_.spec.width * bytes_of(model_.type));
    int first_block = model_.spec.layers, last_block = -1;
    for (int i = begin; i < end; ++i)
      if (const int block = model_.segments[static_cast<std::size_t>(i)].block; block >= 0) {
        first_block = std::min(first_block, block);
        last_block = std::max(last_block, block);
      }
    const bool gathers_again = model_.sequence_parallel && !cluster_.fused;
    const auto tensor = static_cast<std::size_t>(grid_.tensor);
    for (int i = begin; i < end; ++i) {
      const SegmentSpec& segment = model_.segments[static_cast<std::size_t>(i)];
      const bool again = is_repeated(segment, first_block, last_block);
      for (const Exchange& exchange : model_.exchanges) {
        const auto is_from = [&](const TensorSpec& tensor_of) { return tensor_of.name == exchange.from; };
        if (std::none_of(segment.outputs.begin(), segment.outputs.end(), is_from)) continue;
        const bool words = exchange.purpose == Purpose::loss;
        const double bytes = words ? static_cast<double>(model_.tokens() * 3 * 4) * t : stream;
        const bool gathers = gathers_again && exchange.forward == OpKind::all_gather && !words;
        if (exchange.forward)
          traffic_.add_collective(stage, exchange.purpose, *exchange.forward, m * (1 + again + gathers), tensor, bytes);
        if (exchange.backward) traffic_.add_collective(stage, exchange.purpose, *exchange.backward, m, tensor, bytes);
      }
    }
    if (scenario_.plan.zero < 2) return;
    const auto data = static_cast<std::size_t>(grid_.data);
    const double gradient = gradient_bytes(cluster_, model_.type), element = static_cast<double>(bytes_of(model_.type));
    for (const double elements : elements_of_parts(model_, begin, end)) {
      if (scenario_.plan.zero == 3)
        traffic_.add_collective(stage, Purpose::zero_parameter, OpKind::all_gather, 2 * m, data, elements * element);
      traffic_.add_collective(stage, Purpose::zero_gradient, OpKind::reduce_scatter, m, data, elements * gradient);
    }
  }

  /// The same of a stage's step.
  void count_reductions(int stage, double elements, double gradient, double element) {
    const auto data = static_cast<std::size_t>(grid_.data);
    if (data < 2) return;
    const int zero = scenario_.plan.zero;
    if (zero == 0)
      traffic_.add_collective(stage, Purpose::data_gradient, OpKind::all_reduce, 1, data, elements * gradient);
    else if (zero == 1)
      traffic_.add_collective(stage, Purpose::zero_gradient,
                              cluster_.reduce_whole ? OpKind::all_reduce : OpKind::reduce_scatter, 1, data,
                              elements * gradient);
    if (zero == 1 || zero == 2)
      traffic_.add_collective(stage, Purpose::zero_parameter, OpKind::all_gather, 1, data, elements * element);
  }

  /// What data ranks with shards exchange of a chunk for one micro-batch, block by block.
  void add_sharding(ChunkSeconds& sum, int begin, int end, int stage) const {
    const auto data_group = group(stage, GroupKind::data);
    if (data_group.size() < 2) return;
    const double gradient = gradient_bytes(cluster_, model_.type), element = static_cast<double>(bytes_of(model_.type));
    for (const double elements : elements_of_parts(model_, begin, end)) {
      if (scenario_.plan.zero == 3) sum.gather += collective(OpKind::all_gather, data_group, elements * element);
      const double reduce = collective(OpKind::reduce_scatter, data_group, elements * gradient);
      sum.reduce += reduce;
      sum.shard_bytes += elements * gradient / grid_.data;
      if (sum.last_reduce == 0) sum.last_reduce = reduce;  // parts are reduced from the last to the first
    }
  }

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
    const double bytes = static_cast<double>(model_.stream_tokens() * model_.spec.width * bytes_of(model_.type));
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
            if (static_cast<int>(s) == drawn_stage_)
              draw(OpId::of({OpKind::send, forward ? Purpose::pipeline_forward : Purpose::pipeline_backward, f.chunk,
                             f.micro_batch}),
                   arrival - takes, arrival);
          } else if (!cluster_.overlap) {
            if (static_cast<int>(s) == drawn_stage_)
              draw(OpId::of({OpKind::send, forward ? Purpose::pipeline_forward : Purpose::pipeline_backward, f.chunk,
                             f.micro_batch}),
                   end_[s], arrival);
            end_[s] = arrival;
            step_.pipeline += takes;
          }
          there[direction][slot(f.chunk, f.micro_batch)] = arrival;
        }
    }
    for (std::size_t s = 0; s < stages; ++s)
      if (next[s] < schedule_.order[s].size())
        throw std::invalid_argument("the schedule '" + schedule_.name + "' never gets to " +
                                    to_token(schedule_.order[s][next[s]]));
  }

  /// Activations and their gradients between stages; split ones are gathered by the receiver's tensor group.
  void count_messages() {
    const double stream = static_cast<double>(model_.stream_tokens() * model_.spec.width * bytes_of(model_.type));
    const bool split = cluster_.split_transfers && !model_.sequence_parallel && grid_.tensor > 1;
    const double m = scenario_.plan.micro_batches;
    const auto send = [&](int from, int to, Purpose purpose) {
      if (stage_of(from) == stage_of(to)) return;
      traffic_.add(stage_of(from), purpose, OpKind::send, m, split ? stream / grid_.tensor : stream);
      if (split)
        traffic_.add_collective(stage_of(to), purpose, OpKind::all_gather, m, static_cast<std::size_t>(grid_.tensor),
                                stream);
    };
    for (int c = 0; c + 1 < schedule_.shape.chunks(); ++c) {
      send(c, c + 1, Purpose::pipeline_forward);
      send(c + 1, c, Purpose::pipeline_backward);
    }
  }

  void finish() {
    const auto stages = end_.size();
    const bool shards = scenario_.plan.zero > 0 && grid_.data > 1;
    const bool each_micro_batch = shards && scenario_.plan.zero >= 2;
    const auto element = static_cast<double>(bytes_of(model_.type));
    const double gradient = gradient_bytes(cluster_, model_.type);
    const bool loss_scale = scenario_.plan.precision == "fp16";
    const std::vector<StageParameters> parameters = parameters_of_stages(scenario_, model_, schedule_, first_segment_);
    double reduced = 0, updating = 0, gathering = 0;
    std::vector<double> exposed(stages), own_update(stages), own_gather(stages);
    for (std::size_t s = 0; s < stages; ++s) {
      const StageParameters& own = parameters[s];
      const double elements = own.elements, states = own.state_bytes;
      const double update =
          update_bytes_per_parameter(element, gradient, states / elements, cluster_.fused, loss_scale);
      const auto data_group = group(static_cast<int>(s), GroupKind::data);
      const bool scatters = shards && !cluster_.reduce_whole;
      exposed[s] = collective(scatters ? OpKind::reduce_scatter : OpKind::all_reduce, data_group, elements * gradient);
      if (each_micro_batch) {
        exposed[s] = cluster_.overlap ? chunks_[static_cast<std::size_t>(last_chunk_[s])].last_reduce : 0;
      } else if (cluster_.overlap) {
        // The last bucket can only be reduced when the last backward has ended.
        const double buckets = std::max(1.0, elements * gradient / (scenario_.plan.bucket_mib * 1048576));
        exposed[s] = std::max(exposed[s] / buckets, exposed[s] - last_backward_[s]);
      }
      count_reductions(static_cast<int>(s), elements, gradient, element);
      own_update[s] = memory_seconds(cluster_, elements * update / (shards ? grid_.data : 1));
      own_gather[s] =
          shards && scenario_.plan.zero < 3 ? collective(OpKind::all_gather, data_group, elements * element) : 0;
      reduced = std::max(reduced, end_[s] + exposed[s]);
      updating = std::max(updating, own_update[s]);
      gathering = std::max(gathering, own_gather[s]);
      (shards ? step_.zero : step_.data) += exposed[s] + own_gather[s];
      step_.optimizer += own_update[s];
    }
    count_messages();
    double embedding = 0;
    const int first = schedule_.stage_of_chunk.front(), last = schedule_.stage_of_chunk.back();
    if (model_.spec.tied && first != last) {
      // With shards each data rank has its part of it; other software sums it whole.
      const double parts = shards && cluster_.fused ? grid_.data : 1;
      const double bytes = static_cast<double>(model_.vocabulary_share() * model_.spec.width) * gradient / parts;
      embedding = collective(OpKind::all_reduce, group(first, GroupKind::embedding), bytes);
      for (const int stage : {first, last})
        traffic_.add_collective(stage, Purpose::embedding, OpKind::all_reduce, 1, 2, bytes);
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
    step_.bubble = step_.seconds - step_.compute - step_.recompute - step_.tensor - step_.pipeline - step_.data -
                   step_.zero - step_.optimizer;
    step_.model_flops = model_.model_flops_per_sample() * scenario_.train.global_batch;
    step_.hardware_flops =
        step_.model_flops + recomputed_flops_ * grid_.tensor * grid_.data * scenario_.plan.micro_batches;
  }

  const Scenario& scenario_;
  const ClusterSpec& cluster_;
  const Model& model_;
  RankGrid grid_;
  ChunkSchedule schedule_;
  std::vector<int> first_segment_;
  MeasuredOps measured_;
  Traffic traffic_;
  std::vector<ChunkSeconds> chunks_;
  double recomputed_flops_ = 0;  // of one rank of each stage and one micro-batch
  std::vector<double> end_, last_backward_;
  std::vector<int> last_chunk_;  ///< [stage]: of its last backward
  int drawn_stage_ = -1;
  std::vector<FoldedSpan> spans_;
  FoldedStep step_;
};

}  // namespace

BlockSeconds fold_block(const Scenario& scenario) {
  if (const std::string why = why_not_folded(scenario); !why.empty())
    throw std::invalid_argument("this plan cannot be folded: " + why);
  const Model model = make_model(scenario);
  return Folded(scenario, model).block();
}

double FoldedStep::mfu(const ClusterSpec& cluster, DType type, int ranks) const {
  return model_flops / (seconds * ranks * cluster.peak_flops(type));
}

double FoldedStep::hfu(const ClusterSpec& cluster, DType type, int ranks) const {
  return hardware_flops / (seconds * ranks * cluster.peak_flops(type));
}

const char* why_not_folded(const Scenario& scenario) {
  if (scenario.plan.data_parallel != "all-reduce") return "ranks of a data group are not alike";
  if (scenario.plan.offload != "none") return "the host's part of the step is not folded";
  if (scenario.plan.collective != "auto") return "a collective's algorithm is named";
  if (!has_topology(scenario.cluster)) return "the cluster does not say how its nodes hang together (cluster.rails)";
  return "";
}

FoldedStep fold_step(const Scenario& scenario) { return fold_step(scenario, make_model(scenario)); }

std::vector<FoldedSpan> fold_timeline(const Scenario& scenario, int rank) {
  if (const std::string why = why_not_folded(scenario); !why.empty())
    throw std::invalid_argument("this plan cannot be folded: " + why);
  const RankGrid grid = scenario.plan.grid();
  if (rank < 0 || rank >= grid.size())
    throw std::invalid_argument("the plan has ranks 0 to " + std::to_string(grid.size() - 1) + ", and no rank " +
                                std::to_string(rank));
  Scenario drawn = scenario;
  // The straggler's replica is drawn as it is; any other as the others are.
  const int slow = scenario.fault.slow_rank;
  if (slow >= 0 && grid.coordinates_of(slow).data != grid.coordinates_of(rank).data) drawn.fault.slow_rank = -1;
  const Model model = make_model(drawn);
  return Folded(drawn, model).timeline(grid.coordinates_of(rank).pipeline);
}

FoldedStep fold_step(const Scenario& scenario, const Model& model) {
  if (const std::string why = why_not_folded(scenario); !why.empty())
    throw std::invalid_argument("this plan cannot be folded: " + why);
  return Folded(scenario, model).run();
}

}  // namespace rankscope
