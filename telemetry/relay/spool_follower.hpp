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
  /// `directory` empty: no spool can be reached.
  explicit SpoolFollower(std::string directory) : directory_(std::move(directory)) {}

  bool reachable() const { return !directory_.empty(); }
  /// All before this frame of the rank's file is known already.
  void known_before(int rank, SpoolPosition position);
  /// Continues reading, at most `budget` bytes, and gives the exchange its missing messages. True when all files
  /// are read to their current end. `thoroughly`: looks for new files first, which is otherwise done periodically.
  bool catch_up(Exchange& exchange, std::size_t budget, bool thoroughly = false);
  /// One message again, from where it lies.
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
