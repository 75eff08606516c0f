#include "engine/plan/program/bucket.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/plan/optimizer_rule/rule.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t first_bucket_bytes = 1 << 20;  // PyTorch DDP's: the first all-reduce should start early
constexpr std::int64_t aligned_elements = 16;         // a cache line of fp32

/// A parameter's place in the rank's model: its first chunk, and its first segment.
struct Home {
  int chunk = -1, block = -1;
  Segment segment = Segment::whole;
};

/// True when both are of one block, or both outside the blocks on the same side of them.
bool same_part(const Home& a, const Home& b) {
  return a.block == b.block && (a.block >= 0 || is_before_blocks(a.segment) == is_before_blocks(b.segment));
}

std::map<int, Home> homes_of(const StepProgram& step, int stage) {
  std::map<int, Home> homes;
  for (int chunk = 0; chunk < step.schedule.shape.chunks(); ++chunk) {
    if (step.schedule.stage_of_chunk[chunk] != stage) continue;
    for (int s = step.first_segment[chunk]; s < step.first_segment[chunk + 1]; ++s) {
      const SegmentSpec& segment = step.model.segments[s];
      for (const int p : segment.parameters) homes.emplace(p, Home{chunk, segment.block, segment.kind});
    }
  }
  return homes;
}

}  // namespace

std::vector<int> completion_order(const StepProgram& step, int stage) {
  std::vector<int> order;
  for (int chunk = step.schedule.shape.chunks() - 1; chunk >= 0; --chunk) {
    if (step.schedule.stage_of_chunk[chunk] != stage) continue;
    for (int s = step.first_segment[chunk + 1] - 1; s >= step.first_segment[chunk]; --s)
      for (const int p : step.model.segments[s].parameters) {
        std::erase(order, p);
        order.push_back(p);
      }
  }
  return order;
}

namespace {

/// The order of a stage's parameters in its buckets: completion_order, except that those which tensor ranks sum are
/// adjacent within a chunk (at its end, since their bucket is complete only with the last one), or in ZeRO's stage 3 at
/// the start of each group that is gathered together.
std::vector<int> bucket_order(const StepProgram& step, int stage, const std::map<int, Home>& homes) {
  std::vector<int> order = completion_order(step, stage);
  if (!step.model.sequence_parallel) return order;
  const bool gathers = step.zero() == 3;
  const auto together = [&](int a, int b) {
    return homes.at(a).chunk == homes.at(b).chunk && (!gathers || same_part(homes.at(a), homes.at(b)));
  };
  for (auto begin = order.begin(); begin != order.end();) {
    const auto end = std::find_if_not(begin, order.end(), [&](int p) { return together(*begin, p); });
    std::stable_partition(begin, end, [&](int p) { return step.model.sums_gradient(p) == gathers; });
    begin = end;
  }
  return order;
}

}  // namespace

std::vector<Bucket> buckets_of(const StepProgram& step, int stage) {
  const std::map<int, Home> homes = homes_of(step, stage);
  const int zero = step.zero();
  const std::int64_t grain =
      zero > 0 ? std::lcm(aligned_elements, optimizer_rule(step.scenario.train.optimizer).grain) : aligned_elements;
  const auto up_to = [](std::int64_t elements, std::int64_t unit) { return (elements + unit - 1) / unit * unit; };
  const auto limit = static_cast<std::int64_t>(step.scenario.plan.bucket_mib * (1 << 20));
  const int embedding = step.model.segments.front().parameters.front();
  const bool embedding_alone =
      step.model.spec.tied &&
      (zero == 3 || (zero > 0 && step.schedule.stage_of_chunk.front() != step.schedule.stage_of_chunk.back()));

  std::vector<Bucket> buckets;
  bool open = false;
  std::int64_t bytes = 0;
  const Home* before = nullptr;
  bool summed_before = false;
  for (const int p : bucket_order(step, stage, homes)) {
    const std::int64_t elements = step.model.parameters[p].shape.elements();
    const Home& home = homes.at(p);
    const bool alone = embedding_alone && p == embedding, summed = step.model.sums_gradient(p);
    const bool other_unit =
        before && (home.chunk != before->chunk || (zero == 3 ? !same_part(home, *before) : summed != summed_before));
    if (!open || alone || other_unit) {
      buckets.push_back({static_cast<int>(buckets.size()), home.chunk, {}, 0});
      bytes = 0;
    }
    Bucket& bucket = buckets.back();
    bucket.entries.push_back({p, bucket.elements, elements});
    bucket.elements += up_to(elements, grain);
    if (summed) bucket.summed = bucket.elements;
    bytes += elements * bytes_of(accumulation_type(step.model.type));
    before = &home;
    summed_before = summed;
    const std::int64_t size = bucket.index == 0 ? std::min(first_bucket_bytes, limit) : limit;
    open = !alone && (zero == 3 || bytes < size);
  }
  for (Bucket& bucket : buckets) bucket.elements = up_to(bucket.elements, grain * step.grid.data);
  return buckets;
}

Bucket server_bucket(const StepProgram& step) {
  const std::int64_t update_grain = optimizer_rule(step.scenario.train.optimizer).grain;
  const std::int64_t grain = std::lcm(aligned_elements, std::max<std::int64_t>(update_grain, 1));
  const auto up_to = [](std::int64_t elements, std::int64_t unit) { return (elements + unit - 1) / unit * unit; };
  Bucket bucket;
  for (const int p : completion_order(step, 0)) {
    const std::int64_t elements = step.model.parameters[p].shape.elements();
    bucket.entries.push_back({p, bucket.elements, elements});
    bucket.elements += up_to(elements, grain);
  }
  bucket.elements = up_to(bucket.elements, grain * step.grid.servers);
  return bucket;
}

BufferIndex view_shard(RankProgram& program, const Bucket& bucket, BufferIndex base, int shard, int shards,
                       std::string name) {
  const Buffer& whole = program.buffers[base];
  const std::int64_t elements = bucket.elements / shards;
  Buffer view{std::move(name), whole.role,       whole.memory, whole.type,
              {elements},      whole.persistent, -1,           whole.micro_batch};
  view.within = static_cast<int>(base);
  view.at = shard * elements * bytes_of(whole.type);
  return program.add(std::move(view));
}

void add_pieces(RankProgram& program, const StepProgram& step, const Bucket& bucket, BufferIndex buffer, int shard,
                int shards, const std::string& prefix) {
  const std::int64_t size = bucket.elements / shards, begin = size * shard, end = begin + size;
  for (const BucketEntry& entry : bucket.entries) {
    const std::int64_t lo = std::max(begin, entry.at), hi = std::min(end, entry.at + entry.elements);
    if (lo >= hi) continue;
    const ParameterSpec& spec = step.model.parameters[entry.parameter];
    const Buffer& part = program.buffers[buffer];
    Buffer piece{prefix + spec.name, part.role,       part.memory,     part.type,
                 {hi - lo},          part.persistent, entry.parameter, part.micro_batch};
    if (hi - lo == entry.elements) piece.shape = spec.shape;
    piece.first = lo - entry.at;
    piece.within = static_cast<int>(base_of(program.buffers, buffer));
    piece.at = part.at + (lo - begin) * bytes_of(part.type);
    piece.piece = true;
    program.buffers.push_back(std::move(piece));
  }
}

BufferIndex add_base(RankProgram& program, const Bucket& bucket, std::string name,
                     const std::vector<BufferIndex>& members) {
  const auto base = static_cast<BufferIndex>(program.buffers.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    Buffer& member = program.buffers[members[i]];
    member.within = static_cast<int>(base);
    member.at = bucket.entries[i].at * bytes_of(member.type);
  }
  const Buffer& like = program.buffers[members.front()];
  program.buffers.push_back({std::move(name), like.role, like.memory, like.type, Shape{bucket.elements},
                             like.persistent, -1, like.micro_batch});
  return base;
}

WholeBuffers::WholeBuffers(const RankProgram& program, BufferRole role) {
  for (BufferIndex b = 0; b < program.buffers.size(); ++b)
    if (const Buffer& buffer = program.buffers[b];
        buffer.role == role && buffer.parameter >= 0 && !buffer.piece && buffer.persistent && !buffer.host)
      of_parameter_[buffer.parameter] = b;
}

std::vector<BufferIndex> WholeBuffers::of(const Bucket& bucket) const {
  std::vector<BufferIndex> buffers;
  for (const BucketEntry& entry : bucket.entries) buffers.push_back(of_parameter_.at(entry.parameter));
  return buffers;
}

}  // namespace rankscope
