// The ops of one lane under small numbers of its own, in the order they first came: every step runs the same ops again.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

struct LaneOp {
  OpId id;
  SpanClass kind = SpanClass::other;
};

/// Append-only, and nothing moves: readers use the numbers that their snapshot's rows hold while the writer adds more.
class LaneOps {
 public:
  const LaneOp& operator[](std::uint32_t number) const {
    const std::uint32_t shifted = number + first_segment;
    const auto k = static_cast<std::uint32_t>(std::bit_width(shifted)) - first_segment_bits;
    return segments_[k][shifted - (first_segment << k)];
  }
  /// The op's number, a new one if it has none yet. Writer only.
  std::uint32_t number(OpId op) {
    const auto [entry, is_new] = numbers_.try_emplace(op.value(), size_);
    if (is_new) {
      const std::uint32_t shifted = size_ + first_segment;
      const auto k = static_cast<std::uint32_t>(std::bit_width(shifted)) - first_segment_bits;
      if (!segments_[k]) segments_[k] = std::make_unique<LaneOp[]>(std::size_t{first_segment} << k);
      segments_[k][shifted - (first_segment << k)] = {op, class_of(op)};
      ++size_;
    }
    return entry->second;
  }
  std::uint32_t size() const { return size_; }  ///< writer only

 private:
  static constexpr std::uint32_t first_segment = 32, first_segment_bits = 6;  // segments of 32, 64, 128, …
  std::array<std::unique_ptr<LaneOp[]>, 27> segments_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint32_t size_ = 0;
};

}  // namespace rankscope
