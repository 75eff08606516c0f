// Finds the ranks whose messages are missing in a damaged trace: every sender numbers its messages without holes.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "telemetry/event/event.hpp"
#include "telemetry/event/sequence_set.hpp"

namespace rankscope {

class LostMessages {
 public:
  /// Call it in the order of the file.
  void accept(const Message& message);
  /// A gap for each hole that the recording did not report: from the last event before it to the first one after.
  std::vector<Message> gaps() const;

 private:
  /// Numbers that were skipped; some of them may have arrived later.
  struct Hole {
    SequenceSet::Interval numbers;
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  struct Sender {
    SequenceSet seen, reported;
    std::int64_t last_end_ns = INT64_MIN;
    std::vector<Hole> holes;  ///< by number
  };
  std::map<std::int32_t, Sender> senders_;
  SessionId session_{};
};

}  // namespace rankscope
