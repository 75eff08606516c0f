// Fetches from the ranks' spools what did not come through the socket: detail that the window had no room for, and the
// last words of a rank that was killed.
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
  /// Reads on from where it stopped, at most `budget` bytes, and gives the exchange what it lacks. True when all files
  /// are read to their present end. `thoroughly`: looks for new files first, which is otherwise done now and then.
  bool catch_up(Exchange& exchange, std::size_t budget, bool thoroughly = false);
  /// One message again, from where it lies.
  std::optional<std::vector<std::byte>> fetch(int rank, SpoolPosition position);

  std::int64_t recovered() const { return recovered_; }

 private:
  using Key = std::pair<int, std::uint32_t>;  // rank, segment
  void look_for_files(bool at_once);

  std::string directory_;
  std::map<Key, SpoolReader> readers_;
  std::map<Key, std::uint64_t> known_;
  std::chrono::steady_clock::time_point looked_at_{};
  std::optional<std::pair<Key, SpoolReader>> fetcher_;
  std::int64_t recovered_ = 0;
};

}  // namespace rankscope
