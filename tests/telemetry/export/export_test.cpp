#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "telemetry/export/export.hpp"
#include "tests/catch.hpp"
#include "tests/telemetry/store/reference.hpp"

namespace rankscope::testing {
namespace {

std::int64_t nanoseconds(const nlohmann::json& microseconds) {
  return static_cast<std::int64_t>(std::llround(microseconds.get<double>() * 1000));
}

RunStore& fill(RunStore& store, bool overlap) {
  RunShape shape;
  shape.overlap = overlap;
  shape.strange = true;
  shape.ranks = 2;
  shape.steps = 3;
  shape.ops = 60;
  feed(store, invented_run(shape, 3), 64);
  Hello hello;
  hello.title = "a \"quoted\" title";
  hello.ranks = 2;
  hello.started_utc = "2026-03-01T10:20:30Z";
  store.accept(message_of(hello));
  store.accept(message_of(
      MemoryBatch{Obtained::measured, ClockDomain::wall, {{1, 3, *parse_token("F:c0:m0"), 5000, {1, 2, 3, 4, 5}}}}));
  store.accept(message_of(Gap{1, 100, 250, 7, 0, 0}));
  return store;
}

TEST_CASE("the Chrome trace holds every span once, nested within its row, to the nanosecond") {
  const bool overlap = GENERATE(false, true);
  RunStore store;
  const auto view = fill(store, overlap).view();
  std::ostringstream out;
  export_chrome(*view, out);
  const auto trace = nlohmann::json::parse(out.str());
  CHECK(trace["displayTimeUnit"] == "ns");
  CHECK(trace["baseTimeNanoseconds"] == 1772360430000000000);
  CHECK(trace["otherData"]["title"] == "a \"quoted\" title");

  std::int64_t spans = 0, memory = 0, lost = 0;
  std::map<std::pair<int, int>, std::vector<std::int64_t>> open;
  std::map<std::pair<int, int>, std::string> rows;
  std::map<std::tuple<int, std::string, std::int64_t>, int> found;
  for (const auto& event : trace["traceEvents"]) {
    const std::string ph = event["ph"];
    if (ph == "M" && event["name"] == "thread_name") rows[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (ph == "C") {
      ++memory;
      CHECK(event["args"]["activations"] == 4);
      CHECK(nanoseconds(event["ts"]) == 5000);
    }
    if (ph != "X") continue;
    const std::pair<int, int> row{event["pid"], event["tid"]};
    REQUIRE(rows.contains(row));
    const std::int64_t begin = nanoseconds(event["ts"]), end = begin + nanoseconds(event["dur"]);
    auto& ends = open[row];
    while (!ends.empty() && ends.back() <= begin) ends.pop_back();
    REQUIRE((ends.empty() || end <= ends.back()));
    ends.push_back(end);
    if (event["cat"] == "lost") {
      ++lost;
      CHECK(begin == 100);
      CHECK(end == 250);
      CHECK(event["args"]["events"] == 7);
      continue;
    }
    ++spans;
    ++found[{event["pid"], event["name"], begin}];
  }
  CHECK(memory == 1);
  CHECK(lost == 1);
  CHECK(spans == view->event_count() - 1);
  for (const LaneKey& lane : view->lanes())
    for (const Span& span : view->spans(lane, {INT64_MIN / 4, INT64_MAX / 4}, 0, SIZE_MAX))
      REQUIRE(found[{span.rank, to_token(span.op), span.begin_ns}] > 0);
}

TEST_CASE("the profiler's form has every span of a rank once as a kernel, joined to a cpu_op, with its bytes") {
  RunStore store;
  const auto view = fill(store, false).view();
  ExportOptions options;
  options.obtained = Obtained::measured;
  options.bytes = [](int, OpId op) -> std::optional<std::int64_t> {
    return op.valid() && is_communication(op.kind()) ? std::optional<std::int64_t>(4096) : std::nullopt;
  };
  for (const int rank : {0, 1}) {
    std::ostringstream out;
    export_profiler(*view, rank, out, options);
    const auto trace = nlohmann::json::parse(out.str());
    CHECK(trace["distributedInfo"]["rank"] == rank);
    CHECK(trace["distributedInfo"]["world_size"] == 2);
    std::multiset<std::pair<std::string, std::int64_t>> found, expected;
    std::map<int, std::string> host;
    for (const auto& event : trace["traceEvents"])
      if (event["cat"] == "cpu_op") host[event["args"]["correlation"]] = event["name"];
    for (const auto& event : trace["traceEvents"]) {
      if (event["cat"] != "kernel") continue;
      const auto& args = event["args"];
      CHECK(args["stream"] == event["tid"]);
      CHECK(args["stream"].get<int>() > 0);
      REQUIRE(host.at(args["correlation"]) == args["op"]);
      const OpId op = *parse_token(args["op"].get<std::string>());
      const std::string name = event["name"];
      CHECK(name.starts_with("ncclKernel_") == is_communication(op.kind()));
      CHECK(args.contains("bytes") == is_communication(op.kind()));
      found.emplace(args["op"], event["ts"].get<std::int64_t>() + event["dur"].get<std::int64_t>());
    }
    for (const LaneKey& lane : view->lanes())
      if (lane.rank == rank && lane.obtained == Obtained::measured)
        for (const Span& span : view->spans(lane, {INT64_MIN / 4, INT64_MAX / 4}, 0, SIZE_MAX))
          expected.emplace(to_token(span.op), span.end_ns / 1000);
    CHECK(found.size() == expected.size());
    CHECK((found == expected));
  }
}

TEST_CASE("the profiler's steps do not overlap, and each compute op is within its own") {
  const OpId forward = *parse_token("F:c0:m0"), reduce = *parse_token("ALLREDUCE.data_gradient:c0:i0");
  RunStore store;
  SpanBatch batch;
  const auto add = [&](std::uint32_t step, OpId op, std::int64_t begin_us, std::int64_t end_us) {
    batch.rows.push_back({0, step, op, begin_us * 1000, begin_us * 1000, end_us * 1000, -1});
  };
  add(0, reduce, 5, 8);  // before the first op of the run
  add(0, forward, 10, 40);
  add(0, reduce, 30, 70);  // goes on while the next step computes
  add(1, reduce, 35, 38);  // a receive that is posted early
  add(1, forward, 50, 60);
  add(2, forward, 60, 90);
  add(2, reduce, 80, 120);
  for (std::size_t i = 0; i < batch.rows.size(); ++i)  // ops of a step differ
    if (batch.rows[i].op == reduce) batch.rows[i].op = *parse_token(fmt::format("ALLREDUCE.data_gradient:c0:i{}", i));
  store.accept(message_of(batch));
  std::ostringstream out;
  export_profiler(*store.view(), 0, out, {});
  std::map<std::string, std::pair<int, int>> steps;
  const auto trace = nlohmann::json::parse(out.str());
  for (const auto& event : trace["traceEvents"])
    if (event["cat"] == "user_annotation") {
      const int begin = event["ts"];
      steps[event["name"]] = {begin, begin + event["dur"].get<int>()};
    }
  CHECK(steps == std::map<std::string, std::pair<int, int>>{
                     {"ProfilerStep#0", {5, 50}}, {"ProfilerStep#1", {50, 60}}, {"ProfilerStep#2", {60, 120}}});
  int compute = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["cat"] != "kernel" || !event["args"]["op"].get<std::string>().starts_with("F:")) continue;
    const auto [begin, end] = steps.at("ProfilerStep#" + std::to_string(event["args"]["step"].get<int>()));
    CHECK(event["ts"].get<int>() >= begin);
    CHECK(event["ts"].get<int>() + event["dur"].get<int>() <= end);
    ++compute;
  }
  CHECK(compute == 3);
}

TEST_CASE("the CSV has a line for each span, and a choice of what is exported") {
  RunStore store;
  const auto view = fill(store, false).view();
  const auto lines_of = [&](const ExportOptions& options) {
    std::ostringstream out;
    export_csv(*view, out, options);
    std::vector<std::string> lines;
    std::istringstream in(out.str());
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const auto all = lines_of({});
  CHECK(static_cast<std::int64_t>(all.size()) == view->event_count());  // plus a line of names, minus one for memory
  const auto columns = std::count(all[0].begin(), all[0].end(), ',');
  for (const std::string& line : all) REQUIRE(std::count(line.begin(), line.end(), ',') == columns);
  ExportOptions options;
  options.obtained = Obtained::simulated;
  std::size_t simulated = 1;
  for (const LaneKey& lane : view->lanes())
    if (lane.obtained == Obtained::simulated)
      simulated += view->spans(lane, {INT64_MIN / 4, INT64_MAX / 4}, 0, SIZE_MAX).size();
  CHECK(lines_of(options).size() == simulated);
  options.range = {0, 3000};
  CHECK(lines_of(options).size() < simulated / 2);
}

}  // namespace
}  // namespace rankscope::testing
