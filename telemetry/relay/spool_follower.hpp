// Fetches messages from the ranks' spools that did not arrive through the socket: detail beyond the window, and the
// last messages of a killed rank.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/relay/exchange.hpp"
#include "telemetry/stream/spool.hpp"

namespace rankscope {

class SpoolFollower {
 public:
  /// `directory` empty: no spool can be read.
  explicit SpoolFollower(std::string directory) : directory_(std::move(directory)) {}

  bool reachable() const { return !directory_.empty(); }
  /// All messages before this frame of the rank's file have arrived.
  void known_before(int rank, SpoolPosition position);
  /// Continues reading, at most `budget` bytes, and passes the missing messages to the exchange. True if all files are
  /// read to their current end. `thoroughly`: searches for new files first, which otherwise is done periodically.
  bool catch_up(Exchange& exchange, std::size_t budget, bool thoroughly = false);
  /// Reads one message again, from its position.
  std::optional<std::vector<std::byte>> fetch(int rank, SpoolPosition position);

  std::int64_t recovered() const { return recovered_; }

 private:
  using Key = std::pair<int, std::uint32_t>;  // rank, segment
  void find_new_files(bool at_once);

  std::string directory_;
  std::map<Key, SpoolReader> readers_;
  std::map<Key, std::uint64_t> known_;
  std::chrono::steady_clock::time_point looked_at_{};
  std::optional<std::pair<Key, SpoolReader>> fetcher_;
  std::int64_t recovered_ = 0;
};

}  // namespace rankscope
