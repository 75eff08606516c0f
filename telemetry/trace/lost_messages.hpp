// Finds the ranks whose messages are missing in a damaged trace: every sender numbers its messages without holes.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "telemetry/event/event.hpp"

namespace rankscope {

class LostMessages {
 public:
  /// In the order of the file.
  void accept(const Message& message);
  /// A gap for each hole that the recording itself did not tell of: from the last event before to the first one after.
  std::vector<Message> gaps() const;

 private:
  struct Hole {
    std::uint64_t first = 0, last = 0;
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  struct Sender {
    std::uint64_t greatest = 0;
    std::int64_t last_end_ns = INT64_MIN;
    std::vector<Hole> holes;  ///< by number
    std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  };
  std::map<std::int32_t, Sender> senders_;
  SessionId session_{};
};

}  // namespace rankscope
