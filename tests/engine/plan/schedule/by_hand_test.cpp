// Orders written by hand: how they are read, printed and refused.
#include "engine/plan/schedule/schedule.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

std::string complaint(const std::string& text, PipelineShape shape = {2, 1, 2}) {
  try {
    by_hand_schedule(text, shape);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("every schedule's printed order is read back as the same order and placement") {
  for (const std::string_view name : word_table<ScheduleKind>) {
    if (name == "by-hand") continue;
    const int chunks_per_stage = name == "interleaved" || name == "zb-v" ? 2 : 1;
    const ChunkSchedule s = make_schedule(name, {4, chunks_per_stage, 8});
    const ChunkSchedule read = by_hand_schedule(to_text(s), s.shape);
    INFO(name);
    CHECK(read.order == s.order);
    CHECK(read.stage_of_chunk == s.stage_of_chunk);
    CHECK(ideal_bubble(read) == ideal_bubble(s));
    CHECK(splits_backward(s) == name.starts_with("zb-"));
  }
}

TEST_CASE("an order may have comments, semicolons, and any placement of its chunks") {
  const ChunkSchedule s = by_hand_schedule(
      "# backwards through the stages\nstage 1: F:c0:m0 F:c0:m1  B:c0:m0 B:c0:m1 # the first\n\n;stage 0:F:c1:m0 "
      "B:c1:m0 "
      "F:c1:m1 B:c1:m1",
      {2, 1, 2});
  CHECK(s.stage_of_chunk == std::vector<int>{1, 0});
  CHECK(to_text(s) == "stage 0: F:c1:m0 B:c1:m0 F:c1:m1 B:c1:m1\nstage 1: F:c0:m0 F:c0:m1 B:c0:m0 B:c0:m1\n");
}

TEST_CASE("an invalid order is refused with its line") {
  const std::string first = "stage 0: F:c0:m0 F:c0:m1 B:c0:m0 B:c0:m1\n";
  CHECK(complaint("F:c0:m0") == "line 1: it should begin with 'stage N:', N from 0 to 1");
  CHECK(complaint("stage 2: F:c0:m0") == "line 1: it should begin with 'stage N:', N from 0 to 1");
  CHECK(complaint(first + first) == "line 2: stage 0 has had its line already");
  CHECK(complaint(first + "stage 1: X:c1:m0").starts_with("line 2: 'X:c1:m0' is no op"));
  CHECK(complaint(first + "stage 1: F:c2:m0") == "line 2: 'F:c2:m0' should name a chunk from c0 to c1");
  CHECK(complaint(first + "stage 1: F:c1:m2") == "line 2: 'F:c1:m2' should name a micro-batch from m0 to m1");
  CHECK(complaint(first + "stage 1: F:c0:m0") == "line 2: 'F:c0:m0': chunk 0 is on stage 0 already");
  CHECK(complaint(first + "stage 1: F:c1:m0 F:c1:m0") == "line 2: 'F:c1:m0' appears twice");
  CHECK(complaint(first + "stage 1: F:c1:m0 I:c1:m0") ==
        "line 2: 'I:c1:m0': backwards are either all whole (B) or all split (I and W)");
  CHECK(complaint(first + "stage 1: F:c1:m0:b0").starts_with("line 2: 'F:c1:m0:b0' is not what a schedule"));
  CHECK(complaint(first + "stage 1: F:c1:m0 B:c1:m0 F:c1:m1") == "B:c1:m1 is missing");
  CHECK(complaint("") == "F:c0:m0 is missing");
  CHECK(complaint("stage 0:\nstage 1:\n", {2, 1, 0}) == "an order needs at least one micro-batch");
  CHECK(complaint(first + "stage 1: F:c1:m0 B:c1:m1 F:c1:m1 B:c1:m0") ==
        "the schedule 'by-hand' never gets to B:c0:m0");
}
