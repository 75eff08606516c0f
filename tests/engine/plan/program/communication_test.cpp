// The operand rules of communications: what they refuse, with which messages.
#include "engine/plan/program/communication.hpp"

#include "engine/plan/program/dry_run.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

namespace {

// A rank's program with one op in a data group of four. Buffers are fp32, adjacent, and `elements` long; the op's
// token, group, root and uses are as in the text form.
RankProgram program_of(const std::string& op, const std::vector<std::int64_t>& elements, int rank = 0) {
  std::string text = "rankscope-program 1\nrank " + std::to_string(rank) + "\narena 4096\n";
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    text += "buffer " + std::to_string(i) + " buffers fp32 " + std::to_string(elements[i]) + " " +
            std::to_string(offset) + " b" + std::to_string(i) + "\n";
    offset += 4 * elements[i];
  }
  return parse_program(text + "op " + op + "\n");
}

const RankGrid four{1, 4, 1};

std::string misuse(const std::string& op, const std::vector<std::int64_t>& elements, int rank = 0) {
  const RankProgram program = program_of(op, elements, rank);
  return find_misuse(program, program.ops[0], four).value_or("");
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("operands in the right uses and sizes are accepted, in place and out of place") {
  CHECK(misuse("SEND.pipeline_forward:c0:m0 peer 1 uses 0r", {5}) == "");
  CHECK(misuse("RECV.pipeline_forward:c1:m0 peer 1 uses 0w", {5}) == "");
  CHECK(misuse("BROADCAST.server:c0:i0 group data root 0 uses 0r", {5}) == "");
  CHECK(misuse("BROADCAST.server:c0:i0 group data root 2 uses 0w", {5}) == "");
  CHECK(misuse("REDUCE.server:c0:i0 group data root 2 uses 0a 1a", {5, 2}) == "");
  CHECK(misuse("ALLREDUCE.data_gradient:c0:i0 group data uses 0a 1a", {5, 2}) == "");
  CHECK(misuse("SCATTER.server:c0:i0 group data root 0 uses 0r 1w", {8, 2}) == "");
  CHECK(misuse("SCATTER.server:c0:i0 group data root 0 uses 0a", {8}) == "");
  CHECK(misuse("SCATTER.server:c0:i0 group data root 1 uses 0w", {2}) == "");
  CHECK(misuse("GATHER.server:c0:i0 group data root 0 uses 0r 1w", {2, 8}) == "");
  CHECK(misuse("GATHER.server:c0:i0 group data root 0 uses 0a", {8}) == "");
  CHECK(misuse("GATHER.server:c0:i0 group data root 3 uses 0r", {2}) == "");
  CHECK(misuse("ALLGATHER.zero_parameter:c0:i0 group data uses 0r 1w 2w", {2, 5, 3}) == "");
  CHECK(misuse("ALLGATHER.zero_parameter:c0:i0 group data uses 0a 1a", {5, 3}) == "");
  CHECK(misuse("REDUCESCATTER.zero_gradient:c0:i0 group data uses 0a 1a 2w", {5, 3, 2}) == "");
  CHECK(misuse("REDUCESCATTER.zero_gradient:c0:i0 group data uses 0a", {8}) == "");
  CHECK(misuse("ALLTOALL.tensor:c0:i0 group data uses 0r 1w", {8, 8}) == "");
}

TEST_CASE("wrong uses are refused with rank, op and the correction") {
  CHECK(misuse("REDUCESCATTER.zero_gradient:c0:i0 group data uses 0r 1w", {8, 2}) ==
        "rank 0, REDUCESCATTER.zero_gradient:c0:i0: uses its buffers as 'rw'; reduce_scatter accumulates into the "
        "whole and writes a part, or has the whole in place");
  CHECK(says(misuse("ALLREDUCE.data_gradient:c0:i0 group data uses 0r", {8}), "accumulates into its data"));
  CHECK(says(misuse("ALLGATHER.zero_parameter:c0:i0 group data uses 0w 1r", {8, 2}), "uses its buffers as 'wr'"));
  CHECK(says(misuse("BROADCAST.server:c0:i0 group data root 0 uses 0w", {8}), "reads its data at the root"));
  CHECK(says(misuse("SCATTER.server:c0:i0 group data root 1 uses 0a", {8}), "writes a part away from the root"));
  CHECK(says(misuse("ALLTOALL.tensor:c0:i0 group data uses 0a", {8}), "reads what it sends"));
  CHECK(says(misuse("SEND.pipeline_forward:c0:m0 peer 1 uses 0w", {8}), "reads its data"));
  CHECK(says(misuse("ALLREDUCE.data_gradient:c0:i0 group data", {}), "uses its buffers as ''"));
}

TEST_CASE("unequal parts are refused with their sizes") {
  CHECK(says(misuse("ALLGATHER.zero_parameter:c0:i0 group data uses 0r 1w", {2, 7}),
             "the whole has 7 elements, 4 members × a part of 2 are 8"));
  CHECK(says(misuse("REDUCESCATTER.zero_gradient:c0:i0 group data uses 0a 1w", {9, 2}), "the whole has 9 elements"));
  CHECK(says(misuse("ALLGATHER.zero_parameter:c0:i0 group data uses 0a", {7}),
             "7 elements are not equal parts for 4 members"));
  CHECK(says(misuse("ALLTOALL.tensor:c0:i0 group data uses 0r 1w", {8, 4}), "sends 8 elements and receives 4"));
}

TEST_CASE("invalid roots, peers, types and gaps are refused") {
  CHECK(says(misuse("BROADCAST.server:c0:i0 group data uses 0r", {8}), "says no root"));
  CHECK(says(misuse("BROADCAST.server:c0:i0 group data root 7 uses 0w", {8}), "rank 7, is not in its group"));
  CHECK(says(misuse("ALLREDUCE.data_gradient:c0:i0 group data root 0 uses 0a", {8}), "has a root"));
  CHECK(says(misuse("SEND.pipeline_forward:c0:m0 peer 0 uses 0r", {8}), "its peer, rank 0, is no other rank"));
  CHECK(says(misuse("ALLREDUCE.data_gradient:c0:i0 group data peer 1 uses 0a", {8}), "has a group and no peer"));
  RankProgram program = program_of("ALLREDUCE.data_gradient:c0:i0 group data uses 0a 1a", {4, 4});
  program.buffers[1].type = DType::bf16;
  CHECK(says(*find_misuse(program, program.ops[0], four), "'b1' is bf16, not fp32"));
  program.buffers[1].type = DType::f32;
  program.buffers[1].offset += 64;
  CHECK(says(*find_misuse(program, program.ops[0], four), "'b1' is not directly after its neighbour"));
}

TEST_CASE("what a rank contributes is a part of a gather and the whole of anything else, in every form") {
  const auto bytes = [](const std::string& op, const std::vector<std::int64_t>& elements) {
    const RankProgram program = program_of(op, elements);
    return std::pair(whole_bytes(program, program.ops[0], 4), contribution_bytes(program, program.ops[0], 4));
  };
  using Bytes = std::pair<std::int64_t, std::int64_t>;
  CHECK(bytes("ALLGATHER.zero_parameter:c0:i0 group data uses 0r 1w", {2, 8}) == Bytes(32, 8));
  CHECK(bytes("ALLGATHER.zero_parameter:c0:i0 group data uses 0a", {8}) == Bytes(32, 8));
  CHECK(bytes("GATHER.server:c0:i0 group data root 3 uses 0r", {2}) == Bytes(32, 8));
  CHECK(bytes("GATHER.server:c0:i0 group data root 0 uses 0a", {8}) == Bytes(32, 8));
  CHECK(bytes("SCATTER.server:c0:i0 group data root 1 uses 0w", {2}) == Bytes(32, 32));
  CHECK(bytes("SCATTER.server:c0:i0 group data root 0 uses 0r 1w", {8, 2}) == Bytes(32, 32));
  CHECK(bytes("REDUCESCATTER.zero_gradient:c0:i0 group data uses 0a 1w", {8, 2}) == Bytes(32, 32));
  CHECK(bytes("REDUCESCATTER.zero_gradient:c0:i0 group data uses 0a", {8}) == Bytes(32, 32));
  CHECK(bytes("ALLTOALL.tensor:c0:i0 group data uses 0r 1w", {8, 8}) == Bytes(32, 32));
  CHECK(bytes("ALLREDUCE.data_gradient:c0:i0 group data uses 0a 1a", {5, 2}) == Bytes(28, 28));
  CHECK(bytes("SEND.pipeline_forward:c0:m0 peer 1 uses 0r 1r", {5, 2}) == Bytes(28, 28));
}

TEST_CASE("the dry run finds members that disagree, and names both") {
  const auto found = [](const std::string& most, const std::vector<std::int64_t>& elements, const std::string& one,
                        const std::vector<std::int64_t>& other) {
    std::vector<RankProgram> programs;
    for (int rank = 0; rank < 4; ++rank)
      programs.push_back(rank == 2 ? program_of(one, other, rank) : program_of(most, elements, rank));
    return find_deadlock(programs, four).value_or("");
  };
  const std::string gather = "ALLGATHER.zero_parameter:c0:i0 group data uses ";
  CHECK(found(gather + "0r 1w", {2, 8}, gather + "0a", {8}) == "");  // one member works in place, the others do not
  CHECK(found(gather + "0r 1w", {2, 8}, gather + "0a", {12}) ==
        "rank 2 calls ALLGATHER.zero_parameter:c0:i0 on 48 bytes of fp32 over its data group, but rank 0 on 32 bytes "
        "of fp32 over its data group");
  const std::string broadcast = "BROADCAST.server:c0:i0 group data root ";
  CHECK(says(found(broadcast + "1 uses 0w", {8}, broadcast + "2 uses 0r", {8}), "reads its data at the root"));
  CHECK(says(found(gather + "0a", {8}, "REDUCESCATTER.zero_gradient:c0:i0 group data uses 0a", {8}),
             "deadlock: rank 0 (zero_gather) at ALLGATHER.zero_parameter:c0:i0 waits for rank 2"));
}

TEST_CASE("all communications of compiled programs keep the rules") {
  for (const bool tied : {true, false}) {
    const StepProgram step = compile(small_scenario("1f1b", 2, 2, 4, tied));
    CHECK(find_misuse(step.all_programs(), step.grid).value_or("") == "");
  }
}

TEST_CASE("a root is part of the text form and parses back") {
  const RankProgram program = program_of("BROADCAST.server:c0:i0 group data root 2 bytes 32 uses 0w", {8});
  CHECK(program.ops[0].root == 2);
  CHECK(to_text(parse_program(to_text(program))) == to_text(program));
  CHECK(to_text(program).find("op BROADCAST.server:c0:i0 group data root 2 bytes 32 uses 0w\n") != std::string::npos);
}
