#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

TEST_CASE("a program's text form parses back to the same program") {
  for (const auto* schedule : {"naive", "gpipe", "1f1b"})
    for (int rank = 0; rank < 4; ++rank) {
      const RankProgram program = compile(small_scenario(schedule, 2, 2, 4)).program_for(rank);
      const std::string text = to_text(program);
      const RankProgram parsed = parse_program(text);
      CHECK(to_text(parsed) == text);
      CHECK(parsed.arena_bytes == program.arena_bytes);
      REQUIRE(parsed.ops.size() == program.ops.size());
      CHECK(parsed.ops.back().id == program.ops.back().id);
      CHECK(hash_of(to_text(parsed)) == hash_of(text));
    }
}

TEST_CASE("a program's text states its scratch memory if it is known") {
  RankProgram program = compile(small_scenario("1f1b", 1, 2, 2)).program_for(0);
  CHECK(to_text(program).find("scratch") == std::string::npos);
  program.scratch_bytes = 12345;
  program.context_bytes = 678;
  const RankProgram parsed = parse_program(to_text(program));
  CHECK(parsed.scratch_bytes == 12345);
  CHECK(parsed.context_bytes == 678);
  CHECK(to_text(parsed) == to_text(program));
}

TEST_CASE("a damaged program text is refused with its line") {
  const auto message = [](const std::string& text) {
    try {
      parse_program(text);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  const std::string head = "rankscope-program 1\nrank 0\narena 64\nbuffer 0 buffers fp32 4 0 x\n";
  CHECK(message("rank 0\n").find("line 1: a program begins with") == 0);
  CHECK(message("rankscope-program 9\n").find("line 1: unknown version") == 0);
  CHECK(message(head + "op F:c0:m0 uses 7r\n").find("line 5: '7r' is no use of a buffer") == 0);
  CHECK(message(head + "op NOSE:c0\n").find("line 5: 'NOSE:c0' is no op") == 0);
  CHECK(message(head + "op F:c0:m0 after F:c0:m1\n").find("line 5: 'F:c0:m1' is no op of an earlier line") == 0);
  CHECK(message(head + "op SEND.pipeline_forward:c0:m0 peer 1 bytes 17 uses 0r\n") ==
        "line 5: says 17 bytes, but its buffers hold 16");
  CHECK(message(head + "op F:c0:m0 uses 0w\nop F:c0:m0 uses 0w\n") == "line 6: 'F:c0:m0' appears twice");
}
