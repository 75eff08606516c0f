// Recordings through the programs: damaged, repaired, replayed.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "telemetry/store/run_store.hpp"
#include "telemetry/stream/viewer_client.hpp"
#include "telemetry/trace/trace_reader.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

constexpr int steps = 60;

/// Records a run of the small 1F1B lab, long enough for several chunks; the file's bytes.
std::string recorded_run(const Folder& folder) {
  const std::string file = (folder / "run.mcap").string();
  const Ended ended = engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", std::to_string(steps),
                                                       "--json", "--record", file}));
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(bytes.size() > 100'000);
  return bytes;
}

json stats_of(const Ended& stats) {
  INFO(stats.err);
  REQUIRE(stats.status == 0);
  return parse_json(stats.out);
}

}  // namespace

TEST_CASE("a cut or corrupted recording opens around the damage and says so, and recover makes it whole") {
  const Folder folder;
  const std::string whole = recorded_run(folder);
  const std::string damage = GENERATE(as<std::string>{}, "cut", "corrupted");
  INFO(damage);
  std::string bytes = whole;
  if (damage == "cut")
    bytes.resize(bytes.size() * 7 / 10);
  else  // longer than the small indexes between chunks, which are not needed with the file's own index
    for (std::size_t i = 0; i < 20'000; ++i) bytes[bytes.size() / 2 + i] = static_cast<char>(bytes[i] ^ 0x5a);
  const std::string damaged = folder.file("damaged.mcap", bytes), mended = (folder / "mended.mcap").string();

  const Ended stats = trace_tool(folder, {"stats", damaged, "--json"});
  CHECK(stats.err.find(damaged + ": ") == 0);  // reports it
  const std::size_t left = stats_of(stats)["steps"].size();
  CHECK(left > 0);

  const Ended recovered = trace_tool(folder, {"recover", damaged, "-o", mended, "--json"});
  INFO(recovered.err);
  CHECK(recovered.status == 0);
  const json printed = parse_json(recovered.out);
  CHECK(printed["damage"]["any"] == true);
  CHECK(printed["output"]["damage"]["any"] == false);

  const Ended after = trace_tool(folder, {"stats", mended, "--json"});
  CHECK(after.err.empty());
  CHECK(stats_of(after)["steps"] == parse_json(stats.out)["steps"]);
  CHECK(left <= steps);
}

TEST_CASE("files that are no recordings are refused in one line") {
  const Folder folder;
  folder.file("empty.mcap", "");
  folder.file("text.mcap", "once upon a time there was a rank\n");
  for (const char* command : {"info", "stats", "replay"})
    for (const char* name : {"empty.mcap", "text.mcap", "none.mcap"}) {
      const std::string file = (folder / name).string();
      INFO(command << " " << name);
      const Ended ended = trace_tool(folder, {command, file});
      INFO(ended.err);
      CHECK(ended.status == 2);
      CHECK(ended.out.empty());
      CHECK(ended.err.find(file + ": ") == 0);
      CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    }
}

TEST_CASE("a recording replayed to a viewer gives the viewer the recording's contents") {
  const Folder folder;
  recorded_run(folder);
  const std::string file = (folder / "run.mcap").string();
  Process replay(folder, {program("rankscope-trace"), "replay", file, "--speed", "max", "--wait", "1", "--publish",
                          "tcp://127.0.0.1:*"});
  const std::string endpoint = replay.line_of_errors("replaying " + file + " at ", a_minute);
  REQUIRE(!endpoint.empty());
  RunStore seen_store, recorded_store;
  ViewerClient viewer({.join = parse_join(endpoint), .limits = {}}, seen_store);
  const Ended ended = replay.wait(a_minute);
  INFO(ended.err);
  CHECK(ended.status == 0);
  REQUIRE(read_trace(file, recorded_store));
  const auto recorded = recorded_store.view();
  CHECK(wait_until(a_minute, [&] { return seen_store.view()->event_count() == recorded->event_count(); }));
  const auto seen = seen_store.view();
  REQUIRE(seen->hello());
  CHECK(*seen->hello() == *recorded->hello());
  CHECK(seen->dropped_count() == 0);
  for (const Obtained obtained : {Obtained::measured, Obtained::emulated, Obtained::simulated}) {
    INFO(name_of(obtained));
    CHECK(seen->steps(obtained) == recorded->steps(obtained));
    for (const std::uint32_t step : recorded->steps(obtained))
      CHECK((seen->step_spans(obtained, step) == recorded->step_spans(obtained, step)));
  }
  for (int rank = 0; rank < 4; ++rank) CHECK(seen->summaries(rank).size() == steps);
}
