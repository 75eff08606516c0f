// The memory of one rank over time: samples in order of time, with the least and the greatest sum of every sixteen.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "telemetry/store/chunk_list.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

struct NoContext {};

class MemoryChunk {
 public:
  using Row = MemorySample;
  static constexpr std::uint32_t capacity_limit = 1024;
  static constexpr std::uint32_t fan_out = 16;
  /// By time, step, op and bytes: only samples with all of these equal are duplicates.
  static bool before(const MemorySample& a, const MemorySample& b);
  static std::int64_t sum(const MemorySample& sample);  ///< of the device

  MemoryChunk(const NoContext&, std::uint32_t capacity, const MemorySample&);
  std::uint32_t capacity() const { return capacity_; }
  bool holds(const MemorySample&) const { return true; }
  std::shared_ptr<MemoryChunk> grown(std::uint32_t count, std::uint32_t capacity, const MemorySample&) const;
  std::shared_ptr<MemoryChunk> empty_copy(std::uint32_t capacity) const;
  void append(std::uint32_t count, const MemorySample& row);
  std::uint32_t place_of(const MemorySample& row, std::uint32_t first, std::uint32_t last) const;
  const MemorySample& at(std::uint32_t i) const { return rows_[i]; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof *this + capacity_ * sizeof(MemorySample) +
                                     capacity_ / fan_out * sizeof(Extremes));
  }
  /// Indices of the first least and the first greatest sum.
  struct Extremes {
    std::uint16_t least = 0, greatest = 0;
  };
  /// Of samples [16k, 16k + 16); valid once all of them exist.
  const Extremes& sixteen(std::uint32_t k) const { return sixteens_[k]; }

 private:
  std::uint32_t capacity_;
  std::unique_ptr<MemorySample[]> rows_;
  std::unique_ptr<Extremes[]> sixteens_;
};

struct MemoryChunkRef {
  std::shared_ptr<MemoryChunk> chunk;
  std::uint32_t count = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  std::uint32_t greatest_step = 0;
  MemorySample least, greatest;  ///< the first of the least and of the greatest sum
  void add(const MemorySample& row);
  void copy(const MemoryChunk& from, std::uint32_t first, std::uint32_t last);
  bool is_summed() const { return true; }
  void sum_up() {}
};

struct MemoryView {
  std::vector<MemoryChunkRef> chunks;
  std::int64_t count = 0;
};

class MemoryColumn {
 public:
  MemoryColumn() : samples_(context_) {}
  MemoryColumn(const MemoryColumn&) = delete;
  MemoryColumn& operator=(const MemoryColumn&) = delete;
  void add(const MemorySample& sample);
  std::shared_ptr<const MemoryView> view();
  std::int64_t bytes() const { return samples_.bytes(); }
  std::int64_t count() const { return samples_.count(); }
  std::int64_t oldest_end_ns() const;
  struct Evicted {
    std::int64_t begin_ns = 0, end_ns = 0, count = 0;
  };
  Evicted evict_oldest();

 private:
  NoContext context_;
  ChunkList<MemoryChunk, MemoryChunkRef, NoContext> samples_;
  std::shared_ptr<const MemoryView> view_;
};

/// The sample valid when `range` begins, if any, then at most two samples per bucket: the first of the least and of the
/// greatest sum, in order of time. Times as stamped.
std::vector<MemorySample> memory_in(const MemoryView& memory, TimeRange range, int buckets);

}  // namespace rankscope
