#include "telemetry/relay/viewer_feed.hpp"

#include <algorithm>

namespace rankscope {
namespace {

// Unacknowledged messages and bytes, whatever the viewer grants: bounds the memory if a viewer stops reading.
constexpr std::size_t most_messages_under_way = 512;
constexpr std::size_t most_bytes_under_way = std::size_t{8} << 20;
constexpr std::size_t most_fetches_per_call = 64;

}  // namespace

ViewerFeed::ViewerFeed(std::uint64_t generation, std::uint64_t position, std::uint64_t detail_allowed,
                       std::map<std::int32_t, SequenceSet> has)
    : generation_(generation), log_position_(position), detail_allowed_(detail_allowed), has_(std::move(has)) {}

void ViewerFeed::grant(std::uint64_t received, std::uint64_t detail_allowed) {
  received = std::min(received, number_);
  for (; acknowledged_ < received; ++acknowledged_) {
    bytes_under_way_ -= under_way_.front();
    under_way_.pop_front();
  }
  detail_allowed_ = std::max(detail_allowed_, detail_allowed);
}

bool ViewerFeed::window_open() const {
  return under_way_.size() < most_messages_under_way && bytes_under_way_ < most_bytes_under_way;
}

bool ViewerFeed::has(const DetailEntry& entry) const {
  const auto found = has_.find(entry.sender);
  return found != has_.end() && found->second.contains(entry.sequence);
}

void ViewerFeed::notice_missed(const DetailRing& ring) {
  if (!reported_forgotten_ || ring_position_ < ring.oldest()) {
    for (const auto& [rank, gap] : ring.forgotten()) {
      const auto found = has_.find(rank);
      if (found == has_.end() || !found->second.missing(gap.first_sequence, gap.last_sequence).empty())
        gaps_.push_back(gap);
    }
    reported_forgotten_ = true;
    ring_position_ = std::max(ring_position_, ring.oldest());
  }
  if (ring_position_ >= ring.first()) return;
  std::map<std::int32_t, Gap> gaps;
  for (std::uint64_t i = ring_position_; i < ring.first(); ++i) {
    if (has(ring.at(i))) continue;
    ++missed_;
    add_to_gap(gaps[ring.at(i).sender], ring.at(i));
  }
  // Detail of the supervisor (rank -1) is gaps of other ranks; a missed one gets no gap of its own.
  for (const auto& [rank, gap] : gaps)
    if (rank >= 0) gaps_.push_back(gap);
  if (!backfill_.empty() && backfill_.back().second == ring_position_)
    backfill_.back().second = ring.first();
  else
    backfill_.emplace_back(ring_position_, ring.first());
  ring_position_ = ring.first();
}

std::optional<ViewerFeed::Next> ViewerFeed::next(Exchange& exchange, SpoolFollower& spools) {
  offered_ = Source::none;
  if (!window_open()) return std::nullopt;
  std::optional<Next> next;
  if (log_position_ < exchange.log().size()) {
    offered_ = Source::log;
    next = Next{exchange.log().at(log_position_), number_ + 1, log_position_ + 1};
  } else if (detail_sent_ < detail_allowed_) {
    next = next_detail(exchange, spools);
  }
  if (next) offered_bytes_ = next->bytes.size();
  return next;
}

std::optional<ViewerFeed::Next> ViewerFeed::next_detail(Exchange& exchange, SpoolFollower& spools) {
  const DetailRing& ring = exchange.ring();
  notice_missed(ring);
  if (!gaps_.empty()) {
    offered_ = Source::gap;
    made_ = encode({exchange.session(), -1, 0, 0, gaps_.front()});
    return Next{made_, number_ + 1, 0};
  }
  while (ring_position_ < ring.end() && has(ring.at(ring_position_))) ++ring_position_;
  if (ring_position_ < ring.end()) {
    offered_ = Source::ring;
    return Next{ring.at(ring_position_).message.bytes, number_ + 1, 0};
  }
  for (std::size_t tries = 0; tries < most_fetches_per_call && !backfill_.empty(); ++tries) {
    auto& [first, end] = backfill_.front();
    first = std::max(first, ring.oldest());
    if (first >= end) {
      backfill_.pop_front();
      continue;
    }
    const DetailEntry& entry = ring.at(first);
    auto bytes = entry.position && !has(entry) ? spools.fetch(entry.sender, *entry.position) : std::nullopt;
    const auto envelope = bytes ? peek(*bytes) : std::nullopt;
    if (!envelope || envelope->session != exchange.session() || envelope->rank != entry.sender ||
        envelope->sequence != entry.sequence) {
      ++first;  // remains the gap that was reported
      continue;
    }
    offered_ = Source::backfill;
    made_ = std::move(*bytes);
    return Next{made_, number_ + 1, 0};
  }
  return std::nullopt;
}

void ViewerFeed::sent() {
  switch (offered_) {
    case Source::none: return;
    case Source::log: ++log_position_; break;
    case Source::gap: gaps_.pop_front(); break;
    case Source::ring: ++ring_position_; break;
    case Source::backfill: ++backfill_.front().first; break;
  }
  if (offered_ != Source::log) ++detail_sent_;
  ++number_;
  under_way_.push_back(offered_bytes_);
  bytes_under_way_ += offered_bytes_;
  offered_ = Source::none;
}

bool ViewerFeed::caught_up(Exchange& exchange) const {
  if (log_position_ < exchange.log().size() || !under_way_.empty()) return false;
  return detail_allowed_ == 0 || (gaps_.empty() && ring_position_ == exchange.ring().end() && backfill_.empty());
}

}  // namespace rankscope
