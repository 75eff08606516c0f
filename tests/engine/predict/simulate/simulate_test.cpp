#include "engine/predict/layout/simulate.hpp"

#include <random>
#include "engine/plan/program/dry_run.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "tests/catch.hpp"
#include "tests/engine/predict/simulate/pipelines.hpp"

using namespace rankscope;

namespace {

constexpr std::int64_t unit = 1'000'000;

/// 1 - compute time / (ranks × end).
double idle_share(const Simulation& simulation, std::size_t ranks) {
  std::int64_t busy = 0;
  for (const Span& span : simulation.spans)
    if (span.op.lane() == Lane::compute) busy += span.end_ns - span.begin_ns;
  return 1.0 - static_cast<double>(busy) / (static_cast<double>(ranks) * static_cast<double>(simulation.end_ns));
}

const Span& span_of(const Simulation& simulation, int rank, const std::string& token, std::uint32_t step = 0) {
  for (const Span& span : simulation.spans)
    if (span.rank == rank && span.step == step && span.op == parse_token(token)) return span;
  FAIL("no span of rank " << rank << ": " << token);
  return simulation.spans.front();
}

Costs costs_of(std::int64_t compute_ns, Link link) {
  return {[compute_ns](const RankProgram&, const Op&) { return compute_ns; }, [link](int, int) { return link; }, {}};
}

}  // namespace

TEST_CASE("with unit costs a naive pipeline of p stages idles 1 - 1/p, gpipe and 1f1b (p-1)/(m+p-1)") {
  const int p = GENERATE(1, 2, 3, 4, 8, 16);
  const int m = GENERATE(1, 2, 4, 7, 8, 32);
  const double flushed = static_cast<double>(p - 1) / (m + p - 1);
  const std::pair<std::string, double> ideals[] = {{"naive", 1.0 - 1.0 / p}, {"gpipe", flushed}, {"1f1b", flushed}};
  for (const auto& [name, ideal] : ideals) {
    CAPTURE(name, p, m);
    const ChunkSchedule schedule = make_schedule(name, {p, 1, m});
    const Simulation simulation = simulate(pipeline_programs(schedule), {1, 1, p}, unit_costs(unit));
    CHECK(idle_share(simulation, static_cast<std::size_t>(p)) == Approx(ideal).margin(1e-12));
    CHECK(ideal_bubble(schedule) == Approx(ideal).margin(1e-12));
    CHECK(simulation.end_ns == (name == "naive" ? 3 * unit * m * p : 3 * unit * (m + p - 1)));
  }
}

TEST_CASE("a message of n bytes occupies both lanes for alpha + n/beta once both ends have arrived") {
  RankProgram sender, receiver;
  receiver.rank = 1;
  const OpIndex f0 = add_op(sender, "F:c0:m0");
  add_message(sender, "SEND.pipeline_forward:c0:m0", 1, 5000, {f0});
  const OpIndex r = add_message(receiver, "RECV.pipeline_forward:c1:m0", 0, 5000);
  add_op(receiver, "F:c1:m0", {r});
  const Simulation s = simulate({sender, receiver}, {1, 1, 2}, costs_of(700, {300, 2.0}));
  const std::int64_t moved = 300 + 5000 / 2;
  const Span receive = span_of(s, 1, "RECV.pipeline_forward:c1:m0");
  CHECK(receive.begin_ns == 0);
  CHECK(receive.active_ns == 700);  // it waited for the sender's forward
  CHECK(receive.end_ns == 700 + moved);
  const Span send = span_of(s, 0, "SEND.pipeline_forward:c0:m0");
  CHECK(send.begin_ns == 700);
  CHECK(send.active_ns == 700);
  CHECK(send.end_ns == receive.end_ns);
  CHECK(span_of(s, 1, "F:c1:m0").begin_ns == 700 + moved);
  CHECK(s.end_ns == 700 + moved + 700);
}

TEST_CASE("a rendezvous send waits for a late receiver") {
  RankProgram sender, receiver;
  receiver.rank = 1;
  add_message(sender, "SEND.pipeline_forward:c0:m0", 1, 10);
  const OpIndex busy = add_op(receiver, "F:c1:m7");
  add_message(receiver, "RECV.pipeline_forward:c1:m0", 0, 10, {busy});
  const Simulation s = simulate({sender, receiver}, {1, 1, 2}, costs_of(900, {5, 1.0}));
  const Span send = span_of(s, 0, "SEND.pipeline_forward:c0:m0");
  CHECK(send.begin_ns == 0);
  CHECK(send.active_ns == 900);
  CHECK(send.end_ns == 915);
}

TEST_CASE("a ring all-reduce of S bytes over n ranks takes 2(n-1) alpha + 2(n-1)/n S/B after its last member arrived") {
  const int n = GENERATE(2, 3, 4, 8);
  const std::int64_t bytes = 24'000'000, alpha = 1500;
  const double beta = 12.0;
  std::vector<RankProgram> programs(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    programs[r].rank = r;
    const OpIndex b = add_op(programs[r], "B:c0:m0");
    add_collective(programs[r], "ALLREDUCE.data_gradient:c0:i0", GroupKind::data, bytes, {b});
  }
  Costs costs = costs_of(0, {alpha, beta});
  costs.compute_ns = [](const RankProgram& program, const Op&) -> std::int64_t { return 1000 * (program.rank + 1); };
  const Simulation s = simulate(programs, {1, n, 1}, costs);
  const double expected = 2.0 * (n - 1) * alpha + 2.0 * (n - 1) / n * static_cast<double>(bytes) / beta;
  for (int r = 0; r < n; ++r) {
    const Span span = span_of(s, r, "ALLREDUCE.data_gradient:c0:i0");
    CHECK(span.begin_ns == 1000 * (r + 1));
    CHECK(span.active_ns == 1000 * n);
    CHECK(static_cast<double>(span.end_ns - span.active_ns) == Approx(expected).margin(1));
  }
}

TEST_CASE("a gradient bucket's all-reduce overlaps with the backward of other segments") {
  // Two ranks; two backwards of 10 µs; bucket 0 is reduced while the second runs, bucket 1 is exposed.
  std::vector<RankProgram> programs(2);
  for (int r = 0; r < 2; ++r) {
    programs[r].rank = r;
    const OpIndex b1 = add_op(programs[r], "B:c0:m0:b1");
    const OpIndex a0 = add_collective(programs[r], "ALLREDUCE.data_gradient:c0:i0", GroupKind::data, 8000, {b1});
    const OpIndex b0 = add_op(programs[r], "B:c0:m0:b0");
    const OpIndex a1 = add_collective(programs[r], "ALLREDUCE.data_gradient:c0:i1", GroupKind::data, 8000, {b0});
    add_op(programs[r], "OPT:c0:.update", {a0, a1});
  }
  const Simulation s = simulate(programs, {1, 2, 1}, costs_of(10'000, {0, 1.0}));  // an all-reduce takes 8 µs
  CHECK(s.end_ns == 10'000 + 10'000 + 8'000 + 10'000);
}

TEST_CASE("one slow rank delays the whole pipeline by its own excess in every micro-batch") {
  const int p = 4, m = 16;
  Costs costs = unit_costs(unit);
  costs.compute_ns = [unit_of = costs.compute_ns](const RankProgram& program, const Op& op) {
    return unit_of(program, op) * (program.rank == 2 ? 2 : 1);
  };
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}));
  const Simulation s = simulate(programs, {1, 1, p}, costs);
  // Two forwards (1 + 1) on the ranks before it fill the pipeline. It has done two forwards (2 + 2) when rank 3's first
  // gradient arrives after 2 + 1 + 2, so it waits 1. Then it is busy until its last gradient has passed ranks 1 and 0
  // (2 + 2).
  CHECK(s.end_ns == unit * (2 + 1 + 6 * m + 4));
}

TEST_CASE("steps overlap: a rank begins the next step without waiting for the others' ends") {
  const int p = 4, m = 4, steps = 3;
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}));
  const Simulation s = simulate(programs, {1, 1, p}, unit_costs(unit), steps);
  // Rank 0 is the last to finish a step and the first to begin one, so its steps follow each other without a gap …
  CHECK(s.end_ns == steps * 3 * unit * (m + p - 1));
  // … while rank 3 has finished its step 0 earlier.
  CHECK(span_of(s, 3, "B:c3:m3", 0).end_ns < span_of(s, 0, "F:c0:m0", 1).begin_ns);
  CHECK(s.spans.size() == steps * [&] {
    std::size_t ops = 0;
    for (const auto& program : programs) ops += program.ops.size();
    return ops;
  }());
}

TEST_CASE("after_previous delays an op until an op of the previous step has finished") {
  RankProgram program;
  const OpIndex f = add_op(program, "F:c0:m0");
  const OpIndex load = add_op(program, "LOAD:c0:m1");
  program.ops[load].after_previous = {f};
  Costs costs = costs_of(100, {});
  costs.compute_ns = [](const RankProgram&, const Op& op) -> std::int64_t {
    return op.id.kind() == OpKind::forward ? 100 : 30;
  };
  const Simulation s = simulate({program}, {1, 1, 1}, costs, 2);
  CHECK(span_of(s, 0, "LOAD:c0:m1", 0).begin_ns == 0);
  CHECK(span_of(s, 0, "LOAD:c0:m1", 1).begin_ns == 100);
}

TEST_CASE("spans are ordered by step, rank and begin") {
  const Simulation s =
      simulate(pipeline_programs(make_schedule("gpipe", {3, 1, 5})), {1, 1, 3}, costs_of(1000, {10, 3.0}), 2);
  for (std::size_t i = 1; i < s.spans.size(); ++i) {
    const Span &a = s.spans[i - 1], &b = s.spans[i];
    CHECK(std::tuple(a.step, a.rank, a.begin_ns) <= std::tuple(b.step, b.rank, b.begin_ns));
    CHECK(b.begin_ns <= b.active_ns);
    CHECK(b.active_ns <= b.end_ns);
  }
}

TEST_CASE("a deadlock is found and says which rank waits for whom at which op") {
  // Both ranks want to send before they receive, on lanes that their own op order connects.
  RankProgram a, b;
  b.rank = 1;
  const OpIndex a_send = add_message(a, "SEND.pipeline_forward:c0:m0", 1, 8);
  add_message(a, "RECV.pipeline_backward:c0:m0", 1, 8, {a_send});
  const OpIndex b_send = add_message(b, "SEND.pipeline_backward:c1:m0", 0, 8);
  add_message(b, "RECV.pipeline_forward:c1:m0", 0, 8, {b_send});
  const std::string what = message_of([&] { simulate({a, b}, {1, 1, 2}, costs_of(1, {})); });
  CAPTURE(what);
  CHECK(what.find("deadlock in step 0") == 0);
  CHECK(what.find("rank 0 (forward_send) at SEND.pipeline_forward:c0:m0 waits for rank 1 (forward_receive) to come to "
                  "RECV.pipeline_forward:c1:m0") != std::string::npos);
  CHECK(what.find("rank 1 (forward_receive) at RECV.pipeline_forward:c1:m0 waits for rank 1 (backward_send) to finish "
                  "SEND.pipeline_backward:c1:m0") != std::string::npos);
  CHECK(what.find("rank 1 (backward_send) at SEND.pipeline_backward:c1:m0 waits for rank 0") != std::string::npos);
}

TEST_CASE("collectives of one lane in different orders are a deadlock") {
  std::vector<RankProgram> programs(2);
  for (int r = 0; r < 2; ++r) {
    programs[r].rank = r;
    for (const int i : {r, 1 - r})
      add_collective(programs[r], "ALLREDUCE.data_gradient:c0:i" + std::to_string(i), GroupKind::data, 8);
  }
  CHECK(message_of([&] { simulate(programs, {1, 2, 1}, costs_of(1, {})); }).find("deadlock") == 0);
}

TEST_CASE("a message without its other end, and ends of different size, are refused by name") {
  RankProgram a, b;
  b.rank = 1;
  add_message(a, "SEND.pipeline_forward:c0:m0", 1, 8);
  CHECK(message_of([&] {
          simulate({a, b}, {1, 1, 2}, costs_of(1, {}));
        }) == "rank 0, SEND.pipeline_forward:c0:m0: no RECV.pipeline_forward:c1:m0 in rank 1's program");
  add_message(b, "RECV.pipeline_forward:c1:m0", 0, 9);
  CHECK(message_of([&] {
          simulate({a, b}, {1, 1, 2}, costs_of(1, {}));
        }) == "rank 0, SEND.pipeline_forward:c0:m0: sends 8 bytes, rank 1 expects 9");
  RankProgram lonely;
  add_message(lonely, "RECV.pipeline_forward:c1:m0", 1, 8);
  RankProgram nobody;
  nobody.rank = 1;
  CHECK(message_of([&] {
          simulate({lonely, nobody}, {1, 1, 2}, costs_of(1, {}));
        }) == "rank 0, RECV.pipeline_forward:c1:m0: no SEND.pipeline_forward:c0:m0 in rank 1's program");
  CHECK(message_of([&] { simulate({a}, {1, 1, 2}, costs_of(1, {})); }) == "there are 1 program for 2 ranks");
}

TEST_CASE("a program folded to chunks takes as long as one of segments") {
  const std::string name = GENERATE("naive", "gpipe", "1f1b");
  const ChunkSchedule schedule = make_schedule(name, {4, 1, 6});
  const Link link{2000, 1.5};
  const std::int64_t part = 2000;
  const int parts = 5;
  const Simulation folded = simulate(pipeline_programs(schedule, 3000), {1, 1, 4}, costs_of(part * parts, link), 2);
  const Simulation unfolded = simulate(pipeline_programs(schedule, 3000, parts), {1, 1, 4}, costs_of(part, link), 2);
  CHECK(folded.end_ns == unfolded.end_ns);
  // Every message also moves at the same time.
  for (const Span& span : folded.spans) {
    if (!is_communication(span.op.kind())) continue;
    CHECK(span_of(unfolded, span.rank, to_token(span.op), span.step) == span);
  }
}

TEST_CASE("the dry run and the layout find the same deadlocks") {
  // Exchanges two ops in a program's order and updates the ops that depend on them.
  const auto exchange = [](RankProgram& program, OpIndex a, OpIndex b) {
    std::swap(program.ops[a], program.ops[b]);
    for (Op& op : program.ops)
      for (OpIndex& before : op.after) before = before == a ? b : before == b ? a : before;
  };
  std::mt19937 random(1);
  const RankGrid grid{1, 1, 3};
  int stuck = 0;
  constexpr int rounds = 300;
  for (int round = 0; round < rounds; ++round) {
    std::vector<RankProgram> programs = pipeline_programs(make_schedule(round % 2 ? "1f1b" : "gpipe", {3, 1, 3}));
    for (int change = 0; change < round % 4; ++change) {
      RankProgram& program = programs[random() % programs.size()];
      const auto any = [&] { return static_cast<OpIndex>(random() % program.ops.size()); };
      exchange(program, any(), any());
    }
    const bool is_deadlock = find_deadlock(programs, grid).has_value();
    const std::string what = message_of([&] { simulate(programs, grid, costs_of(1000, {10, 3.0}), 2); });
    INFO(what);
    REQUIRE(is_deadlock == (what.find("deadlock in step") == 0));
    stuck += is_deadlock;
  }
  CHECK(stuck > rounds / 10);
  CHECK(stuck < rounds * 9 / 10);
}
