#include "telemetry/relay/spool_follower.hpp"

#include <cstdio>
#include <filesystem>

namespace rankscope {
namespace {

constexpr auto look_every = std::chrono::milliseconds(200);

// The rank and segment in a spool file's name.
std::optional<std::pair<int, std::uint32_t>> key_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  int rank = 0;
  unsigned segment = 0;
  if (std::sscanf(name.c_str(), "rank-%d.detail-%u.spool", &rank, &segment) == 2) return std::pair(rank, segment);
  if (std::sscanf(name.c_str(), "rank-%d.spool", &rank) == 1) return std::pair(rank, 0u);
  return std::nullopt;
}

}  // namespace

void SpoolFollower::known_before(int rank, SpoolPosition position) {
  if (!reachable()) return;
  const Key key{rank, position.segment};
  if (const auto reader = readers_.find(key); reader != readers_.end()) {
    if (reader->second.offset() < position.offset) reader->second.seek(position.offset);
  } else {
    known_[key] = position.offset;
  }
}

void SpoolFollower::find_new_files(bool at_once) {
  const auto now = std::chrono::steady_clock::now();
  if (!at_once && now - looked_at_ < look_every) return;
  looked_at_ = now;
  for (const std::string& path : spool_files(directory_)) {
    const auto key = key_of(path);
    if (!key || readers_.contains(*key)) continue;
    const auto known = known_.find(*key);
    readers_.emplace(*key, SpoolReader(path, known == known_.end() ? 0 : known->second));
  }
}

bool SpoolFollower::catch_up(Exchange& exchange, std::size_t budget, bool thoroughly) {
  if (!reachable()) return true;
  find_new_files(thoroughly);
  std::vector<std::byte> payload;
  for (auto& [key, reader] : readers_) {
    for (;;) {
      const std::uint64_t at = reader.offset();
      if (reader.next(payload) != SpoolReader::Next::frame) break;
      const auto envelope = peek(payload);
      const std::size_t size = payload.size();
      if (envelope && !exchange.seen(envelope->rank, envelope->sequence) &&
          exchange.take(shared(std::move(payload)), SpoolPosition{key.second, at}).taken == Exchange::Taken::fresh)
        ++recovered_;
      if (size >= budget) return false;
      budget -= size;
    }
  }
  return true;
}

std::optional<std::vector<std::byte>> SpoolFollower::fetch(int rank, SpoolPosition position) {
  if (!reachable()) return std::nullopt;
  const Key key{rank, position.segment};
  if (!fetcher_ || fetcher_->first != key)
    fetcher_.emplace(key, SpoolReader(spool_file(directory_, rank, position.segment), position.offset));
  if (fetcher_->second.offset() != position.offset) fetcher_->second.seek(position.offset);
  std::vector<std::byte> payload;
  if (fetcher_->second.next(payload) != SpoolReader::Next::frame) return std::nullopt;
  return payload;
}

}  // namespace rankscope
