// Data from files and sockets may be damaged or malicious. They must be read or refused, never trusted, and must not
// use more memory than their size allows. With sanitizers and many rounds, this test searches for missing checks.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>

#include "telemetry/classroom/messages.hpp"
#include "telemetry/relay/exchange.hpp"
#include "telemetry/store/run_store.hpp"
#include "telemetry/stream/join.hpp"
#include "telemetry/stream/link.hpp"
#include "telemetry/stream/spool.hpp"
#include "telemetry/stream/viewer_history.hpp"
#include "telemetry/trace/chunk_reader.hpp"
#include "telemetry/trace/mcap.hpp"
#include "tests/catch.hpp"
#include "tests/telemetry/damage/damage.hpp"
#include "tests/telemetry/event/random_events.hpp"
#include "tests/telemetry/trace/trace_files.hpp"

using namespace rankscope;
using namespace rankscope::test;
using rankscope::testing::contents;
using rankscope::testing::put_contents;
using rankscope::testing::TemporaryDirectory;

namespace {

int rounds(int usual) {
  const char* expected = std::getenv("RANKSCOPE_DAMAGE_ROUNDS");
  return expected != nullptr && std::atoi(expected) > 0 ? std::atoi(expected) : usual;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Counted : EventSink {
  std::int64_t rows = 0;
  void accept(const Message& message) override {
    if (const auto* spans = std::get_if<SpanBatch>(&message.event)) rows += std::ssize(spans->rows);
    if (const auto* memory = std::get_if<MemoryBatch>(&message.event)) rows += std::ssize(memory->rows);
    if (const auto* phases = std::get_if<PhaseBatch>(&message.event)) rows += std::ssize(phases->rows);
  }
};

/// A chunk with valid checksums and lengths, and any records: damage that only decoding can detect.
std::string file_of_chunk(const std::string& records) {
  mcap::Bytes out;
  mcap::Writer(out).bytes(std::as_bytes(std::span(mcap::magic)));
  mcap::write_header(out, "", "test");
  mcap::write_chunk(out, {0, 1, records.size(), 0, ""}, bytes_of(records));  // no checksum
  return text_of(out);
}

std::string message_record(const Message& message) {
  mcap::Bytes out;
  mcap::write_message(out, 3, 1, 0, encode(message));
  return text_of(out);
}

/// Reads the file in every way; a file that is not a trace is refused with a TraceError, and no other exception is
/// allowed.
void read_in_every_way(const std::string& path, std::size_t file_bytes) {
  try {
    read_trace_info(path);
    RunStore store;
    DamageReport damage;
    read_trace(path, store, {}, &damage);
    Counted counted;
    ReadTraceOptions threads;
    threads.threads = 2;
    read_trace(path, counted, threads);
    REQUIRE(counted.rows <= (std::int64_t{4} << 20) + 8 * static_cast<std::int64_t>(file_bytes));
  } catch (const TraceError&) {
  }
}

}  // namespace

TEST_CASE("damaged recordings are read or refused") {
  const TemporaryDirectory folder;
  rankscope::testing::write_trace(folder / "whole.mcap", rankscope::testing::small_run(800, 2, 40), 4096);
  const std::string whole = contents(folder / "whole.mcap");
  Damage damage(1);
  for (int i = rounds(300); i > 0; --i) {
    const std::string damaged = damage.done_to(whole);
    put_contents(folder / "damaged.mcap", damaged);
    CAPTURE(i);
    read_in_every_way(folder / "damaged.mcap", damaged.size());
  }
}

TEST_CASE("recordings with damaged messages and valid checksums are read or refused") {
  const TemporaryDirectory folder;
  Damage damage(2);
  RandomEvents random(2);
  for (int i = rounds(300); i > 0; --i) {
    std::string records;
    for (int kind = 0; kind < RandomEvents::kinds; ++kind) records += message_record(random.message(kind));
    const std::string file = file_of_chunk(damage.done_to(records));
    put_contents(folder / "damaged.mcap", file);
    CAPTURE(i);
    read_in_every_way(folder / "damaged.mcap", file.size());
  }
}

TEST_CASE("damaged messages are decoded to valid events or refused, identically in both ways of reading") {
  Damage damage(3);
  RandomEvents random(3);
  for (int i = rounds(2000); i > 0; --i) {
    const std::string damaged = damage.done_to(text_of(encode(random.message(i % RandomEvents::kinds))));
    CAPTURE(i);
    const Decoded decoded = decode(bytes_of(damaged));
    const EncodedMessage checked(bytes_of(damaged));
    REQUIRE(checked.outcome() == decoded.outcome);
    if (!decoded) continue;
    // A decoded message is valid, so it can be encoded again.
    REQUIRE(decode(encode(decoded.message)).outcome == Decoded::Outcome::message);
  }
}

TEST_CASE("damaged messages at a relay change nothing but its counts") {
  Damage damage(4);
  RandomEvents random(4);
  const SessionId session = new_session_id();
  Counted tap;
  Exchange exchange(session, 1 << 20, {&tap}, {});
  std::uint64_t sequence = 0;
  for (int i = rounds(2000); i > 0; --i) {
    Message message = random.message(i % RandomEvents::kinds);
    message.session = session;
    message.rank = 0;
    message.sequence = ++sequence;
    const std::string damaged = damage.done_to(text_of(encode(message)));
    exchange.take(shared(std::vector<std::byte>(bytes_of(damaged).begin(), bytes_of(damaged).end())), std::nullopt);
    if (i % 64 == 0) exchange.give_up_holes(std::chrono::seconds(0));
  }
  CHECK(exchange.session() == session);
}

TEST_CASE("damaged headers, bodies and histories of the link are parsed or refused") {
  Damage damage(5);
  RandomEvents random(5);
  for (int i = rounds(2000); i > 0; --i) {
    std::vector<std::byte> body;
    for (int kind = 0; kind < 3; ++kind) link::append(body, {SpoolPosition{1, 2}, encode(random.message(kind + 3))});
    const std::string damaged = damage.done_to(text_of(body));
    if (const auto pieces = link::pieces_of(bytes_of(damaged))) {
      std::size_t bytes = 0;
      for (const link::Piece& piece : *pieces) bytes += piece.bytes.size();
      REQUIRE(bytes <= damaged.size());
    }
    const auto header = link::pack({link::Type::worker_messages, 1, 2, 3, 4});
    link::unpack(bytes_of(damage.done_to(text_of(header))));
    std::map<std::int32_t, SequenceSet> seen;
    for (std::uint64_t n = 1; n < 40; n += 2) seen[3].insert(n);
    unpack_history(bytes_of(damage.done_to(pack_history(seen))));
  }
}

TEST_CASE("damaged messages of a class and join strings are read or refused with a reason") {
  Damage damage(6);
  classroom::SharedView shared;
  shared.lab = "pipeline-1f1b";
  shared.op = "B:c2:m1";
  const std::vector<std::string> texts{
      to_text(classroom::Message(shared)),
      to_text(classroom::Message(
          classroom::Answer{.lab = "lab", .question = 1, .attempt = 2.5, .at = "2026-11-24T09:30:00Z"})),
      to_text(classroom::Message(classroom::Hello{"Ada", std::string(40, 'a'), std::string(80, 'b')}))};
  Join join{"tcp://host.example:7070", new_curve_keys().public_key, new_curve_keys(), {}};
  for (int i = rounds(2000); i > 0; --i) {
    std::string why;
    if (!classroom::parse(damage.done_to(texts[damage.below(texts.size())]), &why)) REQUIRE_FALSE(why.empty());
    try {
      parse_join(damage.done_to(to_string(join)));
    } catch (const JoinError& error) {
      REQUIRE(std::string(error.what()).size() < 1000);
    }
  }
}

TEST_CASE("damaged spools are read up to the damage") {
  const TemporaryDirectory folder;
  const std::string spool = folder / "spool";
  std::filesystem::create_directory(spool);
  RandomEvents random(7);
  const SessionId session = new_session_id();
  {
    SpoolWriter writer({spool, {}}, session, 0);
    for (int i = 0; i < 60; ++i) writer.append(encode(random.message(i % RandomEvents::kinds)), true);
    REQUIRE(writer.flush());
  }
  const std::string file = spool_file(spool, 0, 0), whole = contents(file);
  Damage damage(7);
  for (int i = rounds(300); i > 0; --i) {
    put_contents(file, damage.done_to(whole));
    Counted sink;
    try {
      read_spool(spool, sink);
    } catch (const std::runtime_error&) {  // not a spool any more
    }
  }
}
