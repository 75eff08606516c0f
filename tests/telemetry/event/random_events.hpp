// Random but valid events of every kind, for round trips through codec, spool and relay.
#pragma once
#include <random>

#include "telemetry/event/codec.hpp"

namespace rankscope::test {

class RandomEvents {
 public:
  explicit RandomEvents(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t greatest) {
    return std::uniform_int_distribution<std::int64_t>(least, greatest)(random_);
  }
  template <class E>
  E one_of(int count) {
    return static_cast<E>(number(0, count - 1));
  }
  std::string text(int longest = 60) {
    std::string s;
    for (auto n = number(0, longest); n > 0; --n)
      s += number(0, 9) == 0 ? "ψ" : std::string(1, static_cast<char>(number(32, 126)));
    return s;
  }
  OpId op() {
    OpFields f;
    f.kind = one_of<OpKind>(op_kind_count);
    if (moves_bytes(f.kind) || f.kind == OpKind::optimizer) do
        f.purpose = one_of<Purpose>(purpose_count);
      while (!may_have(f.kind, f.purpose));
    f.segment = one_of<Segment>(segment_count);
    f.chunk = static_cast<int>(number(-1, 4094));
    f.micro_batch = static_cast<int>(number(-1, 65534));
    f.block = static_cast<int>(number(-1, 2046));
    f.index = static_cast<int>(number(-1, 2046));
    return OpId::of(f);
  }
  // Both small and huge values, so that both widths of a column occur.
  std::int64_t some(std::int64_t greatest) { return number(0, std::int64_t{1} << number(0, 62)) % (greatest + 1); }
  std::int64_t time() { return some(std::int64_t{1} << 60); }

  Span span(std::int32_t rank = 0, std::uint32_t step = 0) {
    Span s;
    s.rank = rank;
    s.step = step;
    s.op = op();
    s.begin_ns = time();
    s.active_ns = s.begin_ns + some(1 << 30);
    s.end_ns = s.active_ns + some(std::int64_t{1} << 40);
    s.cpu_ns = number(-1, 1) < 0 ? -1 : some(1 << 30);
    return s;
  }

  StepSummary summary(std::int32_t rank, std::uint32_t step) {
    StepSummary s;
    s.rank = rank;
    s.step = step;
    s.begin_ns = time();
    s.end_ns = s.begin_ns + some(1 << 30);
    s.loss = number(0, 100) * 0.125;
    s.gradient_square_norm = number(0, 100) * 0.5;
    s.learning_rate = 3e-4;
    s.loss_scale = 65536;
    s.loss_not_finite = number(0, 1) == 1;
    if (number(0, 1) == 1) s.energy_joules = number(0, 100) * 0.25;
    for (auto bins = number(0, 1) * 64; bins > 0; --bins)
      s.magnitudes.push_back(static_cast<std::uint32_t>(number(0, UINT32_MAX)));
    s.energy_source = static_cast<PowerSource>(number(0, 2));
    s.tokens = some(1 << 30);
    s.model_flops = number(0, 100) * 1e12;
    s.hardware_flops = s.model_flops * 1.25;
    for (auto& bytes : s.peak_bytes) bytes = some(std::int64_t{1} << 50);
    s.peak_total_bytes = some(std::int64_t{1} << 50);
    for (auto n = number(0, 20); n > 0; --n)
      s.traffic.push_back({one_of<Purpose>(purpose_count), one_of<OpKind>(op_kind_count), some(1 << 20),
                           some(std::int64_t{1} << 40), number(0, 1) == 0 ? -1 : some(std::int64_t{1} << 40),
                           one_of<GroupKind>(group_kind_count)});
    for (auto n = number(0, 4); n > 0; --n)
      s.sent.push_back({static_cast<std::int32_t>(number(0, 9)), some(std::int64_t{1} << 40)});
    s.spans_emitted = some(1 << 30);
    s.spans_dropped = some(1 << 30);
    return s;
  }

  static constexpr int kinds = std::variant_size_v<Event>;
  Event event(int kind) {
    const auto rank = static_cast<std::int32_t>(number(0, 1000));
    const auto step = static_cast<std::uint32_t>(number(0, 4294967295));
    const auto obtained = one_of<Obtained>(3);
    const auto clock = one_of<ClockDomain>(2);
    const auto rows = number(0, 40);
    switch (kind) {
      case 0:
        return Hello{text(),
                     text(2000),
                     rank,
                     text(),
                     text(),
                     text(),
                     text(),
                     static_cast<std::int32_t>(number(0, 1 << 30)),
                     clock,
                     number(0, 9) * 0.25,
                     number(0, 100) * 1e9,
                     text()};
      case 1: return ProgramRecord{rank, random_(), text(5000)};
      case 2: return ClockRecord{rank, time(), -time(), time()};
      case 3:
        return End{
            static_cast<std::int32_t>(number(-1, 9)), number(0, 1) == 1, number(-1, 1000), text(), number(0, 1) == 1,
            static_cast<std::int32_t>(number(-1, 9))};
      case 4: return summary(rank, step);
      case 5: {
        SpanBatch batch{obtained, clock, {}};
        for (auto n = rows; n > 0; --n) batch.rows.push_back(span(static_cast<std::int32_t>(number(0, 3)), step));
        return batch;
      }
      case 6: {
        MemoryBatch batch{obtained, clock, {}};
        for (auto n = rows; n > 0; --n) {
          MemorySample sample{rank, step, number(0, 5) == 0 ? OpId() : op(), time(), {}};
          for (auto& bytes : sample.bytes) bytes = some(std::int64_t{1} << 50);
          batch.rows.push_back(sample);
        }
        return batch;
      }
      case 7: {
        PhaseBatch batch{obtained, clock, {}};
        for (auto n = rows; n > 0; --n) {
          const std::int64_t begin = time();
          batch.rows.push_back({rank, step, op(), static_cast<std::int32_t>(number(0, 30)),
                                static_cast<std::int32_t>(number(0, 30)), static_cast<std::int32_t>(number(-1, 15)),
                                static_cast<std::int32_t>(number(-1, 15)), some(std::int64_t{1} << 40) - 1, begin,
                                begin + some(1 << 30)});
        }
        return batch;
      }
      default: {
        const std::int64_t begin = time();
        const auto first = static_cast<std::uint64_t>(number(0, 1 << 30));
        return Gap{rank,          begin, begin + some(1 << 30),
                   some(1 << 20), first, first + static_cast<std::uint64_t>(number(0, 99))};
      }
    }
  }

  Message message(int kind) {
    Message m;
    for (auto& byte : m.session) byte = static_cast<std::uint8_t>(random_());
    m.rank = static_cast<std::int32_t>(number(-1, 500));
    m.sequence = random_();
    m.control_sequence = random_();
    m.event = event(kind);
    return m;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace rankscope::test
