// An invented run with a given number of spans for the benchmarks of store and trace: 64 ranks in a 16-stage 1F1B
// pipeline with data parallelism; a batch has about 20 ms of one rank.
#pragma once
#include <algorithm>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "telemetry/event/event.hpp"

namespace rankscope::bench {

struct RunSize {
  std::int64_t spans = 1'000'000;
  int ranks = 64, micro_batches = 16, blocks = 2;
  std::size_t batch_rows = 4096;
};

namespace detail {

inline std::vector<OpId> ops_of_a_step(const RunSize& size, int rank) {
  std::vector<OpId> ops;
  const int chunk = rank % 16;
  const auto add = [&](OpKind kind, Purpose purpose, int micro, int block, Segment segment, int index = -1) {
    ops.push_back(OpId::of({kind, purpose, chunk, micro, block, segment, index}));
  };
  const Segment segments[] = {Segment::qkv, Segment::attention, Segment::projection, Segment::up, Segment::down};
  for (int m = 0; m < size.micro_batches; ++m) {
    if (chunk > 0) add(OpKind::receive, Purpose::pipeline_forward, m, -1, Segment::whole);
    for (int b = 0; b < size.blocks; ++b)
      for (const Segment s : segments) add(OpKind::forward, Purpose::none, m, chunk * size.blocks + b, s);
    if (chunk < 15) add(OpKind::send, Purpose::pipeline_forward, m, -1, Segment::whole);
    if (chunk < 15) add(OpKind::receive, Purpose::pipeline_backward, m, -1, Segment::whole);
    for (int b = size.blocks; b-- > 0;)
      for (int s = 5; s-- > 0;) add(OpKind::backward, Purpose::none, m, chunk * size.blocks + b, segments[s]);
    if (chunk > 0) add(OpKind::send, Purpose::pipeline_backward, m, -1, Segment::whole);
  }
  for (int i = 0; i < 4; ++i) add(OpKind::all_reduce, Purpose::data_gradient, -1, -1, Segment::whole, i);
  add(OpKind::optimizer, Purpose::none, -1, -1, Segment::update);
  return ops;
}

}  // namespace detail

/// Calls `take` with each message in the order in which a recorder would see them. Returns the number of spans.
inline std::int64_t invent_run(const RunSize& size, const std::function<void(const Message&)>& take) {
  std::mt19937 random(1);
  std::vector<std::vector<OpId>> ops;
  for (int r = 0; r < size.ranks; ++r) ops.push_back(detail::ops_of_a_step(size, r));
  std::vector<std::uint64_t> sequence(static_cast<std::size_t>(size.ranks), 0);
  const auto publish = [&](int rank, Event event) {
    Message message;
    message.session = {1, 2, 3};
    message.rank = rank;
    message.sequence = ++sequence[static_cast<std::size_t>(rank)];
    message.event = std::move(event);
    take(message);
  };
  Hello hello;
  hello.title = "invented";
  hello.ranks = size.ranks;
  publish(0, hello);
  std::int64_t made = 0;
  std::vector<std::int64_t> clock(static_cast<std::size_t>(size.ranks), 0);
  for (std::uint32_t step = 0; made < size.spans; ++step) {
    for (int r = 0; r < size.ranks && made < size.spans; ++r) {
      std::int64_t& now = clock[static_cast<std::size_t>(r)];
      SpanBatch batch;
      StepSummary summary;
      summary.begin_ns = now;
      for (const OpId op : ops[static_cast<std::size_t>(r)]) {
        Span span;
        span.rank = r;
        span.step = step;
        span.op = op;
        span.begin_ns = now + random() % 2000;
        span.active_ns = span.begin_ns + (is_communication(op.kind()) ? random() % 30'000 : 0);
        span.end_ns = span.active_ns + 20'000 + random() % 200'000;
        span.cpu_ns = span.end_ns - span.active_ns - random() % 1000;
        now = span.end_ns;
        batch.rows.push_back(span);
        ++made;
        if (batch.rows.size() == size.batch_rows) publish(r, std::exchange(batch, SpanBatch{}));
      }
      if (!batch.rows.empty()) publish(r, batch);
      summary.rank = r;
      summary.step = step;
      summary.end_ns = now;
      if (r % 16 == 15) summary.loss = 5.5 - 0.001 * step;
      summary.tokens = r % 16 == 15 ? 8192 : 0;
      summary.peak_total_bytes = std::int64_t{1} << 30;
      publish(r, summary);
    }
    const std::int64_t latest = *std::max_element(clock.begin(), clock.end());
    std::fill(clock.begin(), clock.end(), latest);
  }
  publish(0, End{-1, true, 0, ""});
  return made;
}

}  // namespace rankscope::bench
