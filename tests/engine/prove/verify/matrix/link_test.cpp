#include "engine/plan/program/link.hpp"

#include <map>

#include "engine/plan/program/compile.hpp"
#include "tests/catch.hpp"
#include "tests/engine/prove/verify/matrix/plans.hpp"

using namespace rankscope;
using namespace rankscope::testing;

namespace {

/// The members of an op's exchange by what the op itself says: its peer, or its group of the grid.
std::vector<std::pair<int, OpId>> members_of(const RankGrid& grid, int rank, const Op& op) {
  if (op.id.kind() == OpKind::send) return {{rank, op.id}, {op.peer, counterpart(op.id)}};
  if (op.id.kind() == OpKind::receive) return {{op.peer, counterpart(op.id)}, {rank, op.id}};
  std::vector<std::pair<int, OpId>> members;
  for (const int member : grid.group_of(rank, op.group)) members.emplace_back(member, op.id);
  return members;
}

}  // namespace

TEST_CASE("a linked step joins the ops of every plan as each of them says of itself") {
  std::size_t exchanges = 0;
  for (const Row& row : plan_matrix().rows) {
    INFO(describe(row));
    const StepProgram compiled = compile(scenario_of(row));
    const std::vector<RankProgram> programs = compiled.all_programs();
    std::vector<Unlinked> unlinked;
    const Step step = link(programs, compiled.grid, &unlinked);
    REQUIRE(unlinked.empty());
    std::size_t ops = 0;
    for (const RankProgram& program : programs)
      for (OpIndex i = 0; i < program.ops.size(); ++i, ++ops) {
        const Op& op = program.ops[i];
        const Node node = step.first[static_cast<std::size_t>(program.rank)] + i;
        REQUIRE(step.ids[node] == op.id);
        REQUIRE(step.rank_of(node) == static_cast<std::size_t>(program.rank));
        std::vector<std::pair<int, OpId>> joined;
        if (step.exchange[node] != nobody)
          for (const Node member : step.members[step.exchange[node]])
            joined.emplace_back(static_cast<int>(step.rank_of(member)), step.ids[member]);
        REQUIRE(joined == (is_communication(op.id.kind()) ? members_of(compiled.grid, program.rank, op)
                                                          : std::vector<std::pair<int, OpId>>{}));
        std::vector<OpIndex> after;
        for (const Node before : step.after[node])
          after.push_back(before - step.first[static_cast<std::size_t>(program.rank)]);
        REQUIRE(after == op.after);
      }
    CHECK(step.nodes() == ops);
    CHECK(static_cast<int>(step.workers()) == compiled.grid.workers());
    exchanges += step.members.size();
  }
  CHECK(exchanges > 1000);
}

TEST_CASE("an op whose partner is missing is left unlinked, with the reason") {
  const auto op = [](const char* token, int peer) {
    Op result;
    result.id = *parse_token(token);
    result.peer = peer;
    return result;
  };
  std::vector<RankProgram> programs(2);
  programs[1].rank = 1;
  programs[0].ops = {op("SEND.pipeline_forward:c0:m0", 1), op("SEND.pipeline_forward:c0:m1", 7)};
  programs[1].ops = {op("RECV.pipeline_forward:c1:m2", 0)};
  std::vector<Unlinked> unlinked;
  const Step step = link(programs, RankGrid{1, 1, 2}, &unlinked);
  REQUIRE(unlinked.size() == 3);
  CHECK(unlinked[0].why == "no RECV.pipeline_forward:c1:m0 in rank 1's program");
  CHECK(unlinked[1].why == "its peer is no rank");
  CHECK(unlinked[2].why == "no SEND.pipeline_forward:c0:m2 in rank 0's program");
  CHECK(step.members.size() == 0);
  CHECK_THROWS_AS(link(programs, RankGrid{1, 1, 3}), std::invalid_argument);
  programs[1].ops[0].after = {4};
  CHECK_THROWS_WITH(link(programs, RankGrid{1, 1, 2}), ContainsText("depends on an op that does not exist"));
}
