#include <sys/resource.h>

#include <csignal>
#include <thread>

#include "telemetry/store/run_store.hpp"
#include "telemetry/trace/scalars.hpp"
#include "tests/catch.hpp"
#include "tests/telemetry/trace/trace_files.hpp"

namespace rankscope::testing {
namespace {

TEST_CASE("what was recorded is read back, message for message, with any number of threads") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  const auto messages = small_run();
  write_trace(path, messages);
  for (const int threads : {1, 3}) {
    Collected read;
    DamageReport damage;
    ReadTraceOptions options;
    options.threads = threads;
    double done = 0;
    options.progress = [&](double share) {
      CHECK(share > done);
      done = share;
      return true;
    };
    CHECK(read_trace(path, read, options, &damage));
    CHECK(done == 1);
    CHECK_FALSE(damage.any());
    CHECK((read.messages == messages));
  }
}

TEST_CASE("a trace's contents are listed without reading its messages") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  const auto messages = small_run();
  write_trace(path, messages);
  const TraceInfo info = read_trace_info(path);
  CHECK_FALSE(info.damage.any());
  CHECK(info.session == "01020300000000000000000000000000");
  CHECK(info.run.at("title") == "invented");
  CHECK(info.library.starts_with("rankscope "));
  CHECK(info.chunks > 5);
  CHECK(info.data_bytes > info.file_bytes);
  std::map<std::string, std::int64_t> counts;
  for (const TraceTopic& topic : info.topics) counts[topic.name] = topic.messages;
  CHECK(counts["/rankscope/control"] == 5);  // hello, end, program, clock, gap
  CHECK(counts["/rankscope/memory"] == 1);
  CHECK(counts["/rankscope/phases"] == 1);
  CHECK(counts["/memory/rank_3"] == counts["/rankscope/summary"] / 4);
  std::int64_t ours = 0;
  for (const auto& [topic, count] : counts) ours += topic.starts_with("/rankscope/") ? count : 0;
  CHECK(ours == static_cast<std::int64_t>(messages.size()));
}

TEST_CASE("a step's joules and watts can be plotted if all its ranks have reported theirs") {
  std::map<std::string, std::vector<double>> published;
  ScalarTopics topics([&](const std::string& topic, std::int64_t, const ScalarValues& values) {
    published[topic].push_back(values.back().second);
  });
  for (std::uint32_t step = 0; step < 3; ++step)
    for (int rank = 0; rank < 2; ++rank) {
      StepSummary summary;
      summary.rank = rank;
      summary.step = step;
      summary.begin_ns = step * 500'000'000;
      summary.end_ns = summary.begin_ns + 500'000'000;
      if (rank == 0 || step != 1) summary.energy_joules = rank == 0 ? 20 : 0;
      if (rank == 0) summary.energy_source = PowerSource::rapl;
      topics.accept(summary);
    }
  topics.finish();
  CHECK(published["/energy"] == std::vector<double>{20, 20});
  CHECK(published["/power"] == std::vector<double>{40, 40});
  CHECK(published["/step_seconds"].size() == 3);
}

TEST_CASE("the store of a recording is the store of the run") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  RunStore live, recorded;
  const auto messages = small_run();
  for (const Message& m : messages) live.accept(m);
  write_trace(path, messages);
  read_trace(path, recorded);
  const auto a = live.view(), b = recorded.view();
  CHECK(a->event_count() == b->event_count());
  CHECK(a->dropped_count() == b->dropped_count());
  CHECK(*a->hello() == *b->hello());
  REQUIRE(a->lanes() == b->lanes());
  for (const LaneKey& lane : a->lanes()) {
    const TimeRange all = a->extent(lane.obtained);
    CHECK(a->spans(lane, all, 0, SIZE_MAX) == b->spans(lane, all, 0, SIZE_MAX));
    std::vector<PixelShare> pa(100), pb(100);
    a->shares(lane, all, pa);
    b->shares(lane, all, pb);
    for (std::size_t i = 0; i < pa.size(); ++i) REQUIRE(pa[i].busy == pb[i].busy);
  }
  for (int rank = 0; rank < 4; ++rank) {
    CHECK(a->summaries(rank) == b->summaries(rank));
    CHECK(a->gaps(rank) == b->gaps(rank));
  }
}

TEST_CASE("reading can be stopped") {
  const TemporaryDirectory folder;
  write_trace(folder / "run.mcap", small_run());
  Collected read;
  ReadTraceOptions options;
  options.progress = [](double share) { return share < 0.3; };
  CHECK_FALSE(read_trace(folder / "run.mcap", read, options));
  CHECK_FALSE(read.messages.empty());
}

TEST_CASE("files that are no traces are refused by name") {
  const TemporaryDirectory folder;
  Collected read;
  CHECK_THROWS_AS(read_trace(folder / "absent.mcap", read), TraceError);
  put_contents(folder / "empty.mcap", "");
  CHECK_THROWS_AS(read_trace(folder / "empty.mcap", read), TraceError);
  put_contents(folder / "text.mcap", "this is a text, not a trace, whatever its name says");
  CHECK_THROWS_WITH(read_trace(folder / "text.mcap", read), ContainsText("text.mcap: not a trace"));
  CHECK_THROWS_AS(read_trace_info(folder / "."), TraceError);
  CHECK_THROWS_AS(TraceWriter(folder / "no/such/folder.mcap"), TraceError);
}

TEST_CASE("a recorder that dies loses at most its open chunk") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  const auto messages = small_run();
  auto* writer = new TraceWriter(path);  // never closed: like a killed process
  for (const Message& m : messages) writer->accept(m);
  writer->flush();
  Collected read;
  DamageReport damage;
  read_trace(path, read, {}, &damage);
  CHECK((read.messages == messages));
  CHECK(damage.index_missing);
  CHECK(damage.cut_short);
  CHECK_FALSE(damage.data_lost());
  delete writer;
}

TEST_CASE("an old chunk is written even if no new message arrives") {
  const TemporaryDirectory folder;
  TraceWriterOptions options;
  options.chunk_age = std::chrono::milliseconds(20);
  TraceWriter writer(folder / "run.mcap", options);
  writer.accept(small_run().front());
  const auto before = writer.bytes();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  writer.tick();
  CHECK(writer.bytes() > before);
}

TEST_CASE("a full disk costs messages, which are counted, and never the file") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  std::int64_t lost = 0;
  const auto messages = small_run();
  {
    TraceWriterOptions options;
    options.chunk_bytes = 8192;
    TraceWriter writer(path, options);
    const rlimit small{20'000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (i == messages.size() * 2 / 3) setrlimit(RLIMIT_FSIZE, &before);  // now there is space
      writer.accept(messages[i]);
    }
    lost = writer.lost_messages();
    CHECK_FALSE(writer.close());
    CHECK(writer.error().find("run.mcap: cannot write") != std::string::npos);
  }
  std::signal(SIGXFSZ, old);
  CHECK(lost > 0);
  Collected read;
  DamageReport damage;
  read_trace(path, read, {}, &damage);
  CHECK_FALSE(damage.any());
  CHECK(read.messages.size() > messages.size() / 3);
  CHECK(read.messages.back() == messages.back());
}

}  // namespace
}  // namespace rankscope::testing
