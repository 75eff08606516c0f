// Marks: a user's notes on a time, a range or an op of a recording. They are saved in the recording, as separate MCAP
// metadata records, each with its checksum, so that everyone who opens the file has them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"
#include "telemetry/trace/mcap.hpp"

namespace rankscope {

struct TraceMark {
  TimeRange time;  ///< on the common clock of its origin; a mark at a single time ends where it begins
  Obtained obtained = Obtained::measured;
  std::optional<std::uint32_t> step;
  std::int32_t rank = -1;  ///< of the op; -1: a time or a range of all ranks
  OpId op;                 ///< invalid: none
  std::string text;        ///< UTF-8
  bool operator==(const TraceMark&) const = default;
};

/// The limits for marks in a recording, so that a malicious file cannot exhaust a reader's memory.
inline constexpr std::size_t most_marks = 500, greatest_mark_bytes = 2000;

/// To a record with its checksum, and back: nullopt if it is not a mark, or its checksum is wrong.
mcap::Metadata metadata_of(const TraceMark& mark);
std::optional<TraceMark> mark_of(const mcap::Metadata& metadata);

/// Replaces the marks `before` of a recording by `after`. A new file is written beside the recording, with the same
/// data byte for byte, and then renamed: after a crash one of the two exists. Throws TraceError and leaves the file
/// unchanged if it cannot be written or is write-protected, is damaged or still being recorded, if its marks are no
/// longer `before` because another program has changed them, or if `after` is too large.
void save_marks(const std::string& path, const std::vector<TraceMark>& before, const std::vector<TraceMark>& after);

}  // namespace rankscope
