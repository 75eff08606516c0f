// A slow reference for the run store's queries: it scans all spans.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "telemetry/store/run_store.hpp"

namespace rankscope::testing {

inline bool span_before(const Span& a, const Span& b) {
  return std::tie(a.begin_ns, a.end_ns, a.step, a.op) < std::tie(b.begin_ns, b.end_ns, b.step, b.op);
}

struct Reference {
  std::map<LaneKey, std::vector<Span>> lanes;
  std::set<std::tuple<int, Obtained, std::uint32_t, OpId>> seen;

  void add(const Span& span, Obtained obtained) {
    if (!seen.insert({span.rank, obtained, span.step, span.op}).second) return;
    auto& lane = lanes[{span.rank, span.op.lane(), obtained}];
    lane.insert(std::upper_bound(lane.begin(), lane.end(), span, span_before), span);
  }

  std::vector<Span> spans(LaneKey key, TimeRange range, std::int64_t least, std::size_t limit) const {
    std::vector<Span> found;
    for (const Span& s : lanes.at(key))
      if (s.begin_ns < range.end_ns && (s.end_ns > range.begin_ns || s.begin_ns >= range.begin_ns) &&
          s.end_ns - s.begin_ns >= least && found.size() < limit)
        found.push_back(s);
    return found;
  }

  std::vector<PixelShare> shares(LaneKey key, TimeRange range, std::size_t count) const {
    std::vector<PixelShare> pixels(count);
    const double width = static_cast<double>(range.length()) / static_cast<double>(count);
    const auto overlap = [&](std::int64_t begin, std::int64_t end, std::size_t p) {
      const double low = static_cast<double>(p) * width, high = low + width;
      const double from = std::max(static_cast<double>(begin - range.begin_ns), low);
      const double to = std::min(static_cast<double>(end - range.begin_ns), high);
      return to > from ? (to - from) / width : 0.0;
    };
    for (std::size_t p = 0; p < count; ++p) {
      std::array<double, span_class_count> busy{};
      double waiting = 0, total = 0;
      for (const Span& s : lanes.at(key)) {
        const bool waits = s.op.valid() && is_communication(s.op.kind());
        const double idle = waits ? overlap(s.begin_ns, s.active_ns, p) : 0;
        const double work = overlap(waits ? s.active_ns : s.begin_ns, s.end_ns, p);
        waiting += idle;
        busy[static_cast<std::size_t>(class_of(s.op))] += work;
        total += idle + work;
      }
      const double scale = total > 1 ? 1 / total : 1;
      for (std::size_t k = 0; k < busy.size(); ++k) pixels[p].busy[k] = static_cast<float>(busy[k] * scale);
      pixels[p].waiting = static_cast<float>(waiting * scale);
    }
    return pixels;
  }

  std::optional<Span> span_at(LaneKey key, std::int64_t time) const {
    std::optional<Span> found;
    for (const Span& s : lanes.at(key))
      if (s.begin_ns <= time && time < s.end_ns) found = s;
    return found;
  }
  std::optional<Span> next(LaneKey key, const Span& from) const {
    for (const Span& s : lanes.at(key))
      if (span_before(from, s)) return s;
    return std::nullopt;
  }
  std::optional<Span> previous(LaneKey key, const Span& from) const {
    std::optional<Span> found;
    for (const Span& s : lanes.at(key))
      if (span_before(s, from)) found = s;
    return found;
  }
  std::optional<TimeRange> step_range(Obtained obtained, std::uint32_t step) const {
    const auto first_compute = [&](std::uint32_t of) {
      std::int64_t first = INT64_MAX;
      for (const auto& [key, lane] : lanes)
        if (key.obtained == obtained && key.lane == Lane::compute)
          for (const Span& s : lane)
            if (s.step == of) first = std::min(first, s.begin_ns);
      return first;
    };
    std::int64_t begin = first_compute(step), first = INT64_MAX, last = INT64_MIN;
    for (const auto& [key, lane] : lanes)
      if (key.obtained == obtained)
        for (const Span& s : lane)
          if (s.step == step) first = std::min(first, s.begin_ns), last = std::max(last, s.end_ns);
    if (last == INT64_MIN) return std::nullopt;
    if (begin == INT64_MAX) begin = first;
    const std::int64_t next_begin = first_compute(step + 1);
    return TimeRange{begin, std::max(begin, next_begin == INT64_MAX ? last : next_begin)};
  }
};

struct RunShape {
  int ranks = 3, steps = 12, ops = 150;
  bool overlap = false;  ///< spans of a lane nest and cross
  bool strange = false;  ///< hours-long spans, jumps in step numbers, ops of unknown kinds
};

/// Spans of an invented run, in the order in which they happened.
inline std::vector<std::pair<Span, Obtained>> invented_run(RunShape shape, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<OpId> ops;
  for (int i = 0; i < shape.ops; ++i) {
    OpFields f;
    const OpKind kinds[] = {OpKind::forward, OpKind::backward,   OpKind::weight_gradient, OpKind::send,
                            OpKind::receive, OpKind::all_reduce, OpKind::optimizer,       OpKind::load_batch};
    f.kind = kinds[below(8)];
    f.purpose = f.kind == OpKind::all_reduce ? Purpose::data_gradient
                : is_communication(f.kind)   ? (below(2) ? Purpose::pipeline_forward : Purpose::pipeline_backward)
                                             : Purpose::none;
    f.chunk = static_cast<int>(below(4));
    f.micro_batch = i;
    ops.push_back(OpId::of(f));
  }
  if (shape.strange) ops.push_back(OpId(std::uint64_t{27} << 59 | 5));
  std::vector<std::pair<Span, Obtained>> spans;
  for (int rank = 0; rank < shape.ranks; ++rank)
    for (const Obtained obtained : {Obtained::measured, Obtained::simulated}) {
      std::map<Lane, std::int64_t> now;
      std::uint32_t step = 3;
      for (int s = 0; s < shape.steps; ++s, step += shape.strange && below(4) == 0 ? 70'000 : 1)
        for (const OpId op : ops) {
          if (below(20) == 0) continue;
          std::int64_t& time = now[op.lane()];
          Span span;
          span.rank = rank;
          span.step = step;
          span.op = op;
          span.begin_ns = time + below(300);
          std::int64_t length = below(10) == 0 ? 0 : below(1000);
          if (shape.overlap && below(30) == 0) length *= 200;
          if (shape.strange && below(200) == 0) length += 20'000'000'000;
          span.end_ns = span.begin_ns + length;
          span.active_ns =
              op.valid() && is_communication(op.kind()) ? span.begin_ns + below(length + 1) : span.begin_ns;
          span.cpu_ns = below(3) ? below(length + 1) : -1;
          time = shape.overlap ? span.begin_ns + below(400) : span.end_ns;
          spans.emplace_back(span, obtained);
        }
    }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.first.end_ns < b.first.end_ns; });
  return spans;
}

inline Message message_of(Event event) {
  Message message;
  message.event = std::move(event);
  return message;
}

/// Numbered like a message of a rank.
inline Message numbered(int rank, std::uint64_t sequence, Event event) {
  Message message = message_of(std::move(event));
  message.rank = rank;
  message.sequence = sequence;
  return message;
}

/// Feeds the spans to the store in batches of one kind, of at most `most` spans.
inline void feed(RunStore& store, const std::vector<std::pair<Span, Obtained>>& spans, std::size_t most) {
  for (std::size_t i = 0; i < spans.size();) {
    SpanBatch batch{spans[i].second, ClockDomain::wall, {}};
    for (; i < spans.size() && spans[i].second == batch.obtained && batch.rows.size() < most; ++i)
      batch.rows.push_back(spans[i].first);
    store.accept(message_of(std::move(batch)));
  }
}

}  // namespace rankscope::testing
