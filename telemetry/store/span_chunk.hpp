// Up to 2048 spans of one lane as columns, with a pyramid over them (fan-out 16): some 27 bytes per span.
//
// Spans are ordered by (begin, end, step, op). Rows and nodes are only written after those that a snapshot reads (its
// own count), so one writer and any number of readers share a chunk without a lock.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "telemetry/store/lane_ops.hpp"

namespace rankscope {

/// A span, with its op also as the lane's own number.
struct SpanRow {
  std::int64_t begin_ns = 0, active_ns = 0, end_ns = 0, cpu_ns = -1;
  OpId op;
  std::uint32_t step = 0;
  std::uint32_t number = 0;
  SpanClass kind = SpanClass::other;
};

/// Only ops with a peer can wait for one.
inline bool may_wait(SpanClass kind) { return kind == SpanClass::transfer || kind == SpanClass::collective; }

/// Sums over consecutive spans.
struct SpanSums {
  std::int64_t last_end_ns = INT64_MIN;  ///< the greatest end: spans may nest
  float longest_ns = 0;                  ///< rounded up
  float waiting_ns = 0;
  std::array<float, span_class_count> busy_ns{};  ///< without waiting
  void add(const SpanRow& row) { add(row.kind, row.begin_ns, row.active_ns, row.end_ns); }
  void add(SpanClass kind, std::int64_t begin_ns, std::int64_t active_ns, std::int64_t end_ns);
  void add(const SpanSums& sums);
};

class SpanChunk {
 public:
  using Row = SpanRow;
  static constexpr std::uint32_t capacity_limit = 2048;
  static constexpr std::uint32_t fan_out = 16, group = fan_out * fan_out;

  static bool before(const SpanRow& a, const SpanRow& b);

  SpanChunk(const LaneOps& ops, std::uint32_t capacity, const SpanRow& first);
  std::uint32_t capacity() const { return capacity_; }
  /// Narrow columns hold durations under 4.29 s, 65,536 ops, and steps near the first one; otherwise the chunk is wide.
  bool holds(const SpanRow& row) const { return wide_ || fits_narrow(row); }
  std::shared_ptr<SpanChunk> grown(std::uint32_t count, std::uint32_t capacity, const SpanRow& row) const;
  std::shared_ptr<SpanChunk> empty_copy(std::uint32_t capacity) const;
  void append(std::uint32_t count, const SpanRow& row);
  /// Appends rows [first, last) of another chunk, copied by columns. False if the two have different columns.
  bool append(std::uint32_t count, const SpanChunk& from, std::uint32_t first, std::uint32_t last);
  SpanRow at(std::uint32_t index) const;
  SpanSums sums(std::uint32_t count) const;  ///< of all rows, for the writer only
  std::uint32_t place_of(const SpanRow& row, std::uint32_t first, std::uint32_t last) const;
  std::int64_t bytes() const;

  const std::int64_t* begins() const { return begin_; }
  std::int64_t begin(std::uint32_t i) const { return begin_[i]; }
  std::int64_t duration(std::uint32_t i) const { return wide_ ? wide_duration_[i] : duration_[i]; }
  std::int64_t end(std::uint32_t i) const { return begin_[i] + duration(i); }
  std::int64_t wait(std::uint32_t i) const { return wide_ ? wide_wait_[i] : wait_[i]; }
  const LaneOp& op(std::uint32_t i) const { return (*ops_)[wide_ ? wide_op_[i] : op_[i]]; }
  std::uint32_t step(std::uint32_t i) const { return wide_ ? wide_step_[i] : base_step_ + step_[i]; }
  /// Sums of spans [16k, 16k + 16) or [256k, 256k + 256); valid once all of them exist.
  const SpanSums& sixteen(std::uint32_t k) const { return sixteens_[k]; }
  const SpanSums& group_sums(std::uint32_t k) const { return groups_[k]; }

 private:
  SpanChunk(const LaneOps& ops, std::uint32_t capacity, std::uint32_t base_step, bool wide);
  bool fits_narrow(const SpanRow& row) const;
  std::size_t column_bytes() const;
  void sum_up(std::uint32_t i, SpanClass kind);  ///< row i must be written

  const LaneOps* ops_;  // owned by the chunk's owner
  std::uint32_t capacity_;
  std::uint32_t base_step_;
  bool wide_;
  SpanSums open_sixteen_, open_group_;  // writer only; readers never access them
  /// All columns in one block: the memory freed with one chunk fits the next one, however long a run lasts.
  std::unique_ptr<std::byte[]> memory_;
  std::int64_t* begin_ = nullptr;
  std::uint32_t *duration_ = nullptr, *wait_ = nullptr, *cpu_ = nullptr;
  std::uint16_t *op_ = nullptr, *step_ = nullptr;
  std::int64_t *wide_duration_ = nullptr, *wide_wait_ = nullptr, *wide_cpu_ = nullptr;
  std::uint32_t *wide_op_ = nullptr, *wide_step_ = nullptr;
  SpanSums *sixteens_ = nullptr, *groups_ = nullptr;
};

/// A chunk as one snapshot reads it.
struct SpanChunkRef {
  std::shared_ptr<SpanChunk> chunk;
  std::uint32_t count = 0;
  std::uint32_t least_step = UINT32_MAX, greatest_step = 0;
  std::int64_t first_begin_ns = 0;
  SpanSums sums;  ///< of the first `summed` spans; of all in snapshots
  std::uint32_t summed = 0;
  std::int64_t reach_ns = INT64_MIN;  ///< the greatest end in this chunk and all before it; set in snapshots
  void add(const SpanRow& row);
  void copy(const SpanChunk& from, std::uint32_t first, std::uint32_t last);
  bool is_summed() const { return summed == count; }
  void sum_up();
};

}  // namespace rankscope
