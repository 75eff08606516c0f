// Shared by the tests of stream and relay: a sink that stores messages, a temporary directory, waiting with a limit.
#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "telemetry/event/codec.hpp"
#include "telemetry/stream/join.hpp"
#include "tests/wait_until.hpp"

namespace rankscope::test {

class Collector : public EventSink {
 public:
  void accept(const Message& message) override {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    count_(message);
  }
  std::vector<Message> messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  template <class E>
  std::vector<E> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<E> events;
    for (const Message& m : messages_)
      if (const E* e = std::get_if<E>(&m.event)) events.push_back(*e);
    return events;
  }
  std::int64_t spans() const {
    const std::lock_guard lock(mutex_);
    return spans_;
  }
  std::int64_t summaries() const {
    const std::lock_guard lock(mutex_);
    return summaries_;
  }
  // Whether a message arrived more than once.
  bool any_double() const {
    const std::lock_guard lock(mutex_);
    return doubles_;
  }

 private:
  void count_(const Message& m) {
    if (const auto* batch = std::get_if<SpanBatch>(&m.event)) spans_ += static_cast<std::int64_t>(batch->rows.size());
    summaries_ += std::holds_alternative<StepSummary>(m.event);
    if (m.sequence != 0 && !seen_.insert({m.rank, m.sequence}).second) doubles_ = true;
  }
  mutable std::mutex mutex_;
  std::vector<Message> messages_;
  std::set<std::pair<std::int32_t, std::uint64_t>> seen_;
  std::int64_t spans_ = 0, summaries_ = 0;
  bool doubles_ = false;
};

class Directory {
 public:
  Directory() : path(make_private_directory("rankscope-test-")) {}
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  const std::string path;
  std::string file(const std::string& name) const { return path + "/" + name; }
};

// True as soon as `condition` is true; false after the limit, which only ends what hangs.
template <class F>
bool eventually(F condition, std::chrono::milliseconds limit = std::chrono::seconds(60)) {
  return wait_until(limit, condition);
}

inline Span a_span(std::int32_t rank, std::uint32_t step, std::int64_t number) {
  OpFields f;
  f.chunk = static_cast<int>(number % 4);
  f.micro_batch = static_cast<int>(number % 1000);
  return {rank, step, OpId::of(f), number * 100, number * 100, number * 100 + 90, 80};
}

/// Like a library's report of its inside: sender, receiver and size are unknown.
inline PhaseSpan an_unknown_phase(std::int32_t rank, std::uint32_t step, std::int64_t number) {
  OpFields f;
  f.kind = OpKind::all_reduce;
  f.purpose = Purpose::data_gradient;
  return {rank, step,         OpId::of(f),      0, static_cast<std::int32_t>(number % 16), -1, -1,
          -1,   number * 100, number * 100 + 90};
}

inline StepSummary a_summary(std::int32_t rank, std::uint32_t step) {
  StepSummary s;
  s.rank = rank;
  s.step = step;
  s.begin_ns = step * 1000;
  s.end_ns = step * 1000 + 900;
  s.loss = 5.5 - 0.01 * step;
  return s;
}

inline Hello a_hello(int ranks) {
  Hello h;
  h.title = "a test";
  h.ranks = ranks;
  h.steps = 100;
  h.entropy_nats = 1.25;
  h.memory_bandwidth = 2e10;
  h.peak_spread = 0.004;
  return h;
}

inline SessionId a_session(std::uint8_t first = 1) {
  SessionId id{};
  id[0] = first;
  id[15] = 7;
  return id;
}

}  // namespace rankscope::test
