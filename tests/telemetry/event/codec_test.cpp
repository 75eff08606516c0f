#include "telemetry/event/codec.hpp"

#include <cmath>
#include <cstring>

#include "telemetry/event/encoded.hpp"
#include "telemetry/event/message_time.hpp"
#include "tests/catch.hpp"
#include "tests/telemetry/event/random_events.hpp"

using namespace rankscope;
using rankscope::test::RandomEvents;

namespace {

// Position of these eight bytes in an encoded batch.
std::size_t find_bytes(const std::vector<std::byte>& bytes, std::uint64_t value) {
  std::byte expected[8];
  std::memcpy(expected, &value, 8);
  for (std::size_t i = 0; i + 8 <= bytes.size(); ++i)
    if (std::memcmp(bytes.data() + i, expected, 8) == 0) return i;
  FAIL("value not found in the encoded message");
  return 0;
}

Message one_span(OpId op) {
  Message m;
  m.sequence = 1;
  m.event = SpanBatch{Obtained::measured, ClockDomain::wall, {Span{0, 0, op, 10, 20, 30, -1}}};
  return m;
}

OpId with_kind_bits(std::uint64_t kind) { return OpId((kind << 59) | (std::uint64_t{0} << 55) | 0x7FFFFFFFFF0007FF); }

}  // namespace

TEST_CASE("every kind of event is decoded as it was encoded, at any address in memory") {
  RandomEvents random(1);
  for (int round = 0; round < 300; ++round)
    for (int kind = 0; kind < RandomEvents::kinds; ++kind) {
      const Message sent = random.message(kind);
      const std::vector<std::byte> bytes = encode(sent);
      for (std::size_t shift : {0, 1, 4}) {
        std::vector<std::byte> moved(shift);
        moved.insert(moved.end(), bytes.begin(), bytes.end());
        const Decoded got = decode(std::span(moved).subspan(shift));
        INFO("kind " << kind << ", shifted by " << shift << ": " << got.error);
        REQUIRE(got);
        REQUIRE(got.message == sent);
      }
      const auto envelope = peek(bytes);
      REQUIRE(envelope);
      REQUIRE(envelope->session == sent.session);
      REQUIRE(envelope->rank == sent.rank);
      REQUIRE(envelope->sequence == sent.sequence);
    }
}

TEST_CASE("an unknown loss stays not-a-number") {
  Message m;
  m.event = StepSummary{};
  const Decoded got = decode(encode(m));
  REQUIRE(got);
  CHECK(std::isnan(std::get<StepSummary>(got.message.event).loss));
}

TEST_CASE(
    "a step's summary is under one kilobyte, with traffic for every purpose of a plan sent and received, and as many "
    "links as are told") {
  RandomEvents random(2);
  Message m = random.message(4);
  auto& summary = std::get<StepSummary>(m.event);
  summary.traffic.clear();
  summary.sent.clear();
  summary.magnitudes.clear();
  summary.energy_joules = 0.25;
  summary.energy_source = PowerSource::nvml;
  for (int p = 1; p < purpose_count; ++p) {
    const auto purpose = static_cast<Purpose>(p);
    // A plan with ZeRO has neither parameter servers nor a main device.
    if (purpose == Purpose::server || purpose == Purpose::data_parameter || purpose == Purpose::batch ||
        purpose == Purpose::replica_loss)
      continue;
    for (const OpKind kind : {OpKind::send, OpKind::receive, OpKind::copy})
      if (may_have(kind, purpose))
        summary.traffic.push_back({purpose, kind, 1 << 20, std::int64_t{1} << 40, std::int64_t{1} << 40});
  }
  CHECK(encode(m).size() < 1024);
  // The fewer rows there are, the more links are reported with them.
  while (true) {
    summary.sent.clear();
    while (has_room_for(summary.sent.size() + 1, summary.traffic.size()))
      summary.sent.push_back({1, std::int64_t{1} << 40});
    INFO(summary.traffic.size() << " rows and " << summary.sent.size() << " links");
    CHECK(encode(m).size() < 1024);
    if (summary.traffic.empty()) break;
    summary.traffic.pop_back();
  }
  CHECK(summary.sent.size() > 40);
  const std::size_t without = encode(m).size();
  summary.magnitudes.assign(64, UINT32_MAX);
  CHECK(encode(m).size() <= without + 64 * 4 + 16);
}

TEST_CASE("a span of an ordinary batch takes at most 19 bytes") {
  // Per row: op id 8 (all its bytes differ here), begin 4, wait 2, work 2, CPU time 2; rank and step are the same in
  // all rows.
  RandomEvents random(3);
  SpanBatch batch;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t begin = 1'000'000'000'000 + i * 50'000;
    batch.rows.push_back(
        {3, 17, random.op(), begin, begin + random.number(0, 9000), begin + 40'000, random.number(0, 40'000)});
  }
  Message m;
  m.event = batch;
  CHECK(encode(m).size() < 1000 * 19);
}

TEST_CASE("ops of kinds, purposes and segments that this build does not know survive") {
  for (std::uint64_t kind : {19, 25, 31}) {
    const OpId op = with_kind_bits(kind);
    REQUIRE_FALSE(op.valid());
    const Decoded got = decode(encode(one_span(op)));
    INFO(got.error);
    REQUIRE(got);
    CHECK(std::get<SpanBatch>(got.message.event).rows[0].op == op);
  }
}

TEST_CASE("an op id that contradicts itself is refused") {
  SECTION("no op at all") { CHECK(decode(encode(one_span(OpId()))).outcome == Decoded::Outcome::refused); }
  SECTION("a forward with a purpose") {
    OpFields f;
    f.purpose = Purpose::tensor;
    const Decoded got = decode(encode(one_span(OpId::of(f))));
    CHECK(got.outcome == Decoded::Outcome::refused);
    CHECK(got.error == "an op id whose kind contradicts its purpose");
  }
}

TEST_CASE("a kind of event that this build does not know is skipped and still says who sent it") {
  RandomEvents random(4);
  const Message sent = random.message(8);
  std::vector<std::byte> bytes = encode(sent);
  // The union's type is the only byte with Gap's number, 9; other bytes with this value are in sequence numbers and
  // times.
  int unknown = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (std::to_integer<int>(bytes[i]) != 9) continue;
    std::vector<std::byte> changed = bytes;
    changed[i] = std::byte{200};
    const Decoded got = decode(changed);
    if (got.outcome != Decoded::Outcome::unknown) continue;
    ++unknown;
    CHECK(got.message.session == sent.session);
    CHECK(got.message.rank == sent.rank);
    CHECK(got.message.sequence == sent.sequence);
  }
  CHECK(unknown == 1);
}

TEST_CASE("values out of their range are refused, with the reason") {
  const auto refused = [](Event event) {
    Message m;
    m.event = std::move(event);
    const Decoded got = decode(encode(m));
    CHECK(got.outcome == Decoded::Outcome::refused);
    return got.error;
  };
  const OpId op = OpId::of({});
  CHECK(refused(SpanBatch{{}, {}, {Span{0, 0, op, 30, 20, 40, -1}}}) == "wait -10 is out of range");
  CHECK(refused(SpanBatch{{}, {}, {Span{0, 0, op, 10, 20, 15, -1}}}) == "work -5 is out of range");
  CHECK(refused(SpanBatch{{}, {}, {Span{-3, 0, op, 10, 20, 30, -1}}}) == "rank -3 is out of range");
  CHECK_FALSE(refused(SpanBatch{{}, {}, {Span{0, 0, op, INT64_MAX - 5, INT64_MAX - 5, INT64_MAX, -1}}}).empty());
  CHECK_FALSE(refused(MemoryBatch{{}, {}, {MemorySample{0, 0, op, 0, {1, 2, -3, 4, 5}}}}).empty());
  CHECK_FALSE(refused(End{-2, true, 0, "", false}).empty());
  CHECK_FALSE(refused(Gap{0, 5, 4, 1}).empty());
}

TEST_CASE("limits are checked before anything is allocated") {
  Message m = one_span(OpId::of({}));
  std::get<SpanBatch>(m.event).rows.resize(100, std::get<SpanBatch>(m.event).rows[0]);
  const auto bytes = encode(m);
  DecodeLimits few_rows;
  few_rows.rows = 99;
  CHECK(decode(bytes, few_rows).error == "a batch of too many rows");
  DecodeLimits few_bytes;
  few_bytes.message_bytes = bytes.size() - 1;
  CHECK(decode(bytes, few_bytes).outcome == Decoded::Outcome::refused);
  DecodeLimits few_ranks;
  few_ranks.ranks = 0;
  CHECK(decode(bytes, few_ranks).outcome == Decoded::Outcome::refused);
}

TEST_CASE("a column whose length differs from the others' is refused") {
  Message m;
  SpanBatch batch;
  for (int i = 0; i < 8; ++i)
    batch.rows.push_back({0, 0, OpId::of({.micro_batch = i}), 1000 + 10 * i, 1000 + 10 * i, 3000 + i * i, -1});
  m.event = batch;
  std::vector<std::byte> bytes = encode(m);
  REQUIRE(decode(bytes));
  // The single plane of the begins: differences from the minimum, and in the four bytes before them their number.
  std::uint64_t begins = 0;
  for (std::uint64_t i = 0; i < 8; ++i) begins |= 10 * i << (8 * i);
  const std::size_t first = find_bytes(bytes, begins);
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + first - 4, 4);
  REQUIRE(length == 8);
  length = 7;
  std::memcpy(bytes.data() + first - 4, &length, 4);
  CHECK(decode(bytes).error == "column begin has a different length");
}

TEST_CASE("bytes that are identical in all rows take no space, at any position of the number") {
  Message m;
  MemoryBatch batch;
  for (int i = 0; i < 1000; ++i)
    batch.rows.push_back({0, 7, OpId::of({.index = i % 200}), i * 65'536, {1 << 20, 0, 0, i * (1 << 16), 5}});
  m.event = batch;
  // Op id 1 (the index's low byte), time 2 (the low sixteen bits are always 0), activations 2.
  CHECK(encode(m).size() < 1000 * 5 + 500);
  CHECK(decode(encode(m)).message == m);
}

TEST_CASE("a message's header without decoding agrees with the decoded message") {
  RandomEvents random(11);
  for (int round = 0; round < 100; ++round)
    for (int kind = 0; kind < RandomEvents::kinds; ++kind) {
      const Message sent = random.message(kind);
      const auto bytes = encode(sent);
      const EncodedMessage message(bytes);
      REQUIRE(message.outcome() == Decoded::Outcome::message);
      REQUIRE(message.envelope() == Envelope{sent.session, sent.rank, sent.sequence});
      REQUIRE(message.kind() == kind_of(sent.event));
      REQUIRE(message.rows() == rows_of(sent.event));
      REQUIRE(message.time() == time_of(sent.event));
      REQUIRE(message.message() == sent);
      const auto* batch = std::get_if<SpanBatch>(&sent.event);
      if (!batch) continue;
      REQUIRE(message.obtained() == batch->obtained);
      std::size_t row = 0;
      for (const auto& extent : message.step_extents()) {
        std::int64_t first = INT64_MAX, last = INT64_MIN, compute = INT64_MAX;
        for (; row < batch->rows.size() && batch->rows[row].rank == extent.rank && batch->rows[row].step == extent.step;
             ++row) {
          const Span& span = batch->rows[row];
          first = std::min(first, span.begin_ns);
          last = std::max(last, span.end_ns);
          if (span.op.lane() == Lane::compute) compute = std::min(compute, span.begin_ns);
        }
        REQUIRE(extent.first_ns == first);
        REQUIRE(extent.last_end_ns == last);
        REQUIRE(extent.first_compute_ns == compute);
      }
      REQUIRE(row == batch->rows.size());
    }
}

TEST_CASE("an encoder that is used again makes the same bytes as a fresh one") {
  RandomEvents random(12);
  Encoder encoder;
  for (int round = 0; round < 20; ++round)
    for (int kind = 0; kind < RandomEvents::kinds; ++kind) {
      const Message message = random.message(kind);
      const auto bytes = encoder.encode(message);
      REQUIRE(std::vector(bytes.begin(), bytes.end()) == encode(message));
    }
}

TEST_CASE("invalid bytes in text are replaced before sending, and refused when received") {
  Message m;
  m.event = End{0, false, 3, "caf\xE9 \xF0\x9F\x98\x80 \xC0\x80", false};
  const Decoded got = decode(encode(m));
  REQUIRE(got);
  CHECK(std::get<End>(got.message.event).message == "caf? \xF0\x9F\x98\x80 ??");
  m.event = End{0, false, 3, "abcdefgh", false};
  std::vector<std::byte> bytes = encode(m);
  bytes[find_bytes(bytes, 0x6867666564636261)] = std::byte{0xFF};
  CHECK(decode(bytes).error == "text is not UTF-8");
}

TEST_CASE("garbage, cuts and flipped bits never crash the decoder") {
  RandomEvents random(5);
  std::int64_t refused = 0, taken = 0;
  const auto feed = [&](std::span<const std::byte> bytes) {
    const Decoded got = decode(bytes);
    peek(bytes);
    const EncodedMessage looked_at(bytes);
    REQUIRE(looked_at.outcome() == got.outcome);
    REQUIRE(looked_at.error() == got.error);
    if (got) REQUIRE(looked_at.message().event.index() == got.message.event.index());
    (got ? taken : refused) += 1;
    // Every decoded message can be encoded again.
    if (got) REQUIRE(decode(encode(got.message)));
  };
  for (int round = 0; round < 60; ++round)
    for (int kind = 0; kind < RandomEvents::kinds; ++kind) {
      const std::vector<std::byte> whole = encode(random.message(kind));
      for (int i = 0; i < 60; ++i) {  // in separate memory, so that a read past the end is detected
        const std::vector<std::byte> cut(whole.begin(),
                                         whole.begin() + random.number(0, static_cast<std::int64_t>(whole.size()) - 1));
        feed(cut);
      }
      for (int i = 0; i < 250; ++i) {
        std::vector<std::byte> bent = whole;
        for (auto n = random.number(1, 4); n > 0; --n)
          bent[static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(bent.size()) - 1))] ^=
              static_cast<std::byte>(1 << random.number(0, 7));
        feed(bent);
      }
      for (int i = 0; i < 100; ++i) {  // whole words, with an attacker's values
        std::vector<std::byte> bent = whole;
        const auto at = static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(bent.size() / 4) - 1)) * 4;
        const std::uint32_t words[] = {0,          1,          0xFFFFFFFF,
                                       0x7FFFFFFF, 0x80000000, static_cast<std::uint32_t>(whole.size())};
        std::memcpy(bent.data() + at, &words[random.number(0, 5)], std::min<std::size_t>(4, bent.size() - at));
        feed(bent);
      }
    }
  for (int i = 0; i < 50'000; ++i) {
    std::vector<std::byte> noise(static_cast<std::size_t>(random.number(0, 200)));
    for (auto& byte : noise) byte = static_cast<std::byte>(random.number(0, 255));
    if (i % 2 == 0 && noise.size() >= 8) std::memcpy(noise.data() + 4, "RSEV", 4);
    feed(noise);
  }
  INFO(refused << " refused, " << taken << " taken");
  CHECK(refused + taken > 250'000 - 10'000);
  CHECK(refused > 50'000);
}

TEST_CASE("the schema travels as a binary FlatBuffers schema") {
  const auto schema = event_schema();
  REQUIRE(schema.size() > 8);
  CHECK(std::memcmp(schema.data() + 4, "BFBS", 4) == 0);
  CHECK(event_schema_root() == "rankscope.wire.Message");
}

TEST_CASE("a session id prints and parses") {
  const SessionId id = new_session_id();
  SessionId back{};
  REQUIRE(parse_session(to_string(id), back));
  CHECK(back == id);
  CHECK(new_session_id() != id);
  for (const char* bad : {"", "12", "zz112233445566778899aabbccddeeff"}) CHECK_FALSE(parse_session(bad, back));
}
