// Ranks' traces as one run: ids, groups, waiting and clocks, on traces made by hand.
#include "telemetry/import/join.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/explain/facts/imported.hpp"
#include "telemetry/import/groups.hpp"
#include "telemetry/store/names.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
namespace imported = rankscope::import;
using imported::ImportedRun;
using imported::ImportError;
using imported::RankTrace;

namespace {

constexpr std::int64_t ms = 1'000'000, start = 1'700'000'000'000 * ms;

/// `steps` steps of 10 ms: a product, then an all-reduce in which all members end together. The given rank computes
/// longer. Times are on a clock that is ahead by `offset` and runs fast by `drift`.
RankTrace trace_of(int rank, int ranks, int steps, std::int64_t product_ns, std::int64_t offset = 0, double drift = 0,
                   std::int64_t spread = 0) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(rank));
  const auto raw = [&](std::int64_t t) { return start + t + offset + std::llround(drift * static_cast<double>(t)); };
  RankTrace trace;
  trace.file = "rank" + std::to_string(rank) + ".json";
  trace.rank = rank;
  trace.world_size = ranks;
  trace.host = "node" + std::to_string(rank);
  trace.backend = "nccl";
  trace.lanes = {{"stream 7", imported::TracedUse::compute}, {"collectives of pg", imported::TracedUse::communication}};
  trace.names = {"mm", "all_reduce"};
  trace.groups = {{"pg", "", {}}};
  for (int r = 0; r < ranks; ++r) trace.groups[0].ranks.push_back(r);
  trace.marks_steps = true;
  for (int s = 0; s < steps; ++s) {
    const std::int64_t begin = s * 10 * ms;
    const auto number = static_cast<std::uint32_t>(s);
    const std::int64_t late = spread == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<unsigned>(spread));
    trace.steps.push_back({number, raw(begin), raw(begin + 10 * ms)});
    trace.spans.push_back({0, 0, OpKind::backward, number, -1, raw(begin), raw(begin + product_ns)});
    trace.spans.push_back({1, 1, OpKind::all_reduce, number, s, raw(begin + product_ns), raw(begin + 9 * ms + late)});
    trace.exchanges.push_back({0, s, -1, 4096});
  }
  return trace;
}

const Span& find(const ImportedRun& run, int rank, OpKind kind, std::uint32_t step) {
  for (const Span& span : run.spans)
    if (span.rank == rank && span.op.kind() == kind && span.step == step) return span;
  throw std::runtime_error("no such span");
}

}  // namespace

TEST_CASE("a collective has one id on all ranks, and its members wait for the last to arrive") {
  const ImportedRun run = imported::join({trace_of(1, 2, 3, 6 * ms), trace_of(0, 2, 3, 2 * ms)});
  CHECK(run.hello.ranks == 2);
  CHECK(run.hello.steps == 3);
  for (std::uint32_t step = 0; step < 3; ++step) {
    const Span &mine = find(run, 0, OpKind::all_reduce, step), &theirs = find(run, 1, OpKind::all_reduce, step);
    CHECK(mine.op == theirs.op);
    CHECK(mine.op.observed().occurrence == 0);
    CHECK(mine.active_ns == theirs.begin_ns);
    CHECK(theirs.active_ns == theirs.begin_ns);
    CHECK(mine.begin_ns == step * 10 * ms + 2 * ms);
  }
  CHECK(run.facts[0].group_of(find(run, 0, OpKind::all_reduce, 1).op)->ranks == std::vector<int>{0, 1});
  CHECK(run.facts[1].name_of(find(run, 1, OpKind::backward, 1).op)->text == "mm");
  REQUIRE(run.summaries.size() == 6);
  CHECK(run.summaries[0].traffic.size() == 1);
  CHECK(run.summaries[0].traffic[0].payload_bytes == 4096);
  CHECK(run.remarks.empty());
}

TEST_CASE("a rank that misses a collective keeps the ids of the others in step, by their sequence numbers") {
  RankTrace first = trace_of(0, 2, 1, 2 * ms), second = trace_of(1, 2, 1, 2 * ms);
  for (int i = 1; i < 4; ++i)
    for (RankTrace* trace : {&first, &second}) {
      if (trace == &second && i == 2) continue;  // its event was lost
      trace->spans.push_back({1, 1, OpKind::all_reduce, 0, static_cast<int>(trace->exchanges.size()),
                              start + (9 + i) * ms, start + (9 + i) * ms + ms / 2});
      trace->exchanges.push_back({0, i, -1, 4096});
    }
  const ImportedRun run = imported::join({first, second});
  std::vector<int> occurrences[2];
  for (const Span& span : run.spans)
    if (span.op.kind() == OpKind::all_reduce) occurrences[span.rank].push_back(span.op.observed().occurrence);
  CHECK(occurrences[0] == std::vector<int>{0, 1, 2, 3});
  CHECK(occurrences[1] == std::vector<int>{0, 1, 3});
}

TEST_CASE("clocks that differ by an offset and a drift are aligned by the ends of collectives, within what is said") {
  constexpr std::int64_t offset = 50 * ms, spread = 100'000;
  constexpr double drift = 100e-6;
  const ImportedRun run =
      imported::join({trace_of(0, 2, 300, 2 * ms, 0, 0, spread), trace_of(1, 2, 300, 2 * ms, offset, drift, spread)});
  const imported::ClockFit& clock = run.clocks[1];
  CHECK(clock.points == 300);
  CHECK(std::abs(clock.drift - drift) < 2e-5);
  CHECK(clock.uncertainty_ns > 0);
  CHECK(clock.uncertainty_ns <= spread);
  for (const std::uint32_t step : {0U, 150U, 299U})
    CHECK(std::abs(find(run, 1, OpKind::backward, step).begin_ns - find(run, 0, OpKind::backward, step).begin_ns) <
          100'000);
}

TEST_CASE("ranks of one host share its clock, however their collectives end") {
  RankTrace first = trace_of(0, 2, 20, 2 * ms, 0, 0, 400'000), second = trace_of(1, 2, 20, 2 * ms, 0, 0, 400'000);
  first.host = second.host = "node";
  const ImportedRun run = imported::join({first, second});
  CHECK(run.clocks[1].is_shared);
  CHECK(find(run, 1, OpKind::backward, 5).begin_ns == find(run, 0, OpKind::backward, 5).begin_ns);
  // A trace whose times were moved is no longer on it.
  RankTrace moved = trace_of(1, 2, 20, 2 * ms, 50 * ms, 0, 400'000);
  moved.host = "node";
  const ImportedRun aligned = imported::join({first, moved});
  CHECK_FALSE(aligned.clocks[1].is_shared);
  CHECK(std::abs(aligned.clocks[1].offset_ns - 50 * ms) < 400'000);
}

TEST_CASE("traces that cannot be of one run are refused in a line") {
  CHECK_THROWS_AS(imported::join({}), ImportError);
  CHECK_THROWS_WITH(imported::join({trace_of(1, 2, 1, ms), trace_of(1, 2, 1, ms)}),
                    ContainsText("rank1.json and rank1.json are both of rank 1"));
  CHECK_THROWS_WITH(imported::join({trace_of(0, 2, 1, ms), trace_of(1, 4, 1, ms)}), ContainsText("not of one run"));
  RankTrace unknown = trace_of(0, 2, 1, ms), known = trace_of(1, 2, 1, ms);
  unknown.rank = -1;
  CHECK_THROWS_WITH(imported::join({unknown, known}), ContainsText("its rank is unknown"));
  known.rank = 1 << 20;
  CHECK_THROWS_WITH(imported::join({known}), ContainsText("there may be 65536 ranks"));
}

TEST_CASE("a remark of several ranks is said once, with the sum of its counts") {
  RankTrace first = trace_of(0, 2, 1, ms), second = trace_of(1, 2, 1, ms);
  first.remarks = {"operations are left out: 3", "no step is marked"};
  second.remarks = {"operations are left out: 4"};
  const ImportedRun run = imported::join({first, second});
  CHECK(run.remarks ==
        std::vector<std::string>{"rank 0: no step is marked", "ranks 0 and 1: operations are left out: 7"});
}

TEST_CASE("missing ranks are said, and have a place") {
  const ImportedRun run = imported::join({trace_of(0, 4, 2, ms), trace_of(2, 4, 2, ms)});
  CHECK(run.hello.ranks == 4);
  CHECK(run.facts.size() == 4);
  REQUIRE(run.remarks.size() == 1);
  CHECK_THAT(run.remarks[0], ContainsText("ranks 1 and 3"));
}

TEST_CASE("an imported run in the store has names, steps and figures") {
  const ImportedRun run = imported::join({trace_of(0, 2, 5, 2 * ms), trace_of(1, 2, 5, 6 * ms)});
  RunStore store;
  std::map<int, std::uint64_t> sent;
  imported::publish(run, [&](int rank, Event event) {
    Message message;
    message.rank = rank;
    message.sequence = ++sent[rank];
    message.event = std::move(event);
    store.accept(message);
  });
  const auto view = store.view();
  REQUIRE(is_imported(*view));
  CHECK(view->steps(Obtained::measured).size() == 5);
  const Span& reduce = find(run, 0, OpKind::all_reduce, 2);
  CHECK(name_of_op(*view, 0, reduce.op) == "all_reduce");
  CHECK(forms_of_op(*view, 0, reduce.op).front() == "all_reduce · pg");
  CHECK(name_of_lane(*view, 0, reduce.op.lane()) == "collectives of pg");
  const Report report = make_report(facts_of_import(*view, step_facts(*view)));
  CHECK(report.is_imported);
  CHECK(report.step_seconds == Approx(0.010));
  CHECK(report.time[TimeClass::compute] == Approx(0.4));  // 2 and 6 of 10 ms
  CHECK(report.time[TimeClass::bubble] == Approx(0.2));   // rank 0 waits 4 of 10 ms
  REQUIRE(report.awaited);
  CHECK(report.awaited->rank == 1);
  CHECK(report.awaited->seconds == Approx(0.004));
  REQUIRE(report.traffic.size() == 1);
  CHECK(report.traffic[0].payload_per_rank == 4096);
}

TEST_CASE("the short forms of a kernel's name leave out what the compiler adds") {
  const auto forms = [](const std::string& name) {
    RankTrace trace = trace_of(0, 1, 1, ms);
    trace.names[0] = name;
    const ImportedRun run = imported::join({trace});
    RunStore store;
    imported::publish(run, [&](int rank, Event event) {
      Message message;
      message.rank = rank;
      message.event = std::move(event);
      store.accept(message);
    });
    return forms_of_op(*store.view(), 0, find(run, 0, OpKind::backward, 0).op);
  };
  CHECK(forms("void at::native::vectorized<4, at::Add<float>>(int, float)") ==
        std::vector<std::string>{"void at::native::vectorized<4, at::Add<float>>(int, float)", "at::native::vectorized",
                                 "vectorized"});
  CHECK(forms("sm80_xmma_gemm") == std::vector<std::string>{"sm80_xmma_gemm"});
  CHECK(forms("(anonymous namespace)::softmax") ==
        std::vector<std::string>{"(anonymous namespace)::softmax", "softmax"});
  CHECK(forms("operator<<") == std::vector<std::string>{"operator<<", "operator"});
}

TEST_CASE("what ranks give to a collective is recorded with each op") {
  const ImportedRun run = imported::join({trace_of(0, 2, 2, 2 * ms), trace_of(1, 2, 2, 2 * ms)});
  REQUIRE(run.given.size() == 4);
  for (const PhaseSpan& given : run.given) {
    CHECK(given.is_given());
    CHECK(given.op == find(run, given.rank, OpKind::all_reduce, given.step).op);
    CHECK(given.bytes == 4096);
  }
}

TEST_CASE("the allocator's bytes belong to their steps, which begin with the level that they found") {
  RankTrace trace = trace_of(0, 1, 4, 2 * ms);
  // Before the first step; twice in step 0; none in step 1; in step 2, and none in step 3.
  trace.memory = {
      {start - ms, 100, 500}, {start + ms, 900, 900}, {start + 2 * ms, 300, 900}, {start + 25 * ms, 200, 900}};
  const ImportedRun run = imported::join({trace});
  std::vector<std::pair<std::int64_t, std::int64_t>> levels;
  for (const MemorySample& sample : run.memory) {
    CHECK(device_sum(sample.bytes) == sample.bytes[static_cast<std::size_t>(MemoryClass::unclassified)]);
    levels.emplace_back(sample.time_ns, device_sum(sample.bytes));
  }
  CHECK(levels ==
        std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 100}, {ms, 900}, {2 * ms, 300}, {25 * ms, 200}});
  CHECK(run.memory.back().step == 2);
  std::vector<std::int64_t> peaks;
  for (const StepSummary& summary : run.summaries) peaks.push_back(summary.peak_total_bytes);
  CHECK(peaks == std::vector<std::int64_t>{900, 300, 300, 200});
}

namespace {

/// As traces before 2024: collectives of no group, without numbers.
std::vector<RankTrace> unnamed(int ranks, int steps) {
  std::vector<RankTrace> traces;
  for (int rank = 0; rank < ranks; ++rank) {
    RankTrace& trace = traces.emplace_back(trace_of(rank, ranks, steps, (rank == 1 ? 6 : 2) * ms));
    trace.groups.clear();
    for (auto& exchange : trace.exchanges) exchange.group = -1, exchange.sequence = -1;
  }
  return traces;
}

}  // namespace

TEST_CASE("collectives that name no group are of all ranks, if all have the same ones and end together") {
  std::vector<RankTrace> traces = unnamed(3, 20);
  imported::find_unnamed_groups(traces);
  CHECK_THAT(traces[0].remarks.at(0), ContainsText("taken to be of all ranks"));
  const ImportedRun run = imported::join(traces);
  CHECK(find(run, 0, OpKind::all_reduce, 2).active_ns == find(run, 1, OpKind::all_reduce, 2).begin_ns);

  const auto stays_unknown = [](std::vector<RankTrace> changed) {
    imported::find_unnamed_groups(changed);
    CHECK_THAT(changed[0].remarks.at(0), ContainsText("who takes part in them is not known"));
    return changed[0].exchanges[0].group == -1;
  };
  std::vector<RankTrace> other_size = unnamed(3, 20), fewer = unnamed(3, 20), apart = unnamed(3, 20);
  other_size[2].exchanges[7].bytes = 8;
  CHECK(stays_unknown(other_size));
  fewer.pop_back();  // the third rank has no trace
  CHECK(stays_unknown(fewer));
  for (std::size_t i = 0; i < apart[2].spans.size(); i += 4) apart[2].spans[i + 1].end_ns -= 5 * ms;
  CHECK(stays_unknown(apart));
}

TEST_CASE("a rank that lost a collective without a number is matched with the others by the ends") {
  std::vector<RankTrace> traces{trace_of(0, 3, 1, 2 * ms), trace_of(1, 3, 1, 2 * ms),
                                trace_of(2, 3, 1, 2 * ms, 7 * ms)};
  for (RankTrace& trace : traces) {
    trace.exchanges[0].sequence = -1;
    const std::int64_t ahead = trace.rank == 2 ? 7 * ms : 0;
    for (int i = 1; i < 20; ++i) {  // not at equal distances: there a lost one could not be told from a late one
      const std::int64_t begin = start + ahead + (10 + i * i) * ms;
      trace.spans.push_back(
          {1, 1, OpKind::all_reduce, 0, static_cast<int>(trace.exchanges.size()), begin, begin + ms / 2});
      trace.exchanges.push_back({0, -1, -1, 4096});
    }
  }
  std::erase_if(traces[2].spans, [](const auto& span) { return span.exchange == 6; });
  const ImportedRun run = imported::join(traces);
  CHECK(std::abs(run.clocks[2].offset_ns - 7 * ms) < ms / 10);
  std::vector<int> occurrences;
  for (const Span& span : run.spans)
    if (span.rank == 2 && span.op.kind() == OpKind::all_reduce) occurrences.push_back(span.op.observed().occurrence);
  REQUIRE(occurrences.size() == 19);
  CHECK(occurrences[5] == 5);
  CHECK(occurrences[6] == 7);
  CHECK_THAT(run.remarks.at(0), ContainsText("rank 2: collectives that other members have are missing"));
}

TEST_CASE("groups without a common rank share a lane's number, so that many groups fit") {
  std::vector<RankTrace> traces;
  for (int rank = 0; rank < 64; ++rank) {
    RankTrace& trace = traces.emplace_back(trace_of(rank, 64, 1, 2 * ms));
    const int pair = rank / 2;
    trace.groups = {{"pair " + std::to_string(pair), "", {2 * pair, 2 * pair + 1}}};
    trace.lanes[1].name = "collectives of pair " + std::to_string(pair);
  }
  const ImportedRun run = imported::join(traces);
  CHECK(
      std::ranges::none_of(run.remarks, [](const std::string& r) { return r.find("more than") != std::string::npos; }));
  for (const int rank : {0, 1, 63}) {
    const Lane lane = find(run, rank, OpKind::all_reduce, 0).op.lane();
    CHECK(run.facts[static_cast<std::size_t>(rank)].lanes.at(lane) ==
          "collectives of pair " + std::to_string(rank / 2));
  }
}

TEST_CASE("traces of different days are refused, and different steps are said") {
  RankTrace early = trace_of(0, 2, 1, ms), late = trace_of(1, 2, 1, ms, 86'400'000 * ms);
  late.exchanges[0].group = early.exchanges[0].group = -1;
  CHECK_THROWS_WITH(imported::join({early, late}), ContainsText("they are not of one run"));
  RankTrace other = trace_of(1, 2, 1, ms);
  other.steps[0].number = 4;
  for (auto& span : other.spans) span.step = 4;
  CHECK(std::ranges::count(imported::join({trace_of(0, 2, 1, ms), other}).remarks,
                           "ranks mark different steps: steps 0 on rank 0, steps 4 on rank 1") == 1);
}

TEST_CASE("a drift that no clock has is not believed") {
  std::vector<imported::CommonEnd> ends;
  for (int i = 0; i < 40; ++i) ends.push_back({start + i * 10 * ms + (i > 20 ? 4 * ms : 0), start + i * 10 * ms});
  CHECK(imported::fit(ends).drift == 0);
}
