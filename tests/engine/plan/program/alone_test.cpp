// Programs of a single collective.
#include "engine/plan/program/communication.hpp"
#include "engine/plan/program/dry_run.hpp"
#include "engine/plan/program/passes.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/collective/cases.hpp"
#include "tests/engine/plan/program/one_collective.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("every collective's programs keep the rules of communication, end, and parse back") {
  for (const OpKind kind : collectives)
    for (int n = 1; n <= 9; ++n)
      for (const double bytes : {1.0, 36.0, 1000.0}) {
        const StepProgram step = compile(one_collective(kind, n, bytes, n / 2));
        const std::vector<RankProgram> programs = step.all_programs();
        CAPTURE(name_of(kind), n, bytes);
        REQUIRE(programs.size() == static_cast<std::size_t>(n));
        CHECK(find_deadlock(programs, step.grid).value_or("") == "");
        for (const RankProgram& program : programs) {
          REQUIRE(program.ops.size() == 3);
          CHECK(to_text(parse_program(to_text(program))) == to_text(program));
          CHECK(to_token(program.ops[0].id) == "LOAD.alone");
          CHECK(program.ops[1].id.kind() == kind);
          CHECK(program.ops[1].id.lane() == Lane::data);
          CHECK(to_token(program.ops[2].id) == "CHECK");
          // Also if the collective leaves nothing there: a sending rank keeps its tensor until the transfer ends.
          CHECK(program.ops[2].after == std::vector<OpIndex>{1});
          CHECK(whole_bytes(program, program.ops[1], n) == task_of(step).elements * 4);
        }
      }
}

TEST_CASE("on the root of a scatter the whole is loaded, then scattered, then its own part checked") {
  Scenario s = one_collective(OpKind::scatter, 4, 64, 2);
  const StepProgram step = compile(s);
  const RankProgram root = step.program_for(2), other = step.program_for(0);
  REQUIRE(root.buffers.size() == 2);
  CHECK(root.buffers[0].name == "sent");
  CHECK(root.buffers[0].bytes() == 64);
  CHECK(root.buffers[1].name == "received");
  CHECK(root.buffers[1].bytes() == 16);
  CHECK(root.ops[1].after == std::vector<OpIndex>{0});
  CHECK(root.ops[2].after == std::vector<OpIndex>{1});
  CHECK(root.ops[1].root == 2);
  REQUIRE(other.buffers.size() == 1);
  CHECK(other.buffers[0].bytes() == 16);
  CHECK(other.ops[0].uses.empty());
  CHECK(task_words(step) == "one scatter a step, ring, of 64 B in 4 parts of 16 B, root 2");
}

TEST_CASE("the next step's numbers are written after this step's have been checked") {
  const RankProgram program = compile(one_collective(OpKind::all_reduce, 4, 64, 0)).program_for(1);
  REQUIRE(program.buffers.size() == 1);  // in place
  CHECK(program.ops[0].lane() == program.ops[2].lane());
}
