// All spans of one lane: the writer's side, and the snapshot that it returns.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "telemetry/store/chunk_list.hpp"
#include "telemetry/store/span_chunk.hpp"

namespace rankscope {

/// Which ops of which steps have arrived: one bit each, so that every span is checked for a duplicate.
class SeenOps {
 public:
  /// False if it was present, or may have been because its step was evicted.
  bool insert(std::uint32_t step, std::uint32_t number);
  /// Removes some or all of the steps before this one.
  void forget_before(std::uint32_t step);
  std::int64_t bytes() const { return bytes_; }

 private:
  static constexpr std::uint32_t page_steps = 16;
  static constexpr std::int64_t page_bytes = 64;  ///< without its bits
  struct Page {
    std::uint32_t words = 0;  // a step
    std::vector<std::uint64_t> bits;
  };
  std::unordered_map<std::uint32_t, Page> pages_;
  Page* last_ = nullptr;
  std::uint32_t last_index_ = 0;
  std::uint32_t first_index_ = 0;  ///< pages before it are forgotten
  std::int64_t bytes_ = 0;
};

/// A snapshot of a lane; times as stamped.
struct LaneView {
  LaneKey key;
  std::shared_ptr<const LaneOps> ops;
  std::vector<SpanChunkRef> chunks;
  std::int64_t count = 0;
  std::int64_t forgotten_until_ns = INT64_MIN;  ///< before this, spans were evicted
};

class LaneColumn {
 public:
  explicit LaneColumn(LaneKey key);
  LaneColumn(const LaneColumn&) = delete;
  LaneColumn& operator=(const LaneColumn&) = delete;

  /// Adds a span of this lane. False if a span of this op and step was added before (the first one is kept), or if the
  /// complete step was evicted.
  bool add(const Span& span);
  /// The current snapshot; created again only if something changed.
  std::shared_ptr<const LaneView> view();

  const LaneKey& key() const { return key_; }
  std::int64_t bytes() const { return spans_.bytes() + seen_.bytes(); }
  std::int64_t count() const { return spans_.count(); }
  std::int64_t late_count() const { return spans_.late_count(); }

  /// End of the oldest chunk that can be evicted (all but the last); INT64_MAX if there is none.
  std::int64_t oldest_end_ns() const;
  struct Evicted {
    std::int64_t begin_ns = 0, end_ns = 0, count = 0;
    std::uint32_t greatest_step = 0;
  };
  Evicted evict_oldest();

 private:
  LaneKey key_;
  std::shared_ptr<LaneOps> ops_;
  ChunkList<SpanChunk, SpanChunkRef, LaneOps> spans_;
  SeenOps seen_;
  std::int64_t forgotten_until_ns_ = INT64_MIN;
  std::shared_ptr<const LaneView> view_;
};

}  // namespace rankscope
