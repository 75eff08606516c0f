// An invented run that is demanding for a viewer: durations from 200 ns to 50 ms with a heavy tail, spans within spans,
// 5 % of the batches lost and reported as gaps, 2 % of the spans late. Seeded: the run is the same every time.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "telemetry/event/event.hpp"

namespace rankscope::bench {

struct HeavySize {
  std::int64_t spans = 10'000'000;
  int ranks = 64;
  std::uint64_t seed = 1;
  double lost = 0.05;  ///< of the batches
  double late = 0.02;  ///< of the spans: they arrive one batch after their own
};

namespace heavy {

inline constexpr double shortest_ns = 200, longest_ns = 50e6, tail = 0.9;
inline constexpr int blocks = 4, micro_batches = 16, batch_rows = 4096;

// Pareto-distributed between the limits.
inline std::int64_t duration(std::mt19937_64& random) {
  const double u = std::uniform_real_distribution<double>(0, 1)(random);
  const double low = std::pow(shortest_ns, tail), high = std::pow(longest_ns, tail);
  return static_cast<std::int64_t>(std::pow(-(u * high - u * low - high) / (high * low), -1 / tail));
}

// One rank's lanes, step after step, as batches.
class Rank {
 public:
  Rank(int rank, const HeavySize& size)
      : rank_(rank), size_(size), random_(size.seed * 1000 + static_cast<std::uint64_t>(rank)) {}

  /// The next batch: about `batch_rows` spans, of complete micro-batches.
  SpanBatch next() {
    SpanBatch batch;
    batch.rows = std::move(late_);
    late_.clear();
    while (batch.rows.size() < batch_rows) micro_batch(batch.rows);
    return batch;
  }
  std::int64_t now() const { return now_; }

 private:
  void micro_batch(std::vector<Span>& into) {
    using enum Segment;
    receive(into, Purpose::pipeline_forward);
    // One span for the chunk, and its segments within it.
    for (const OpKind kind : {OpKind::forward, OpKind::backward}) {
      const std::int64_t begin = now_;
      std::vector<Span> inside;
      for (int b = 0; b < blocks; ++b)
        for (const Segment segment : {qkv, attention, projection, up, down})
          inside.push_back(span({kind, Purpose::none, rank_ % 16, micro_, b, segment, -1}, now_, duration(random_)));
      put(into, {rank_, step_, OpId::of({kind, Purpose::none, rank_ % 16, micro_, -1, whole, -1}), begin, begin, now_});
      for (const Span& one : inside) put(into, one);
    }
    receive(into, Purpose::pipeline_backward);
    if (++micro_ < micro_batches) return;
    micro_ = 0;
    ++step_;
  }
  void receive(std::vector<Span>& into, Purpose purpose) {
    Span one = span({OpKind::receive, purpose, rank_ % 16, micro_, -1, Segment::whole, -1}, now_, duration(random_));
    one.active_ns = one.begin_ns + (one.end_ns - one.begin_ns) / 2;
    put(into, one);
  }
  Span span(const OpFields& fields, std::int64_t begin, std::int64_t length) {
    now_ = begin + length;
    return {rank_, step_, OpId::of(fields), begin, begin, now_, length};
  }
  void put(std::vector<Span>& into, const Span& one) {
    const bool late = std::uniform_real_distribution<double>(0, 1)(random_) < size_.late;
    (late ? late_ : into).push_back(one);
  }

  int rank_;
  HeavySize size_;
  std::mt19937_64 random_;
  std::int64_t now_ = 0;
  std::uint32_t step_ = 0;
  int micro_ = 0;
  std::vector<Span> late_;
};

}  // namespace heavy

/// Calls `take` with each message in the order in which a recorder would see them. Returns the number of reported
/// spans, including those that were lost.
inline std::int64_t invent_heavy_run(const HeavySize& size, const std::function<void(const Message&)>& take) {
  std::vector<heavy::Rank> ranks;
  for (int r = 0; r < size.ranks; ++r) ranks.emplace_back(r, size);
  std::vector<std::uint64_t> sequence(static_cast<std::size_t>(size.ranks) + 1, 0);
  const auto publish = [&](int rank, Event event) {
    Message message;
    message.session = {1, 2, 3};
    message.rank = rank;
    message.sequence = ++sequence[static_cast<std::size_t>(rank + 1)];
    message.event = std::move(event);
    take(message);
  };
  Hello hello;
  hello.title = "invented, and hard";
  hello.ranks = size.ranks;
  publish(0, hello);
  std::mt19937_64 random(size.seed);
  std::int64_t made = 0;
  while (made < size.spans)
    for (int r = 0; r < size.ranks && made < size.spans; ++r) {
      heavy::Rank& rank = ranks[static_cast<std::size_t>(r)];
      const std::int64_t begin = rank.now();
      SpanBatch batch = rank.next();
      const auto count = static_cast<std::int64_t>(batch.rows.size());
      made += count;
      if (std::uniform_real_distribution<double>(0, 1)(random) < size.lost)
        publish(r, Gap{r, begin, rank.now(), count});
      else
        publish(r, std::move(batch));
    }
  publish(-1, End{-1, true, 0, ""});
  return made;
}

}  // namespace rankscope::bench
