#include <sys/resource.h>
#include <zstd.h>

#include <chrono>
#include <map>
#include <random>
#include <set>

#include "telemetry/store/run_store.hpp"
#include "telemetry/trace/mcap.hpp"
#include "tests/catch.hpp"
#include "tests/slowness.hpp"
#include "tests/telemetry/trace/trace_files.hpp"

namespace rankscope::testing {
namespace {

using Key = std::pair<std::int32_t, std::uint64_t>;

struct Outcome {
  std::size_t missing = 0, invented = 0;
  bool missing_before_others = false;  ///< of a rank with later messages: only those show the loss
  std::vector<Gap> gaps;
  DamageReport damage;
};

// Compares the messages read with those written; gaps that the reader adds have no number.
Outcome read_damaged(const std::string& path, const std::map<Key, Message>& written) {
  Outcome outcome;
  Collected read;
  read_trace(path, read, {}, &outcome.damage);
  std::set<Key> found;
  for (const Message& m : read.messages) {
    if (m.sequence == 0) {
      outcome.gaps.push_back(std::get<Gap>(m.event));
      continue;
    }
    const auto same = written.find({m.rank, m.sequence});
    if (same == written.end() || !(same->second == m)) ++outcome.invented;
    found.insert({m.rank, m.sequence});
  }
  for (const auto& [key, message] : written) {
    if (found.contains(key)) continue;
    ++outcome.missing;
    const auto later = found.upper_bound(key);
    if (later != found.end() && later->first == key.first) outcome.missing_before_others = true;
  }
  return outcome;
}

std::map<Key, Message> by_key(const std::vector<Message>& messages) {
  std::map<Key, Message> map;
  for (const Message& m : messages) map[{m.rank, m.sequence}] = m;
  return map;
}

TEST_CASE("a trace cut at any byte opens with everything before the cut") {
  const TemporaryDirectory folder;
  const auto messages = small_run(800, 2, 40);
  write_trace(folder / "whole.mcap", messages, 4096);
  const std::string whole = contents(folder / "whole.mcap");
  const auto written = by_key(messages);
  std::size_t most_missing = written.size();
  for (std::size_t size = 1; size < whole.size(); size += size < 300 ? 1 : 61) {
    put_contents(folder / "cut.mcap", std::string_view(whole).substr(0, size));
    const Outcome outcome = read_damaged(folder / "cut.mcap", written);
    CAPTURE(size, whole.size());
    REQUIRE(outcome.damage.cut_short);
    REQUIRE(outcome.invented == 0);
    REQUIRE(outcome.missing <= most_missing);  // a longer file never gives less of the run
    most_missing = outcome.missing;
    if (outcome.missing > 0) REQUIRE_FALSE(outcome.damage.notes.empty());
  }
  CHECK(most_missing == 0);
}

TEST_CASE("a flipped bit anywhere is noticed, skipped, and costs one chunk at most") {
  const TemporaryDirectory folder;
  const auto messages = small_run(1500, 2, 40);
  write_trace(folder / "whole.mcap", messages, 4096);
  const std::string whole = contents(folder / "whole.mcap");
  const auto written = by_key(messages);
  const TraceInfo info = read_trace_info(folder / "whole.mcap");
  const std::size_t per_chunk = messages.size() / static_cast<std::size_t>(info.chunks) * 4;
  std::mt19937 random(GENERATE(3u, 4u));
  const bool with_index = GENERATE(true, false);
  // Without the file's end, the reader must scan the file and skip damaged structure.
  const std::string base = with_index ? whole : whole.substr(0, whole.size() - 5);
  std::size_t noticed = 0;
  for (std::size_t at = 0; at < base.size(); at += 1 + random() % 47) {
    std::string damaged = base;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    put_contents(folder / "flipped.mcap", damaged);
    const Outcome outcome = read_damaged(folder / "flipped.mcap", written);
    CAPTURE(at, base.size(), with_index, outcome.missing, outcome.damage.notes);
    REQUIRE(outcome.invented == 0);
    if (outcome.missing > 0) {
      ++noticed;
      REQUIRE(outcome.damage.data_lost());
      REQUIRE_FALSE(outcome.damage.notes.empty());
      if (outcome.missing_before_others) REQUIRE_FALSE(outcome.gaps.empty());
    }
    REQUIRE(outcome.missing <= per_chunk);
  }
  CHECK(noticed > 25);
}

TEST_CASE("noise in the middle is skipped, and each rank's loss becomes a gap at its place") {
  const TemporaryDirectory folder;
  const auto messages = small_run(4000, 3, 40);
  write_trace(folder / "whole.mcap", messages, 8192);
  std::string bytes = contents(folder / "whole.mcap");
  std::mt19937 random(11);
  const std::size_t from = bytes.size() / 3, to = from + bytes.size() / 5;
  for (std::size_t i = from; i < to; ++i) bytes[i] = static_cast<char>(random());
  const bool with_index = GENERATE(true, false);
  if (!with_index) bytes.resize(bytes.size() - 3);
  put_contents(folder / "noisy.mcap", bytes);
  const auto written = by_key(messages);
  const Outcome outcome = read_damaged(folder / "noisy.mcap", written);
  CHECK(outcome.invented == 0);
  CHECK(outcome.missing > 0);
  CHECK(outcome.missing < written.size() / 2);
  std::int64_t missing_events = 0;
  RunStore whole, store;
  for (const Message& m : messages) whole.accept(m);
  read_trace(folder / "noisy.mcap", store);
  for (const Gap& gap : outcome.gaps) {
    REQUIRE(gap.last_sequence - gap.first_sequence + 1 == static_cast<std::uint64_t>(gap.events));
    missing_events += gap.events;
    // All missing spans of the rank are within its gap.
    for (std::uint64_t number = gap.first_sequence; number <= gap.last_sequence; ++number)
      if (const auto* batch = std::get_if<SpanBatch>(&written.at({gap.rank, number}).event))
        for (const Span& span : batch->rows) {
          REQUIRE(span.begin_ns >= gap.begin_ns);
          REQUIRE(span.end_ns <= gap.end_ns);
        }
  }
  CHECK(missing_events == static_cast<std::int64_t>(outcome.missing));
  CHECK(store.view()->dropped_count() == whole.view()->dropped_count() + missing_events);
  const Gap& gap = outcome.gaps.front();
  std::vector<PixelShare> pixel(1);
  store.view()->shares({gap.rank, Lane::compute, Obtained::measured}, {gap.begin_ns + 1, gap.end_ns - 1}, pixel);
  CHECK(pixel[0].unknown > 0.9);
}

TEST_CASE("recovering makes a damaged trace whole again, with all that could be read and the gaps") {
  const TemporaryDirectory folder;
  write_trace(folder / "whole.mcap", small_run(4000, 3, 40), 8192);
  std::string bytes = contents(folder / "whole.mcap");
  for (std::size_t i = 0; i < 40; ++i) bytes[bytes.size() / 2 + i] = 'x';
  bytes.resize(bytes.size() * 9 / 10);
  put_contents(folder / "damaged.mcap", bytes);
  Collected before, after;
  DamageReport damage, rest;
  read_trace(folder / "damaged.mcap", before);
  std::vector<double> shares;
  ReadTraceOptions options;
  options.progress = [&](double share) {
    shares.push_back(share);
    return true;
  };
  recover_trace(folder / "damaged.mcap", folder / "recovered.mcap", &damage, options);
  CHECK(shares.size() > 1);
  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.back() == 1);
  for (const auto& n : damage.notes) UNSCOPED_INFO(n);
  CHECK(damage.data_lost());
  CHECK(damage.cut_short);
  read_trace(folder / "recovered.mcap", after, {}, &rest);
  CHECK_FALSE(rest.any());
  CHECK((after.messages == before.messages));
  const std::string untouched = contents(folder / "damaged.mcap");
  CHECK_THROWS_AS(recover_trace(folder / "damaged.mcap", folder / "damaged.mcap"), TraceError);
  CHECK(contents(folder / "damaged.mcap") == untouched);
}

// Every bit of the file's own description: the header, the schemas and channels before the data, and the metadata.
TEST_CASE("a flipped bit in header or metadata is noticed by info") {
  const TemporaryDirectory folder;
  write_trace(folder / "whole.mcap", small_run(800, 2, 40), 4096);
  const std::string whole = contents(folder / "whole.mcap");
  REQUIRE_FALSE(read_trace_info(folder / "whole.mcap").damage.any());
  std::set<std::size_t> places;
  for (std::size_t at = 8; at < 600; ++at) places.insert(at);
  for (const std::string_view value : {"session", "version", "crc32", "title", "invented", "headline_clock", "host"})
    for (std::size_t at = whole.find(value); at != std::string::npos && at < whole.size() / 2;
         at = whole.find(value, at + 1))
      for (std::size_t i = 0; i < 30; ++i) places.insert(at + i - 14);
  const TraceInfo right = read_trace_info(folder / "whole.mcap");
  std::mt19937 random(5);
  for (const std::size_t at : places) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    put_contents(folder / "flipped.mcap", damaged);
    const TraceInfo info = read_trace_info(folder / "flipped.mcap");
    CAPTURE(at);
    const bool same = info.library == right.library && info.session == right.session && info.run == right.run;
    REQUIRE((same || info.damage.any()));
    // A checksum covers all of this, even bytes whose change has no visible effect.
    if (at < 600) REQUIRE(info.damage.any());
  }
}

// The output of zstd for this many zeros, which are never all in memory.
std::string packed_zeros(std::size_t bytes) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> compressor{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  const std::string zeros(std::size_t{1} << 20, '\0');
  std::string packed(ZSTD_compressBound(bytes) / 256 + 4096, '\0');
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  for (std::size_t done = 0; done < bytes; done += zeros.size()) {
    ZSTD_inBuffer in{zeros.data(), zeros.size(), 0};
    const bool last = done + zeros.size() >= bytes;
    while (ZSTD_compressStream2(compressor.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue) > 0 &&
           (last || in.pos < in.size)) {
    }
  }
  packed.resize(out.pos);
  return packed;
}

// An MCAP file whose chunks unpack to much more than their size.
std::string bomb(std::size_t chunks, std::size_t unpacked_bytes, std::size_t named_times) {
  mcap::Bytes out;
  mcap::Writer writer(out);
  writer.bytes(std::as_bytes(std::span(mcap::magic)));
  mcap::write_header(out, "", "test");
  const std::string packed = packed_zeros(unpacked_bytes);
  std::vector<mcap::ChunkIndex> indexes;
  for (std::size_t i = 0; i < chunks; ++i) {
    mcap::ChunkIndex index{0, 1, out.size(), 0, {}, 0, "zstd", packed.size(), unpacked_bytes};
    mcap::write_chunk(out, {0, 1, unpacked_bytes, 0, "zstd"}, std::as_bytes(std::span(packed)));
    index.length = out.size() - index.offset;
    for (std::size_t n = 0; n < named_times; ++n) indexes.push_back(index);
  }
  mcap::write_data_end(out, 0);
  mcap::Bytes summary;
  mcap::Statistics statistics;
  statistics.messages = 1;
  statistics.chunks = static_cast<std::uint32_t>(indexes.size());
  mcap::write(summary, statistics);
  for (const mcap::ChunkIndex& index : indexes) mcap::write(summary, index);
  const std::size_t summary_start = out.size();
  mcap::write_end(summary, summary_start, 0);
  writer.bytes(summary);
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

std::int64_t resident_peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

TEST_CASE("chunks that unpack to much more than they are do not exhaust the reader") {
  const TemporaryDirectory folder;
  struct Case {
    std::size_t chunks, bytes, named;
    const char* explanation;
  };
  const auto [chunks, bytes, named, explanation] = GENERATE(
      Case{6, std::size_t{256} << 20, 1, "larger than any chunk"}, Case{1, std::size_t{32} << 20, 1, "times its size"},
      Case{300, std::size_t{8} << 20, 1, "more than a file of this size may hold"},
      Case{1, std::size_t{1} << 20, 200'000, "twice"});
  put_contents(folder / "bomb.mcap", bomb(chunks, bytes, named));
  const std::int64_t before = resident_peak_bytes();
  RunStore store;
  DamageReport damage;
  const auto begin = std::chrono::steady_clock::now();
  read_trace(folder / "bomb.mcap", store, {}, &damage);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10) * test::slowness);
  const std::string notes = [&] {
    std::string all;
    for (const std::string& note : damage.notes) all += note + "\n";
    return all;
  }();
  CAPTURE(notes.substr(0, 2000));
  CHECK(notes.find(explanation) != std::string::npos);
  CHECK(damage.any());
  // The file's own size, and in each of at most four threads the 64 MiB to which any file may unpack.
  if (test::slowness == 1) CHECK(resident_peak_bytes() - before < std::int64_t{500} << 20);
}

TEST_CASE("identical rows, which take almost no space in the file, do not exhaust the reader") {
  const TemporaryDirectory folder;
  Message message;
  message.session = new_session_id();
  SpanBatch batch;
  Span span;
  span.op = *parse_token("F:c0:m0");
  batch.rows.assign(DecodeLimits().rows, span);
  message.event = batch;
  {
    TraceWriter writer(folder / "alike.mcap");
    for (std::uint64_t i = 0; i < 12; ++i) {
      message.sequence = i + 1;
      writer.accept(message);
    }
    REQUIRE(writer.close());
  }
  struct Counted : EventSink {
    std::size_t rows = 0;
    void accept(const Message& m) override {
      if (const auto* spans = std::get_if<SpanBatch>(&m.event)) rows += spans->rows.size();
    }
  } counted;
  DamageReport damage;
  read_trace(folder / "alike.mcap", counted, {}, &damage);
  const std::size_t file_bytes = contents(folder / "alike.mcap").size();
  CAPTURE(file_bytes, counted.rows);
  CHECK(file_bytes < 1 << 20);
  CHECK(counted.rows > 0);
  CHECK(counted.rows <= (std::size_t{4} << 20) + 8 * file_bytes);
  CHECK(damage.data_lost());
}

}  // namespace
}  // namespace rankscope::testing
