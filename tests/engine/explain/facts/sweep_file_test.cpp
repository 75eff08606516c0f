// A sweep's recording: complete after every run, readable around damage, and never confused with other kinds of files.
#include "engine/explain/facts/sweep_file.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;

namespace {

namespace fs = std::filesystem;

using Directory = testing::TemporaryDirectory;

Sweep two_points() {
  Sweep sweep;
  sweep.title = "two points";
  sweep.axes = {{"plan.data", {"1", "2"}}};
  for (const int ranks : {1, 2}) {
    SweepPoint point;
    point.keys = {{"plan.data", std::to_string(ranks)}};
    point.ranks = ranks;
    sweep.points.push_back(point);
  }
  return sweep;
}

SweepRun run_of(int point) {
  SweepRun run;
  run.point = point;
  run.step_seconds = {0.25, 0.5};
  return run;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// The file on the disk before it is closed, as a kill would leave it.
std::string before_closing(const Directory& directory) {
  SweepRecorder recorder(directory / "open.mcap", two_points());
  recorder.add(run_of(0), 1000);
  recorder.add(run_of(1), 2000);
  return bytes_of(directory / "open.mcap");
}

}  // namespace

TEST_CASE("a sweep is read back as it was recorded, and its file is complete by its own index") {
  const Directory directory;
  const std::string path = directory / "sweep.mcap";
  SweepRecorder recorder(path, two_points());
  recorder.add(run_of(1), 1000);
  recorder.add(run_of(0), 2000);
  CHECK(recorder.close().empty());
  DamageReport damage;
  const Sweep sweep = read_sweep(path, &damage);
  CHECK(!damage.any());
  CHECK(is_sweep(path));
  CHECK(recorded(sweep) == recorded(two_points()));
  REQUIRE(sweep.runs.size() == 2);
  CHECK(sweep.runs[0].point == 1);
  CHECK(sweep.runs[1].step_seconds == std::vector<double>{0.25, 0.5});
  const TraceInfo info = read_trace_info(path);
  CHECK(!info.damage.any());
  CHECK(info.messages == 3);
  CHECK(info.last_ns == 2000);
}

TEST_CASE("every flipped bit in a sweep's recording is detected") {
  const Directory directory;
  const std::string path = directory / "sweep.mcap", damaged = directory / "damaged.mcap";
  SweepRecorder recorder(path, two_points());
  recorder.add(run_of(0), 1000);
  REQUIRE(recorder.close().empty());
  const TraceInfo whole = read_trace_info(path);
  std::string bytes = bytes_of(path);
  std::int64_t noticed = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    INFO("byte " << at << " of " << bytes.size());
    bytes[at] ^= 1;
    write(damaged, bytes);
    bytes[at] ^= 1;
    try {
      DamageReport damage;
      const TraceInfo info = read_trace_info(damaged);
      read_sweep(damaged, &damage);
      if (info.damage.any() || damage.any()) {
        ++noticed;
        continue;
      }
      CHECK(info.library == whole.library);
      CHECK(info.session == whole.session);
      CHECK(info.run == whole.run);
      CHECK(info.messages == whole.messages);
    } catch (const TraceError&) {
      ++noticed;
    }
  }
  CHECK(noticed > static_cast<std::int64_t>(bytes.size() / 2));
}

TEST_CASE("every run is on the disk before the next one begins: a killed sweep's recording can be opened") {
  const Directory directory;
  write(directory / "killed.mcap", before_closing(directory));
  DamageReport damage;
  const Sweep sweep = read_sweep(directory / "killed.mcap", &damage);
  CHECK(damage.cut_short);
  CHECK(sweep.runs.size() == 2);
}

TEST_CASE("cut anywhere, a sweep's recording gives the runs before the cut or is refused") {
  const Directory directory;
  const std::string whole = before_closing(directory), path = directory / "cut.mcap";
  std::size_t most = 0;
  for (std::size_t size = 1; size < whole.size(); size += 7) {
    write(path, whole.substr(0, size));
    try {
      const std::size_t runs = read_sweep(path).runs.size();
      CHECK(runs >= most);
      most = std::max(most, runs);
    } catch (const TraceError& error) {
      CHECK(most == 0);
      CHECK(std::string(error.what()).find(path) == 0);
    }
  }
  CHECK(most == 2);  // the last run's chunk is complete before the index is
}

TEST_CASE("a flipped bit costs one document at most, and is reported") {
  const Directory directory;
  const std::string whole = before_closing(directory), path = directory / "bit.mcap";
  const std::size_t in_last_run = whole.rfind("step_seconds");
  REQUIRE(in_last_run != std::string::npos);
  std::string damaged = whole;
  damaged[in_last_run] = static_cast<char>(damaged[in_last_run] ^ 4);
  write(path, damaged);
  DamageReport damage;
  CHECK(read_sweep(path, &damage).runs.size() == 1);
  CHECK(damage.data_lost());
}

TEST_CASE("reading a run from a sweep's recording is refused with its kind, also if it was truncated") {
  const Directory directory;
  write(directory / "killed.mcap", before_closing(directory));  // "open.mcap" is closed
  struct Nobody : EventSink {
    void accept(const Message&) override { FAIL("a sweep has no events"); }
  } nobody;
  for (const char* name : {"open.mcap", "killed.mcap"}) {
    CHECK_THROWS_WITH(read_trace(directory / name, nobody), ContainsText("rankscope-trace stats"));
    CHECK_THROWS_AS(recover_trace(directory / name, directory / "whole.mcap"), TraceError);
    CHECK(!fs::exists(directory / "whole.mcap"));
  }
}

TEST_CASE("a file that is not a sweep is refused by name") {
  const Directory directory;
  {
    JsonTraceWriter other(directory / "other.mcap");
    CHECK(other.write("/weather", 0, R"({"degrees":21})"));
    CHECK(other.close());
    JsonTraceWriter wrong(directory / "wrong.mcap");
    CHECK(wrong.write(sweep_topic, 0, R"({"title":"nothing else"})"));
    CHECK(wrong.close());
  }
  write(directory / "text.mcap", "not an MCAP file at all");
  CHECK(!is_sweep(directory / "other.mcap"));
  CHECK(!is_sweep(directory / "text.mcap"));
  CHECK(!is_sweep(directory / "nowhere.mcap"));
  CHECK_THROWS_WITH(read_sweep(directory / "other.mcap"), ContainsText("not the recording of a sweep"));
  CHECK_THROWS_WITH(read_sweep(directory / "wrong.mcap"), ContainsText("file is missing"));
  CHECK_THROWS_AS(read_sweep(directory / "text.mcap"), TraceError);
  CHECK_THROWS_AS(SweepRecorder(directory / "no/folder.mcap", two_points()), TraceError);
}
