#include "engine/explain/analyse/hang.hpp"

#include "engine/plan/program/compile.hpp"
#include "engine/plan/program/link.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/missing_rank.hpp"
#include "tests/engine/explain/analyse/timelines.hpp"

using namespace rankscope;

namespace {

std::vector<RankProgram> replicas(int n) {
  std::vector<RankProgram> programs(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    RankProgram& program = programs[static_cast<std::size_t>(r)];
    program.rank = r;
    const OpIndex f = add_op(program, "F:c0:m0");
    const OpIndex b = add_op(program, "B:c0:m0", {});
    (void)f;
    const OpIndex a = add_collective(program, "ALLREDUCE.data_gradient:c0:i0", GroupKind::data, 64, {b});
    add_op(program, "OPT:c0:.update", {a});
  }
  return programs;
}

}  // namespace

TEST_CASE("of four replicas the one missing in the all-reduce is named, with its current op") {
  const auto programs = replicas(4);
  const RankGrid grid{1, 4, 1};
  const auto run = simulate(programs, grid, unit_costs(1000), 3);
  const auto spans = reported_spans(programs, grid, run.spans, 2, parse_token("B:c0:m0").value(), 1);
  const Standstill still = where_ranks_are(link(programs, grid), spans, 0, 3, {});
  CHECK(still.late == std::vector<int>{2});
  CHECK_FALSE(still.cycle);
  REQUIRE(still.pending.size() == 1);
  const PendingCommunication& communication = still.pending.front();
  CHECK(to_token(communication.op) == "ALLREDUCE.data_gradient:c0:i0");
  CHECK(communication.step == 1);
  CHECK(communication.members == std::vector<int>{0, 1, 2, 3});
  CHECK(communication.missing() == std::vector<int>{2});
  for (const int rank : {0, 1, 3}) {
    const LanePlace* data = still.find(rank, Lane::data);
    REQUIRE(data != nullptr);
    CHECK(data->entered);
    CHECK(data->left_step == 0);
    CHECK(data->next_step == 1);
    const LanePlace* compute = still.find(rank, Lane::compute);
    CHECK(to_token(compute->left) == "B:c0:m0");
    CHECK(to_token(compute->next) == "OPT:c0:.update");
    CHECK_FALSE(compute->entered);
    CHECK(to_token(compute->waits_for) == "ALLREDUCE.data_gradient:c0:i0");
  }
  const LanePlace* away = still.find(2, Lane::data);
  CHECK_FALSE(away->entered);
  CHECK(to_token(away->waits_for) == "B:c0:m0");
  CHECK(sentence_of(still, {}) == "Rank 2 is missing: it is in B:c0:m0 of step 1. Ranks 0, 1 and 3 wait for it.");
}

TEST_CASE("in a pipeline all others wait, directly or indirectly, for the stage that stopped") {
  const auto programs = pipeline_programs(one_f_one_b_schedule({4, 1, 8}));
  const RankGrid grid{1, 1, 4};
  const auto run = simulate(programs, grid, unit_costs(1000), 2);
  for (const int gone : {0, 1, 2, 3}) {
    const OpId stops = parse_token("B:c" + std::to_string(gone) + ":m3").value();
    const auto spans = reported_spans(programs, grid, run.spans, gone, stops, 1);
    const Standstill still = where_ranks_are(link(programs, grid), spans, 0, 2, {});
    INFO("stage " << gone);
    CHECK(still.late == std::vector<int>{gone});
    REQUIRE(still.own_work(gone) != nullptr);
    CHECK(still.own_work(gone)->next == stops);
    CHECK(still.own_work(gone)->next_step == 1);
    for (const int other : {0, 1, 2, 3})
      if (other != gone) CHECK(still.own_work(other) == nullptr);
  }
}

TEST_CASE("a rank without any report is late in the first communication with others") {
  const auto programs = replicas(2);
  const std::vector<Span> spans = {span(0, "F:c0:m0", 0, 10), span(0, "B:c0:m0", 10, 30)};
  const Standstill still = where_ranks_are(link(programs, {1, 2, 1}), spans, 0, 5, {});
  CHECK(still.late == std::vector<int>{1});
  CHECK(to_token(still.own_work(1)->next) == "F:c0:m0");
  CHECK(still.last_event_ns == 30);
}

TEST_CASE("a rank whose last events were lost is late, too: others have finished the op that it seems to be in") {
  const auto programs = replicas(3);
  const RankGrid grid{1, 3, 1};
  const auto run = simulate(programs, grid, unit_costs(1000), 3);
  // Rank 1 stopped in step 2's backward; its events from step 1's reduction on are lost.
  auto spans = reported_spans(programs, grid, run.spans, 1, parse_token("B:c0:m0").value(), 2);
  const OpId reduce = parse_token("ALLREDUCE.data_gradient:c0:i0").value();
  std::erase_if(spans, [&](const Span& s) {
    return s.rank == 1 && (s.step == 2 || (s.step == 1 && (s.op == reduce || s.op.kind() == OpKind::optimizer)));
  });
  const Standstill still = where_ranks_are(link(programs, grid), spans, 0, 3, {});
  CHECK(still.late == std::vector<int>{1});
  CHECK(sentence_of(still, {}) ==
        "Rank 1 is missing: it has reported nothing since B:c0:m0 of step 1. Ranks 0 and 2 wait for it.");
}

TEST_CASE("a rank that failed by itself is late, for any state of the others") {
  const auto programs = replicas(3);
  const std::vector<Span> spans = {span(0, "F:c0:m0", 0, 10)};
  const std::vector<End> ends = {{0, false, -1, "waited for rank 1", true}, {1, false, -1, "killed", false}};
  const Standstill still = where_ranks_are(link(programs, {1, 3, 1}), spans, 0, 5, ends);
  CHECK(still.late == std::vector<int>{1});
  CHECK(sentence_of(still, ends).find("Rank 1 is missing: killed.") == 0);
}

TEST_CASE("a deadlock of programs is distinguished from a late rank") {
  std::vector<RankProgram> programs(2);
  for (int r = 0; r < 2; ++r) {
    RankProgram& program = programs[static_cast<std::size_t>(r)];
    program.rank = r;
    const bool first = r == 0;
    const OpIndex got =
        add_message(program, first ? "RECV.pipeline_backward:c0:m0" : "RECV.pipeline_forward:c1:m0", 1 - r, 8);
    const OpIndex f = add_op(program, first ? "F:c0:m0" : "F:c1:m0", {got});
    add_message(program, first ? "SEND.pipeline_forward:c0:m0" : "SEND.pipeline_backward:c1:m0", 1 - r, 8, {f});
  }
  const Standstill still = where_ranks_are(link(programs, {1, 1, 2}), {}, 0, 1, {});
  CHECK(still.cycle);
  CHECK(still.late == std::vector<int>{0, 1});
}

TEST_CASE("in a run that has done all its steps no rank waits") {
  const auto programs = replicas(2);
  const auto run = simulate(programs, {1, 2, 1}, unit_costs(1000), 2);
  const Standstill still = where_ranks_are(link(programs, {1, 2, 1}), run.spans, 0, 2, {});
  CHECK(still.pending.empty());
  CHECK(still.late.empty());
  for (const LanePlace& lane : still.lanes) CHECK_FALSE(lane.next.valid());
  CHECK(sentence_of(still, {}).empty());
}

TEST_CASE("a stopped worker of an asynchronous server is late for those that the bound on staleness delays") {
  const Scenario scenario = parse_scenario(
      "[model]\nlayers = 2\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 64\n[plan]\ndata = 4\n"
      "data_parallel = \"parameter-server\"\nservers = 1\nstaleness = 2\n[train]\nglobal_batch = 16\n",
      "servers.toml");
  const StepProgram step = compile(scenario);
  const std::vector<RankProgram> programs = step.all_programs();
  const RankGrid& grid = step.grid;
  const int server = 4;
  const auto ahead = static_cast<std::uint32_t>(programs[server].arrivals_ahead.value());
  const std::uint32_t stops = 2, last = stops + ahead;
  const auto run = simulate(programs, grid, unit_costs(step.model, step.first_segment), static_cast<int>(last) + 3);
  // Rank 2 never begins step 2. The server serves the others up to the bound; then they compute one more step and wait
  // to push.
  const auto sentence_until = [&](std::uint32_t others_until) {
    std::vector<Span> spans;
    for (const Span& span : run.spans) {
      const bool of_two = span.rank == 2 || (span.rank == server && span.op.fields().micro_batch == 2);
      const bool computes = span.rank != server && span.op.lane() != Lane::server;
      if (span.step < (of_two ? stops : others_until + 1) || (!of_two && computes && span.step == others_until + 1))
        spans.push_back(span);
    }
    return spans;
  };
  const Standstill still = where_ranks_are(link(programs, grid), sentence_until(last), 0, 100, {});
  CHECK(still.late == std::vector<int>{2});
  REQUIRE(still.staleness_waits.size() == 1);
  CHECK(still.staleness_waits[0].server == server);
  CHECK(still.staleness_waits[0].oldest == stops);
  CHECK(still.staleness_waits[0].last == last);
  CHECK(still.staleness_waits[0].workers == std::vector<int>{2});
  REQUIRE(still.pending.size() == 3);
  for (const PendingCommunication& communication : still.pending)
    CHECK(communication.missing() == std::vector<int>{server});
  const std::string sentence = sentence_of(still, {});
  INFO(sentence);
  CHECK(sentence.find("Rank 2 is missing: it is in ") == 0);
  CHECK(sentence.find(" of step 2. Ranks 0, 1 and 3 wait for it.") != std::string::npos);

  // Before the bound is reached no worker waits: the server accepts every arrival.
  const Standstill moving = where_ranks_are(link(programs, grid), sentence_until(last - 1), 0, 100, {});
  CHECK(moving.pending.empty());
  CHECK(moving.staleness_waits.empty());
  CHECK(moving.late.empty());
}
