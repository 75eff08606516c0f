// A step's time if ranks do different work: parameter servers and their workers, and a main device.
#include <string>

#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/step_cases.hpp"

using namespace rankscope;
using namespace rankscope::step_cases;

TEST_CASE("a parameter server's idle time while its worker computes is waiting for workers, not bubble") {
  std::vector<RankProgram> programs(2);
  programs[1].rank = 1;
  const OpIndex f = add_op(programs[0], "F:c0:m0");
  const OpIndex b = add_op(programs[0], "B:c0:m0", {f});
  add_message(programs[0], "SEND.server:c0:i0", 1, 64, {b});
  const OpIndex got = add_message(programs[1], "RECV.server:c0:i0", 0, 64);
  add_op(programs[1], "OPT:c0:.update", {got});
  const RankGrid grid{1, 1, 1, 1};
  const std::vector<Span> spans = {span(0, "F:c0:m0", 0, 30), span(0, "B:c0:m0", 30, 60),
                                   span(0, "SEND.server:c0:i0", 60, 70), span(1, "RECV.server:c0:i0", 0, 70, 60),
                                   span(1, "OPT:c0:.update", 70, 100)};
  const StepAnalysis a = analyse_step(programs, grid, spans, {0, 100}, 0);
  CAPTURE(picture(a));
  CHECK(ns_of(a, 1, BubbleCause::workers) == 60);
  CHECK(ns_of(a, 1, TimeClass::bubble) == Approx(0).margin(1e-9));
  CHECK(ns_of(a, 1, TimeClass::other) == Approx(60));
  CHECK(ns_of(a, 1, BubbleCause::warm_up) == 0);
  CHECK(a.ranks[1].unknown == Approx(0).margin(1e-9));
}

TEST_CASE(
    "a parameter server's time is classified by its own ops: bytes moved, updates, and waiting for workers in "
    "between") {
  std::vector<RankProgram> programs(2);
  programs[1].rank = 1;
  const OpIndex b = add_op(programs[0], "B:c0:m0");
  add_message(programs[0], "SEND.server:c0:i0", 1, 64, {b});
  add_message(programs[1], "RECV.server:c0:i0", 0, 64);
  const RankGrid grid{1, 1, 1, 1};
  // The worker continues with its next step, so no other rank waits for the server's transfer.
  const std::vector<Span> spans = {span(0, "B:c0:m0", 0, 60), span(0, "SEND.server:c0:i0", 60, 70),
                                   span(0, "B:c0:m0", 60, 100, -1, 1), span(1, "RECV.server:c0:i0", 0, 70, 60)};
  const StepAnalysis a = analyse_step(programs, grid, spans, {0, 100}, 0);
  CAPTURE(picture(a));
  CHECK(a.workers == 1);
  CHECK(ns_of(a, 1, TimeClass::data) == Approx(10));
  CHECK(ns_of(a, 1, BubbleCause::workers) == 90);
  CHECK(ns_of(a, 0, TimeClass::bubble) == Approx(0).margin(1e-9));
}

TEST_CASE(
    "a rank that still communicates does not wait for the step's end, and without a pipeline there is no warm-up") {
  // Two workers and a server, which receives rank 0's gradient and then rank 1's:
  //   rank 0   B [0, 20)    SEND [20, 30)   then nothing
  //   rank 1   B [0, 60)    SEND [60, 80)
  std::vector<RankProgram> programs(3);
  for (int rank = 0; rank < 2; ++rank) {
    RankProgram& program = programs[static_cast<std::size_t>(rank)];
    program.rank = rank;
    const std::string message = ".server:c0:m" + std::to_string(rank);
    const OpIndex b = add_op(program, "B:c0:m0");
    add_message(program, "SEND" + message, 2, 64, {b});
    add_message(programs[2], "RECV" + message, rank, 64);
  }
  programs[2].rank = 2;
  const RankGrid grid{1, 2, 1, 1};
  const std::vector<Span> spans = {
      span(0, "B:c0:m0", 0, 20), span(0, "SEND.server:c0:m0", 20, 30), span(2, "RECV.server:c0:m0", 0, 30, 20),
      span(1, "B:c0:m0", 0, 60), span(1, "SEND.server:c0:m1", 60, 80), span(2, "RECV.server:c0:m1", 30, 80, 60)};
  const StepAnalysis a = analyse_step(programs, grid, spans, {0, 80}, 0);
  CAPTURE(picture(a));
  CHECK(ns_of(a, 0, TimeClass::data) == Approx(10));
  CHECK(ns_of(a, 0, TimeClass::bubble) == Approx(50));
  CHECK(ns_of(a, 0, BubbleCause::warm_up) == 0);
  CHECK(ns_of(a, 0, BubbleCause::cool_down) == 0);
  CHECK(a.bubble == Approx(50.0 / 160));
}

TEST_CASE("communication for the next step before the step ends is exposed communication, on all ranks") {
  // A main device updates and sends the parameters. The next step begins with this broadcast, which its forward needs.
  //   rank 0   B [0, 50)    REDUCE [50, 60)    OPT [60, 70)   BROADCAST [70, 95)   of the next step
  //   rank 1   B [0, 50)    REDUCE [50, 60)    waits          BROADCAST [60, 95)   whose bytes move from 70 on
  std::vector<RankProgram> programs(2);
  for (int rank = 0; rank < 2; ++rank) {
    RankProgram& program = programs[static_cast<std::size_t>(rank)];
    program.rank = rank;
    const OpIndex sent = add_collective(program, "BROADCAST.data_parameter:c0:i0", GroupKind::data, 64);
    const OpIndex b = add_op(program, "B:c0:m0", {sent});
    const OpIndex summed = add_collective(program, "REDUCE.data_gradient:c0:i0", GroupKind::data, 64, {b});
    if (rank > 0) continue;
    const OpIndex update = add_op(program, "OPT:c0:.update", {summed});
    program.ops[sent].after_previous = {update};
  }
  std::vector<Span> spans;
  for (int rank = 0; rank < 2; ++rank) {
    spans.push_back(span(rank, "B:c0:m0", 0, 50));
    spans.push_back(span(rank, "REDUCE.data_gradient:c0:i0", 50, 60));
    if (rank == 0) spans.push_back(span(0, "OPT:c0:.update", 60, 70));
    spans.push_back(span(rank, "BROADCAST.data_parameter:c0:i0", rank == 0 ? 70 : 60, 95, 70, 1));
  }
  // The next step's forward begins where this step ends; its span may be missing.
  const bool with_next = GENERATE(false, true);
  if (with_next)
    for (int rank = 0; rank < 2; ++rank) spans.push_back(span(rank, "B:c0:m0", 95, 145, -1, 1));
  const StepAnalysis a = analyse_step(programs, {1, 2, 1, 0}, spans, {0, 95}, 0);
  CAPTURE(picture(a), with_next);
  require_whole(a);
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(ns_of(a, rank, TimeClass::data) == Approx(35));
    CHECK(ns_of(a, rank, TimeClass::other) == Approx(0).margin(1e-9));
  }
  CHECK(ns_of(a, 0, TimeClass::optimizer) == Approx(10));
  CHECK(ns_of(a, 1, TimeClass::bubble) == Approx(10));
}
