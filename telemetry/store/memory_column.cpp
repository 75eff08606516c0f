#include "telemetry/store/memory_column.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>

namespace rankscope {

bool MemoryChunk::before(const MemorySample& a, const MemorySample& b) {
  return std::tie(a.time_ns, a.step, a.op, a.bytes) < std::tie(b.time_ns, b.step, b.op, b.bytes);
}

std::int64_t MemoryChunk::sum(const MemorySample& sample) { return device_sum(sample.bytes); }

MemoryChunk::MemoryChunk(const NoContext&, std::uint32_t capacity, const MemorySample&)
    : capacity_(capacity),
      rows_(std::make_unique<MemorySample[]>(capacity)),
      sixteens_(std::make_unique<Extremes[]>(capacity / fan_out)) {}

std::shared_ptr<MemoryChunk> MemoryChunk::grown(std::uint32_t count, std::uint32_t capacity,
                                                const MemorySample& row) const {
  auto copy = std::make_shared<MemoryChunk>(NoContext{}, capacity, row);
  std::copy_n(rows_.get(), count, copy->rows_.get());
  std::copy_n(sixteens_.get(), count / fan_out, copy->sixteens_.get());
  return copy;
}

std::shared_ptr<MemoryChunk> MemoryChunk::empty_copy(std::uint32_t capacity) const {
  return std::make_shared<MemoryChunk>(NoContext{}, capacity, MemorySample{});
}

std::uint32_t MemoryChunk::place_of(const MemorySample& row, std::uint32_t first, std::uint32_t last) const {
  return static_cast<std::uint32_t>(std::lower_bound(rows_.get() + first, rows_.get() + last, row, before) -
                                    rows_.get());
}

void MemoryChunk::append(std::uint32_t i, const MemorySample& row) {
  rows_[i] = row;
  if (i % fan_out != fan_out - 1) return;
  Extremes extremes{static_cast<std::uint16_t>(i - (fan_out - 1)), static_cast<std::uint16_t>(i - (fan_out - 1))};
  for (std::uint32_t k = i - (fan_out - 1); k <= i; ++k) {
    if (sum(rows_[k]) < sum(rows_[extremes.least])) extremes.least = static_cast<std::uint16_t>(k);
    if (sum(rows_[k]) > sum(rows_[extremes.greatest])) extremes.greatest = static_cast<std::uint16_t>(k);
  }
  sixteens_[i / fan_out] = extremes;
}

void MemoryChunkRef::add(const MemorySample& row) {
  if (count == 0) {
    first_ns = row.time_ns;
    least = greatest = row;
  }
  last_ns = row.time_ns;
  greatest_step = std::max(greatest_step, row.step);
  if (MemoryChunk::sum(row) < MemoryChunk::sum(least)) least = row;
  if (MemoryChunk::sum(row) > MemoryChunk::sum(greatest)) greatest = row;
}

void MemoryChunkRef::copy(const MemoryChunk& from, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t i = first; i < last; ++i) {
    chunk->append(count, from.at(i));
    add(from.at(i));
    ++count;
  }
}

void MemoryColumn::add(const MemorySample& sample) {
  samples_.add(sample);
  view_.reset();
}

std::shared_ptr<const MemoryView> MemoryColumn::view() {
  if (view_) return view_;
  samples_.settle();
  view_ = std::make_shared<const MemoryView>(MemoryView{samples_.refs(), samples_.count()});
  return view_;
}

std::int64_t MemoryColumn::oldest_end_ns() const {
  return samples_.refs().size() > 1 ? samples_.refs().front().last_ns : INT64_MAX;
}

MemoryColumn::Evicted MemoryColumn::evict_oldest() {
  const MemoryChunkRef& first = samples_.refs().front();
  const Evicted evicted{first.first_ns, samples_.refs()[1].first_ns, first.count};
  samples_.drop_first();
  view_.reset();
  return evicted;
}

namespace {

class Buckets {
 public:
  Buckets(TimeRange range, int buckets, std::vector<MemorySample>& out)
      : range_(range), scale_(static_cast<double>(buckets) / static_cast<double>(range.length())), out_(out) {}

  std::int64_t bucket(std::int64_t time) const {
    return static_cast<std::int64_t>(static_cast<double>(time - range_.begin_ns) * scale_);
  }
  bool single(std::int64_t first, std::int64_t last) const {
    return first >= range_.begin_ns && last < range_.end_ns && bucket(first) == bucket(last);
  }
  void put(const MemorySample& sample) {
    if (sample.time_ns < range_.begin_ns || sample.time_ns >= range_.end_ns) return;
    const std::int64_t b = bucket(sample.time_ns);
    if (b != current_) {
      flush();
      current_ = b;
      least_ = greatest_ = sample;
      return;
    }
    // A node stores its minimum before its maximum, in any order of time: of equal values the earlier one is kept.
    const std::int64_t sum = MemoryChunk::sum(sample);
    const std::int64_t low = MemoryChunk::sum(least_), high = MemoryChunk::sum(greatest_);
    if (sum < low || (sum == low && MemoryChunk::before(sample, least_))) least_ = sample;
    if (sum > high || (sum == high && MemoryChunk::before(sample, greatest_))) greatest_ = sample;
  }
  void flush() {
    if (current_ < 0) return;
    const bool least_first = MemoryChunk::before(least_, greatest_);
    out_.push_back(least_first ? least_ : greatest_);
    if (!(least_ == greatest_)) out_.push_back(least_first ? greatest_ : least_);
  }

 private:
  TimeRange range_;
  double scale_;
  std::vector<MemorySample>& out_;
  std::int64_t current_ = -1;
  MemorySample least_, greatest_;
};

}  // namespace

std::vector<MemorySample> memory_in(const MemoryView& memory, TimeRange range, int buckets) {
  std::vector<MemorySample> out;
  if (range.empty() || buckets <= 0) return out;
  // Chunks follow each other in time, so the last one to begin before the range has the value valid there.
  auto ref = std::partition_point(memory.chunks.begin(), memory.chunks.end(),
                                  [&](const MemoryChunkRef& r) { return r.first_ns < range.begin_ns; });
  if (ref != memory.chunks.begin()) {
    --ref;
    const auto after = std::ranges::partition_point(
        std::views::iota(0u, ref->count), [&](std::uint32_t i) { return ref->chunk->at(i).time_ns < range.begin_ns; });
    out.push_back(ref->chunk->at(*(after - 1)));
  }
  Buckets sink(range, buckets, out);
  for (; ref != memory.chunks.end() && ref->first_ns < range.end_ns; ++ref) {
    if (sink.single(ref->first_ns, ref->last_ns)) {
      sink.put(ref->least);
      sink.put(ref->greatest);
      continue;
    }
    const MemoryChunk& chunk = *ref->chunk;
    for (std::uint32_t i = 0; i < ref->count;) {
      const std::uint32_t stop = std::min(ref->count, i + MemoryChunk::fan_out);
      if (stop - i == MemoryChunk::fan_out && sink.single(chunk.at(i).time_ns, chunk.at(stop - 1).time_ns)) {
        sink.put(chunk.at(chunk.sixteen(i / MemoryChunk::fan_out).least));
        sink.put(chunk.at(chunk.sixteen(i / MemoryChunk::fan_out).greatest));
      } else {
        for (std::uint32_t k = i; k < stop; ++k) sink.put(chunk.at(k));
      }
      i = stop;
    }
  }
  sink.flush();
  return out;
}

}  // namespace rankscope
