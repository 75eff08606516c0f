// The ops of one lane, numbered per lane in order of first arrival: every step runs the same ops again.
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
  std::uint32_t follower = 0;  ///< the number that followed it last time; used by the writer only
};

/// Append-only, and elements never move: readers use the numbers in their snapshot's rows while the writer adds more.
class LaneOps {
 public:
  const LaneOp& operator[](std::uint32_t number) const {
    const Place place = place_of(number);
    return segments_[place.segment][place.offset];
  }
  /// The op's number; a new one if it has none yet. Writer only.
  std::uint32_t number(OpId op) {
    // Steps repeat each other, so the previous follower is nearly always right, or, if that op was lost or is late, the
    // follower's follower; this avoids a look-up that misses the cache.
    if (last_) {
      std::uint32_t guess = last_->follower;
      for (int skipped = 0; skipped < 2; ++skipped) {
        LaneOp& guessed = at(guess);
        if (guessed.id == op) {
          last_ = &guessed;
          return guess;
        }
        guess = guessed.follower;
      }
    }
    const auto [entry, is_new] = numbers_.try_emplace(op.value(), size_);
    const std::uint32_t number = entry->second;
    if (is_new) {
      const Place place = place_of(size_++);
      if (!segments_[place.segment])
        segments_[place.segment] = std::make_unique<LaneOp[]>(std::size_t{first_segment} << place.segment);
      segments_[place.segment][place.offset] = {op, class_of(op)};
    }
    if (last_) last_->follower = number;
    last_ = &at(number);
    return number;
  }

 private:
  static constexpr std::uint32_t first_segment = 32, first_segment_bits = 6;  // segments of 32, 64, 128, …
  struct Place {
    std::uint32_t segment, offset;
  };
  static Place place_of(std::uint32_t number) {
    const std::uint32_t shifted = number + first_segment;
    const auto segment = static_cast<std::uint32_t>(std::bit_width(shifted)) - first_segment_bits;
    return {segment, shifted - (first_segment << segment)};
  }
  LaneOp& at(std::uint32_t number) {
    const Place place = place_of(number);
    return segments_[place.segment][place.offset];
  }

  std::array<std::unique_ptr<LaneOp[]>, 27> segments_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint32_t size_ = 0;
  LaneOp* last_ = nullptr;
};

}  // namespace rankscope
