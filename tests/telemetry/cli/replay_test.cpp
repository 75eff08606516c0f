#include <thread>

#include "telemetry/cli/replayer.hpp"
#include "telemetry/stream/viewer_client.hpp"
#include "tests/telemetry/cli/same_store.hpp"
#include "tests/telemetry/trace/trace_files.hpp"
#include "tests/wait_until.hpp"

namespace rankscope::testing {
namespace {

using namespace std::chrono_literals;

// Replays to one viewer; returns the viewer's store.
struct Replayed {
  RunStore store;
  ReplayResult result;
};
void replay_to_viewer(const std::string& path, const std::string& socket, double speed, Replayed& out) {
  ReplayOptions options;
  options.speed = speed;
  options.relay.endpoint = "ipc://" + socket;
  options.wait_for_viewers = 1;
  std::thread player([&] { out.result = replay(path, options); });
  ViewerOptions viewer_options;
  viewer_options.join.endpoint = options.relay.endpoint;
  ViewerClient viewer(viewer_options, out.store);
  player.join();
}

TEST_CASE("replaying a recording gives a viewer the store of the recording") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  const double speed = GENERATE(0.0, 2.0);
  write_trace(path, small_run());
  RunStore recorded;
  read_trace(path, recorded);
  Replayed replayed;
  replay_to_viewer(path, folder / "relay", speed, replayed);
  CHECK(replayed.result.finished);
  CHECK(test::wait_until(10s, [&] { return replayed.store.view()->event_count() == recorded.view()->event_count(); }));
  require_same(*recorded.view(), *replayed.store.view());
}

TEST_CASE("a damaged recording is replayed with its gaps") {
  const TemporaryDirectory folder;
  write_trace(folder / "whole.mcap", small_run(4000));
  std::string bytes = contents(folder / "whole.mcap");
  for (std::size_t i = 0; i < 3000; ++i) bytes[bytes.size() / 2 + i] = 'x';
  put_contents(folder / "run.mcap", bytes);
  RunStore recorded;
  DamageReport damage;
  read_trace(folder / "run.mcap", recorded, {}, &damage);
  REQUIRE(damage.data_lost());
  REQUIRE(recorded.view()->dropped_count() > 12);
  Replayed replayed;
  replay_to_viewer(folder / "run.mcap", folder / "relay", 0, replayed);
  CHECK(test::wait_until(10s, [&] { return replayed.store.view()->event_count() == recorded.view()->event_count(); }));
  for (int rank = 0; rank < 4; ++rank)
    CHECK_FALSE(recorded.view()->gaps(rank).empty() != replayed.store.view()->gaps(rank).empty());
}

TEST_CASE("a replay waits between messages as long as the run did, divided by the speed") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  std::vector<Message> messages;
  for (int i = 0; i < 5; ++i) {
    Message m;
    m.sequence = static_cast<std::uint64_t>(i + 1);
    const std::int64_t at = i * 50'000'000LL;
    m.event =
        SpanBatch{Obtained::measured, ClockDomain::wall, {{0, 0, OpId::of({.micro_batch = i}), at, at, at + 5, -1}}};
    messages.push_back(m);
  }
  write_trace(path, messages);
  // 0.2 s of a run. A busy machine can only take longer; a replay that ignores the speed is too short at the slower
  // one.
  for (const auto& [speed, least] : {std::pair{2.0, 100ms}, std::pair{0.25, 800ms}}) {
    INFO("speed " << speed);
    ReplayOptions options;
    options.speed = speed;
    options.relay.endpoint = "ipc://" + (folder / ("relay" + std::to_string(least.count())));
    const auto begun = std::chrono::steady_clock::now();
    CHECK(replay(path, options).finished);
    CHECK(std::chrono::steady_clock::now() - begun >= least);
  }
}

TEST_CASE("ranks whose clocks differ are replayed side by side") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  // Within 0.2 s on rank 0's clock; rank 1's clock is a minute behind.
  constexpr std::int64_t minute = 60'000'000'000;
  std::vector<Message> messages;
  for (const std::int32_t rank : {0, 1}) {
    Message clock{{}, rank, 1, 0, ClockRecord{rank, 0, rank * minute, 0}};
    messages.push_back(clock);
  }
  for (int i = 0; i < 5; ++i)
    for (const std::int32_t rank : {1, 0}) {
      const std::int64_t at = minute + i * 50'000'000LL - rank * minute;
      messages.push_back(
          {{},
           rank,
           static_cast<std::uint64_t>(i + 2),
           0,
           SpanBatch{
               Obtained::measured, ClockDomain::wall, {{rank, 0, OpId::of({.micro_batch = i}), at, at, at + 5, -1}}}});
    }
  write_trace(path, messages);
  ReplayOptions options;
  options.relay.endpoint = "ipc://" + (folder / "relay");
  const auto begun = std::chrono::steady_clock::now();
  CHECK(replay(path, options).finished);
  CHECK(std::chrono::steady_clock::now() - begun >= 200ms);
  CHECK(std::chrono::steady_clock::now() - begun < 30s);
}

TEST_CASE("a replay can be stopped at any moment") {
  const TemporaryDirectory folder;
  write_trace(folder / "run.mcap", small_run());
  std::atomic<bool> stop{false};
  ReplayOptions options;
  options.speed = 1e-6;
  options.relay.endpoint = "ipc://" + (folder / "relay");
  options.stop = &stop;
  ReplayResult result;
  std::thread player([&] { result = replay(folder / "run.mcap", options); });
  std::this_thread::sleep_for(100ms);
  stop = true;
  player.join();
  CHECK_FALSE(result.finished);
}

TEST_CASE("a replay beyond this machine without keys is refused") {
  const TemporaryDirectory folder;
  write_trace(folder / "run.mcap", small_run());
  ReplayOptions options;
  options.relay.endpoint = "tcp://0.0.0.0:*";
  CHECK_THROWS_AS(replay(folder / "run.mcap", options), JoinError);
}

}  // namespace
}  // namespace rankscope::testing
