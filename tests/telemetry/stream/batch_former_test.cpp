// What happens to a lane's rows, drained step by step without the publisher's thread, so that the counts are exact: a
// publisher drains whenever a ring is half full, at unpredictable times.
#include "telemetry/stream/batch_former.hpp"

#include "tests/catch.hpp"
#include "tests/telemetry/stream/support.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

constexpr std::size_t ring_rows = 64;

struct OneLane {
  const Directory directory;
  Bell bell;
  LaneWriter lane{0, Obtained::measured, ClockDomain::wall, 1, ring_rows, bell};
  BatchFormer former{
      {.session = a_session(), .spool_directory = directory.file("spool"), .keep_last = {}, .collect = false}};

  OneLane() { std::filesystem::create_directory(directory.file("spool")); }
  void write(int begin, int end) {
    for (int i = begin; i < end; ++i) lane.span(a_span(0, 0, i));
  }
  void drain(bool last) {
    former.drain(lane, last);
    former.close_batches();
    REQUIRE(former.flush().empty());
  }
  void read(Collector& sink) const { REQUIRE(read_spool(directory.file("spool"), sink).torn == 0); }
};

}  // namespace

TEST_CASE("a full ring keeps what it has and drops the rest, and the next row reports the gap") {
  OneLane one;
  one.write(0, 5000);
  CHECK(one.lane.emitted() == ring_rows);
  CHECK(one.lane.dropped() == 5000 - ring_rows);
  one.drain(false);
  one.write(5000, 5001);
  one.drain(false);
  Collector sink;
  one.read(sink);
  CHECK(sink.spans() == ring_rows + 1);
  const auto gaps = sink.all<Gap>();
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].events == 5000 - ring_rows);
  CHECK(gaps[0].begin_ns == a_span(0, 0, ring_rows).begin_ns);
  CHECK(gaps[0].end_ns == a_span(0, 0, 4999).end_ns);
  CHECK(gaps[0].first_sequence == 0);
}

TEST_CASE("drops that no later row reports are reported at the end, and none twice") {
  OneLane one;
  one.write(0, 100);
  one.drain(false);
  one.write(100, 300);  // its first row reports the 36 drops before it
  one.drain(true);
  Collector sink;
  one.read(sink);
  CHECK(sink.spans() == 2 * ring_rows);
  const auto gaps = sink.all<Gap>();
  REQUIRE(gaps.size() == 2);
  CHECK(gaps[0].events == 100 - ring_rows);
  CHECK(gaps[1].events == 200 - ring_rows);
  CHECK(gaps[1].begin_ns == a_span(0, 0, 100 + ring_rows - 1).end_ns);  // the lane's last known time
}
