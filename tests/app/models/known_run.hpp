// A run in which every span is known, fed to the store as messages.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

inline OpId op(const std::string& token) {
  std::string error;
  const auto id = parse_token(token, &error);
  if (!id) throw std::invalid_argument(error);
  return *id;
}

/// Collects messages of ranks; times in microseconds, so that the pictures' arithmetic stays readable.
class KnownRun {
 public:
  explicit KnownRun(Obtained obtained = Obtained::emulated) : obtained_(obtained) {}

  KnownRun& hello(const Hello& hello) {
    send(0, hello);
    return *this;
  }
  KnownRun& span(int rank, std::uint32_t step, const std::string& token, double begin_us, double end_us,
                 double active_us = -1) {
    return span_as(obtained_, rank, step, token, begin_us, end_us, active_us);
  }
  KnownRun& predicted(int rank, std::uint32_t step, const std::string& token, double begin_us, double end_us) {
    return span_as(Obtained::simulated, rank, step, token, begin_us, end_us, -1);
  }
  KnownRun& gap(int rank, double begin_us, double end_us, std::int64_t events = 1) {
    send(rank, Gap{rank, ns(begin_us), ns(end_us), events});
    return *this;
  }
  KnownRun& end() {
    send(-1, End{-1, true, 0, {}});
    return *this;
  }
  std::shared_ptr<const StoreView> view() const { return store_.view(); }
  static std::int64_t ns(double us) { return static_cast<std::int64_t>(us * 1000); }

 private:
  KnownRun& span_as(Obtained obtained, int rank, std::uint32_t step, const std::string& token, double begin_us,
                    double end_us, double active_us) {
    Span span;
    span.rank = rank;
    span.step = step;
    span.op = op(token);
    span.begin_ns = ns(begin_us);
    span.active_ns = active_us < 0 ? span.begin_ns : ns(active_us);
    span.end_ns = ns(end_us);
    send(rank, SpanBatch{obtained, obtained == Obtained::measured ? ClockDomain::wall : ClockDomain::device, {span}});
    return *this;
  }
  void send(int rank, Event event) {
    Message message;
    message.rank = rank;
    message.sequence = sequences_[rank]++;
    message.event = std::move(event);
    store_.accept(message);
  }

  Obtained obtained_;
  RunStore store_;
  std::map<int, std::uint64_t> sequences_;
};

}  // namespace rankscope
