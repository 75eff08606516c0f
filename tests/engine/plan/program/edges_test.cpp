#include "engine/plan/program/passes.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

namespace {

bool overlap(const RankProgram& program, const Op& a, const Op& b) {
  for (const BufferUse& x : a.uses)
    for (const BufferUse& y : b.uses) {
      if (x.access == Access::read && y.access == Access::read) continue;
      const Buffer &p = program.buffers[x.buffer], &q = program.buffers[y.buffer];
      if (p.offset < q.offset + q.bytes() && q.offset < p.offset + p.bytes()) return true;
    }
  return false;
}

}  // namespace

TEST_CASE("over two steps, ops of different lanes that touch the same bytes are ordered by edges and lanes alone") {
  for (const auto* schedule :
       {"naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v", "1f1b-async"})
    for (const int data : {1, 2})
      for (const int rank_of_pipeline : {0, 1, 2}) {
        if (data == 2 && std::string_view(schedule) == "1f1b-async") continue;  // not a valid plan
        if (data == 2 && rank_of_pipeline == 1) continue;  // the middle rank is similar to its neighbours: saves time
        const StepProgram step = compile(chunked_scenario(schedule, data, 3, 3));
        const RankProgram program = step.program_for(rank_of_pipeline * data);
        const std::size_t n = program.ops.size();
        // before[i] = everything that must have finished when op i of the two unrolled steps starts
        std::vector<std::vector<bool>> before(2 * n, std::vector<bool>(2 * n, false));
        std::array<std::size_t, lane_count> last;
        last.fill(~std::size_t{0});
        const auto include = [&](std::size_t i, std::size_t j) {
          before[i][j] = true;
          for (std::size_t k = 0; k < 2 * n; ++k)
            if (before[j][k]) before[i][k] = true;
        };
        for (std::size_t i = 0; i < 2 * n; ++i) {
          const Op& op = program.ops[i % n];
          auto& lane = last[static_cast<std::size_t>(op.lane())];
          if (lane != ~std::size_t{0}) include(i, lane);
          lane = i;
          for (const OpIndex a : op.after) {
            REQUIRE(a < i % n);
            REQUIRE(program.ops[a].lane() != op.lane());
            include(i, i / n * n + a);
          }
          if (i >= n)
            for (const OpIndex a : op.after_previous) include(i, a);
        }
        for (std::size_t i = 0; i < 2 * n; ++i)
          for (std::size_t j = 0; j < i; ++j)
            if (!before[i][j] && overlap(program, program.ops[i % n], program.ops[j % n]))
              FAIL(schedule << ": " << to_token(program.ops[i % n].id) << " of step " << i / n << " races "
                            << to_token(program.ops[j % n].id) << " of step " << j / n);
      }
}

TEST_CASE("edges implied by others are left out, so there are fewer than two per op") {
  const RankProgram program = compile(small_scenario("1f1b", 2, 2, 4)).program_for(0);
  std::size_t edges = 0;
  for (const Op& op : program.ops) edges += op.after.size() + op.after_previous.size();
  // At least one edge per message and batch in each direction is needed; reused memory adds a few.
  CHECK(edges < 2 * program.ops.size());
}
