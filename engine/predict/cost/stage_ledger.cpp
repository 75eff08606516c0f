#include "engine/predict/cost/stage_ledger.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/predict/cost/host_copies.hpp"

namespace rankscope {
namespace {

ClassBytes classes(double parameters, double gradients, double optimizer, double activations, double buffers,
                   double host) {
  const auto whole = [](double bytes) { return static_cast<std::int64_t>(std::llround(bytes)); };
  return {whole(parameters), whole(gradients), whole(optimizer), whole(activations), whole(buffers), whole(host)};
}

/// As a program's ledger, without a cache.
struct Alone {
  Alone(const Scenario& scenario, const Model& model, const ChunkSchedule& of, const std::vector<int>& first_segment)
      : schedule(folded(of)),
        parameters(parameters_of_stages(scenario, model, of.stage_of_chunk, first_segment)),
        ledger(scenario, model, schedule, parameters, bytes_of_chunks(scenario, model, first_segment)) {}

  static std::vector<ChunkBytes> bytes_of_chunks(const Scenario& scenario, const Model& model,
                                                 const std::vector<int>& first_segment) {
    std::map<std::array<int, 3>, ChunkBytes> known;
    std::vector<ChunkBytes> chunks;
    for (std::size_t c = 0; c + 1 < first_segment.size(); ++c) {
      const int begin = first_segment[c], end = first_segment[c + 1];
      const auto [found, made] = known.try_emplace(parts_of(model, begin, end));
      if (made) found->second = bytes_of_chunk(scenario, model, begin, end);
      chunks.push_back(found->second);
    }
    return chunks;
  }

  FoldedSchedule schedule;
  std::vector<StageParameters> parameters;
  StageLedger ledger;
};

}  // namespace

/// Permanent bytes, and copies for the update.
struct StageLedger::Stage {
  double parameters = 0, gradients = 0, states = 0;
  double copies = 0;  ///< of all gradients, to be sent or for the update
  double host = 0;
  ClassBytes with(double more_gradients, double activations, double buffers) const {
    return classes(parameters, gradients + more_gradients, states, activations, buffers, host);
  }
};

StageLedger::StageLedger(const Scenario& scenario, const Model& model, const FoldedSchedule& schedule,
                         const std::vector<StageParameters>& parameters, std::vector<ChunkBytes> of_chunk)
    : scenario_(scenario),
      model_(model),
      schedule_(schedule),
      parameters_(parameters),
      of_chunk_(std::move(of_chunk)) {}

/// One transfer in each direction.
double StageLedger::messages(int stage) const {
  double bytes = 0;
  const int chunks = schedule_.shape.chunks();
  for (int c = 0; c < chunks; ++c) {
    if (stage_of(c) != stage) continue;
    const bool from_before = c > 0 && stage_of(c - 1) != stage, to_next = c + 1 < chunks && stage_of(c + 1) != stage;
    bytes = std::max(bytes, 2 * stream_bytes(model_) * (from_before + to_next));
  }
  return bytes;
}

/// A parameter's gradient in transfer to the sum.
double StageLedger::cast(int stage) const {
  const bool copied = scenario_.cluster.software.accumulation == Accumulation::copied;
  return copied ? parameters_[stage].largest * gradient_bytes(scenario_.cluster, model_.type) : 0;
}

double StageLedger::largest_part(int stage) const {
  double elements = 0;
  for (int c = 0; c < schedule_.shape.chunks(); ++c)
    if (stage_of(c) == stage) elements = std::max(elements, of(c).largest_part);
  return elements;
}

/// States, sums of gradients and those of the update in fp32 are the host's; two buckets are in transfer, and of the
/// largest parameter the fetched sum and a copy in fp32.
void StageLedger::to_host(Stage& bytes, const StageParameters& own, double bucket) const {
  const auto element = static_cast<double>(bytes_of(model_.type));
  const double updated = own.elements / (scenario_.plan.zero > 0 ? scenario_.plan.data : 1);
  const double wide = element < 4 ? 4 : 0;
  bytes.host = std::exchange(bytes.states, 0) + updated * (element + wide);
  bytes.gradients = std::min(2 * bucket, own.elements * element) + own.largest * (element + wide);
  bytes.copies = 0;
}

/// The greatest sum of the inputs of blocks that are on the host at one time.
double StageLedger::checkpoints_on_host(int stage) const {
  double now = 0, most = 0;
  for (const Pass& pass : schedule_.stages[stage].passes) {
    if (pass.op_kind() == OpKind::weight_gradient) continue;
    now += pass.op_kind() == OpKind::forward ? of_chunk_[pass.chunk].on_host : -of_chunk_[pass.chunk].on_host;
    most = std::max(most, now);
  }
  return most;
}

StageLedger::Stage StageLedger::stage(int stage) const {
  const ClusterSpec& cluster = scenario_.cluster;
  const PlanSpec& plan = scenario_.plan;
  const StageParameters& own = parameters_[stage];
  const auto element = static_cast<double>(bytes_of(model_.type));
  const double gradient = gradient_bytes(cluster, model_.type);
  Stage bytes;
  // A gradient that is copied to the sum stays allocated until the next backward overwrites it.
  const double kept_gradient = gradient + (cluster.software.accumulation == Accumulation::copied ? element : 0);
  const ModelStates states =
      model_states(own.elements, {element, kept_gradient, own.state_bytes / own.elements}, plan.zero, plan.data);
  // For an update in several passes, reduced gradients of fewer than four bytes are copied to fp32: those of this
  // rank's shard.
  if (!cluster.software.fused && gradient < 4) bytes.copies = 4 * own.elements / (plan.zero > 0 ? plan.data : 1);
  // Sums that are sent in fewer bytes are cast to a copy first: flat ones all at once (allreduce_bucket in
  // deepspeed/runtime/engine.py).
  if (const double sent = sent_gradient_bytes(cluster, model_.type); sent != gradient && plan.data > 1)
    bytes.copies = std::max(bytes.copies, sent * own.elements);
  // With shards, whole parameters and gradients of the active parts: one that computes, and one in transfer.
  const bool shards = plan.data > 1 && plan.zero >= 2;
  const double part = shards ? largest_part(stage) : 0;
  const double bucket = plan.zero == 3 ? part * gradient : std::max(own.largest * gradient, plan.bucket_mib * 1048576);
  bytes.parameters = states.parameters + (shards && plan.zero == 3 ? std::min(2 * part, own.elements) * element : 0);
  bytes.gradients = states.gradients + (shards ? std::min(2 * bucket, own.elements * gradient) : 0);
  bytes.states = states.optimizer;
  if (keeps_gradients_on_host(scenario_)) to_host(bytes, own, bucket);
  if (cluster.software.host_checkpoints) bytes.host += checkpoints_on_host(stage);
  return bytes;
}

/// Calls look(pass, activations, buffers, more gradients) for every moment of the stage's order that may be its peak;
/// for each pass the last call is for the time after it.
template <class Look>
void StageLedger::follow(int stage, Look look) const {
  const double on_their_way = messages(stage), being_cast = cast(stage);
  double alive = 0;
  for (const Pass& pass : schedule_.stages[stage].passes) {
    const ChunkBytes& chunk = of_chunk_[pass.chunk];
    switch (pass.op_kind()) {
      case OpKind::forward: alive += chunk.kept; break;
      case OpKind::weight_gradient:
        look(pass, alive, on_their_way, 0.0);
        alive -= chunk.halves;
        look(pass, alive, on_their_way, being_cast);
        break;
      case OpKind::input_gradient:
        look(pass, alive + std::max(chunk.again, chunk.halves - chunk.kept), chunk.transient, 0.0);
        alive += chunk.halves - chunk.kept;
        break;
      default:  // a schedule has no other kinds
        look(pass, alive + chunk.again, chunk.transient, 0.0);
        alive -= chunk.kept;
        look(pass, alive, on_their_way, being_cast);
        break;
    }
    look(pass, alive, on_their_way, 0.0);
  }
}

std::vector<StagePeaks> StageLedger::peaks() const {
  std::vector<StagePeaks> stages;
  for (int s = 0; s < schedule_.shape.stages; ++s) {
    StagePeaks peaks;
    peaks.buffers = messages(s);
    double most = 0;
    follow(s, [&](const Pass&, double activations, double buffers, double more_gradients) {
      peaks.activations = std::max(peaks.activations, activations);
      peaks.buffers = std::max(peaks.buffers, buffers);
      const double sum = activations + buffers + more_gradients;
      if (sum <= most) return;
      most = sum;
      peaks.activations_then = activations;
      peaks.buffers_then = buffers;
      peaks.gradients_then = more_gradients;
    });
    stages.push_back(peaks);
  }
  return stages;
}

std::vector<StageMemory> StageLedger::memory(const std::vector<StagePeaks>& peaks) const {
  std::vector<StageMemory> memory;
  for (int s = 0; s < schedule_.shape.stages; ++s) {
    const Stage with = stage(s);
    const StagePeaks& most = peaks[s];
    StageMemory of_stage;
    of_stage.peak_by_class = with.with(std::max(with.copies, cast(s)), most.activations, most.buffers);
    of_stage.at_peak = most.most() >= with.copies
                           ? with.with(most.gradients_then, most.activations_then, most.buffers_then)
                           : with.with(with.copies, 0, 0);
    memory.push_back(of_stage);
  }
  return memory;
}

std::vector<MemoryLevel> StageLedger::levels(int stage) const {
  const Stage with = this->stage(stage);
  std::vector<MemoryLevel> levels;
  follow(stage, [&](const Pass& pass, double activations, double buffers, double more_gradients) {
    const ClassBytes bytes = with.with(more_gradients, activations, buffers);
    const OpId op = pass.id();
    if (levels.empty() || levels.back().op != op) levels.push_back({op, bytes, bytes});
    if (device_sum(bytes) > device_sum(levels.back().during)) levels.back().during = bytes;
    levels.back().after = bytes;
  });
  const ClassBytes between = with.with(0, 0, 0);
  levels.push_back({OpId::of({OpKind::optimizer, Purpose::none, -1, -1, -1, Segment::update}),
                    with.with(with.copies, 0, 0), between});
  return levels;
}

std::vector<StageMemory> fold_memory(const Scenario& scenario, const Model& model, const ChunkSchedule& schedule,
                                     const std::vector<int>& first_segment) {
  const Alone alone(scenario, model, schedule, first_segment);
  return alone.ledger.memory(alone.ledger.peaks());
}

}  // namespace rankscope
