#include "telemetry/stream/publisher.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>

#include "telemetry/stream/spool.hpp"
#include "tests/catch.hpp"
#include "tests/telemetry/stream/support.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

PublisherOptions spool_only(const Directory& directory) {
  PublisherOptions options;
  options.session = a_session();
  options.spool_directory = directory.file("spool");
  return options;
}

}  // namespace

TEST_CASE("the rows of two ranks' lanes are in two spools, complete and in sequence") {
  const Directory directory;
  const int spans = 20'000;
  {
    Publisher publisher(spool_only(directory));
    REQUIRE(publisher.control(0, a_hello(2)));
    std::vector<std::thread> threads;
    std::atomic<std::int64_t> written = 0;
    for (std::int32_t rank : {0, 1})
      for (Lane lane : {Lane::compute, Lane::data}) {
        LaneWriter& writer = publisher.lane(rank, lane);
        threads.emplace_back([&, rank] {
          for (int i = 0; i < spans; ++i) {
            writer.span(a_span(rank, static_cast<std::uint32_t>(i / 100), i));
            if (i % 10 == 0) writer.memory({rank, 0, OpId(), i, {1, 2, 3, 4, i}});
            if (i % 100 == 0) writer.phase(an_unknown_phase(rank, static_cast<std::uint32_t>(i / 100), i));
            if (i % 4000 < 3999) continue;
            // A lane's ring has room for twice as many.
            const std::int64_t all = written += 4000 + 4000 / 10 + 4000 / 100;
            eventually([&] { return publisher.status().events >= all; });
          }
        });
      }
    for (auto& thread : threads) thread.join();
    for (std::int32_t rank : {0, 1}) {
      publisher.summary(a_summary(rank, 0));
      publisher.control(rank, End{rank, true, 0, "", false});
    }
    REQUIRE(publisher.close(60s));
    const auto status = publisher.status();
    CHECK(status.dropped_events == 0);
    CHECK(status.events == 4 * (spans + spans / 10 + spans / 100));
    CHECK(status.spool_lost == 0);
    CHECK(publisher.counts(1).emitted == 2 * (spans + spans / 10 + spans / 100));
  }
  Collector sink;
  const SpoolReport report = read_spool(directory.file("spool"), sink);
  CHECK(report.files == 2);
  CHECK(report.torn + report.refused + report.unknown == 0);
  CHECK(sink.spans() == 4 * spans);
  CHECK(sink.summaries() == 2);
  CHECK_FALSE(sink.any_double());
  int phases = 0;
  for (const PhaseBatch& batch : sink.all<PhaseBatch>())
    for (const PhaseSpan& phase : batch.rows) {
      REQUIRE(phase == an_unknown_phase(phase.rank, phase.step, std::int64_t{100} * phase.step));
      ++phases;
    }
  CHECK(phases == 4 * spans / 100);
  std::map<std::int32_t, std::uint64_t> next;
  std::map<std::int32_t, bool> ended;
  for (const Message& m : sink.messages()) {
    CHECK(m.sequence == ++next[m.rank]);
    CHECK_FALSE(ended[m.rank]);  // nothing follows an end
    ended[m.rank] = std::holds_alternative<End>(m.event);
    CHECK(m.session == a_session());
    const std::uint64_t control = m.rank == 0 ? 1 : 0;
    CHECK(m.control_sequence == control + (ended[m.rank] ? 1 : 0));
  }
  CHECK(ended[0]);
  CHECK(ended[1]);
  struct stat info {};
  REQUIRE(stat(directory.file("spool").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  REQUIRE(stat(spool_file(directory.file("spool"), 0, 0).c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

// The number of drops depends on when the thread drains. But each row is always either written or in a gap.
TEST_CASE("full rings drop without waiting, and every dropped row is in a gap, to the last") {
  const Directory directory;
  auto options = spool_only(directory);
  options.ring_rows = 16;
  options.period = 100ms;
  const int spans = 5000;
  {
    Publisher publisher(options);
    LaneWriter& lane = publisher.lane(0, Lane::compute);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < spans; ++i) lane.span(a_span(0, 0, i));
    const auto took = std::chrono::steady_clock::now() - begin;
    CHECK(took < 2s);  // waiting a period for room each time would take 31 s
    CHECK(lane.emitted() + lane.dropped() == spans);
    publisher.close(60s);
    CHECK(publisher.status().dropped_events == lane.dropped());
  }
  Collector sink;
  read_spool(directory.file("spool"), sink);
  std::int64_t in_gaps = 0;
  for (const Gap& gap : sink.all<Gap>()) {
    in_gaps += gap.events;
    CHECK(gap.begin_ns <= gap.end_ns);
    CHECK(gap.end_ns <= spans * 100);
    CHECK(gap.first_sequence == 0);
  }
  CHECK(in_gaps + sink.spans() == spans);
  CHECK(in_gaps > 0);
}

TEST_CASE("invalid rows are left out and counted, and the rest of their batch is kept") {
  const Directory directory;
  {
    Publisher publisher(spool_only(directory));
    LaneWriter& lane = publisher.lane(0, Lane::compute);
    lane.span(a_span(0, 0, 1));
    Span backwards = a_span(0, 0, 2);
    std::swap(backwards.begin_ns, backwards.end_ns);
    lane.span(backwards);
    Span nothing = a_span(0, 0, 3);
    nothing.op = OpId();
    lane.span(nothing);
    lane.memory({0, 0, OpId(), 5, {-1, 0, 0, 0, 0}});
    publisher.close(60s);
    CHECK(publisher.status().malformed_events == 3);
    CHECK(publisher.status().dropped_events == 3);
  }
  Collector sink;
  read_spool(directory.file("spool"), sink);
  CHECK(sink.spans() == 1);
}

TEST_CASE("keep every:N produces the detail of those steps alone, summaries always") {
  const Directory directory;
  auto options = spool_only(directory);
  options.keep = *parse_keep("every:5");
  {
    Publisher publisher(options);
    LaneWriter& lane = publisher.lane(0, Lane::compute);
    SpanBatch emulated{Obtained::emulated, ClockDomain::device, {}};
    for (std::uint32_t step = 0; step < 20; ++step) {
      lane.span(a_span(0, step, step));
      emulated.rows.push_back(a_span(0, step, step));
      publisher.summary(a_summary(0, step));
    }
    CHECK(publisher.detail(0, emulated));
    publisher.close(60s);
    CHECK(publisher.status().dropped_events == 0);
  }
  Collector sink;
  read_spool(directory.file("spool"), sink);
  CHECK(sink.summaries() == 20);
  std::multiset<std::uint32_t> steps;
  for (const SpanBatch& batch : sink.all<SpanBatch>())
    for (const Span& span : batch.rows) steps.insert(span.step);
  CHECK(steps == std::multiset<std::uint32_t>{0, 0, 5, 5, 10, 10, 15, 15});
}

TEST_CASE("keep policies are parsed, and an invalid one is refused with the valid forms") {
  CHECK(parse_keep("all")->every == 1);
  CHECK(parse_keep("every:12")->every == 12);
  CHECK(parse_keep("last:30s")->last == 30s);
  CHECK(parse_keep("last:250ms")->last == 250ms);
  CHECK(parse_keep("last:2min")->last == 2min);
  for (const char* bad :
       {"", "none", "every:", "every:0", "every:-1", "every:2s", "last:5", "last:s", "last:5parsec", "last:0s"}) {
    std::string error;
    INFO(bad);
    CHECK_FALSE(parse_keep(bad, &error));
    CHECK(error.find("every:N") != std::string::npos);
  }
}

TEST_CASE("a batch larger than a message is split") {
  const Directory directory;
  auto options = spool_only(directory);
  options.batch_rows = 100;
  SpanBatch batch{Obtained::emulated, ClockDomain::device, {}};
  for (int i = 0; i < 1050; ++i) batch.rows.push_back(a_span(2, 1, i));
  {
    Publisher publisher(options);
    CHECK(publisher.detail(2, batch));
  }
  Collector sink;
  read_spool(directory.file("spool"), sink);
  const auto batches = sink.all<SpanBatch>();
  CHECK(batches.size() == 11);
  std::vector<Span> together;
  for (const SpanBatch& b : batches) {
    CHECK(b.obtained == Obtained::emulated);
    CHECK(b.clock == ClockDomain::device);
    together.insert(together.end(), b.rows.begin(), b.rows.end());
  }
  CHECK(together == batch.rows);
}

TEST_CASE("batches of short steps do not wait for the next drain until there is no room for more") {
  const Directory directory;
  auto options = spool_only(directory);
  options.period = 1h;
  options.detail_messages = 8;
  Publisher publisher(options);
  for (int i = 1; i <= 40; ++i) {
    CHECK(publisher.detail(0, SpanBatch{Obtained::emulated, ClockDomain::device, {a_span(0, 1, i)}}));
    // The publisher drains when half of the room is used.
    if (i % 4 == 0) REQUIRE(eventually([&] { return publisher.status().events == i; }));
  }
  CHECK(publisher.status().dropped_events == 0);
}

TEST_CASE("with no relay, control and summaries are kept up to the limit and then counted, and nothing waits") {
  const Directory directory;
  auto options = spool_only(directory);
  options.relay.endpoint = "ipc://" + directory.file("nobody");
  options.reliable_messages = 100;
  Publisher publisher(options);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t step = 0; step < 90; ++step) REQUIRE(publisher.summary(a_summary(0, step)));
  REQUIRE(eventually([&] { return publisher.status().waiting == 90; }));
  for (std::uint32_t step = 90; step < 140; ++step) publisher.summary(a_summary(0, step));
  REQUIRE(eventually([&] { return publisher.status().waiting == 100; }));
  CHECK(eventually([&] { return publisher.status().reliable_lost == 40; }));
  CHECK_FALSE(publisher.status().connected);
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
  CHECK_FALSE(publisher.close(50ms));  // reports that the relay did not get them
  Collector sink;
  read_spool(directory.file("spool"), sink);
  CHECK(sink.summaries() == 140);
}

TEST_CASE("a disk that is full does not stop training, and is reported") {
  const Directory directory;
  auto options = spool_only(directory);
  std::filesystem::create_directory(options.spool_directory);
  std::filesystem::create_symlink("/dev/full", spool_file(options.spool_directory, 0, 0));
  std::mutex mutex;
  std::vector<std::string> warnings;
  options.warn = [&](const std::string& why) {
    const std::lock_guard lock(mutex);
    warnings.push_back(why);
  };
  Publisher publisher(options);
  LaneWriter& lane = publisher.lane(0, Lane::compute);
  for (int i = 0; i < 100; ++i) lane.span(a_span(0, 0, i));
  REQUIRE(eventually([&] {  // the error is shown for a second
    const auto status = publisher.status();
    return status.spool_lost > 0 && status.spool_error.find("No space left") != std::string::npos;
  }));
  const std::lock_guard lock(mutex);
  CHECK(warnings.size() == 1);
}

TEST_CASE("a process killed while it trains leaves a spool that lacks only the last moment") {
  const Directory directory;
  int to_parent[2];
  REQUIRE(pipe(to_parent) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Publisher publisher(spool_only(directory));
    publisher.control(0, a_hello(1));
    LaneWriter& lane = publisher.lane(0, Lane::compute);
    for (int i = 0;; ++i) {
      lane.span(a_span(0, static_cast<std::uint32_t>(i), i));
      publisher.summary(a_summary(0, static_cast<std::uint32_t>(i)));
      if (i % 10 == 0) {
        const char byte = 0;
        if (write(to_parent[1], &i, sizeof i) < 0) _exit(byte);
      }
      usleep(1000);
    }
  }
  close(to_parent[1]);
  int step = 0;
  while (step < 1500) REQUIRE(read(to_parent[0], &step, sizeof step) == sizeof step);
  kill(child, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  close(to_parent[0]);
  Collector sink;
  read_spool(directory.file("spool"), sink);
  const auto summaries = sink.all<StepSummary>();
  REQUIRE(!summaries.empty());
  // The last drain is about 20 ms before the end, and earlier on a busy machine; a step takes about a millisecond.
  CHECK(summaries.back().step > 500);
  for (std::size_t i = 0; i < summaries.size(); ++i) REQUIRE(summaries[i].step == i);
  CHECK(sink.all<Hello>().size() == 1);
}
