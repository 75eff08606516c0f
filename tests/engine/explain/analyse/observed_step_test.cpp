// Steps of imported runs: figures by hand.
#include "engine/explain/analyse/observed_step.hpp"

#include "engine/explain/analyse/exchange.hpp"
#include "engine/explain/analyse/step_analysis.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

constexpr Lane stream = observed_lane(LaneUse::compute, 0), second = observed_lane(LaneUse::compute, 1),
               group = observed_lane(LaneUse::communication, 0), thread = observed_lane(LaneUse::host, 0);
enum Name { product, reduction, message, launch };

std::vector<StepFacts> facts_by_hand(int ranks) {
  std::vector<StepFacts> all;
  for (int rank = 0; rank < ranks; ++rank) {
    StepFacts& facts = all.emplace_back();
    facts.rank = rank;
    for (int member = 0; member < ranks; ++member) facts.groups[0].ranks.push_back(member);
    facts.groups[1].ranks = {1, 0};
    facts.names = {
        {product, {"mm", -1}}, {reduction, {"all_reduce", 0}}, {message, {"message", 1}}, {launch, {"l", -1}}};
  }
  return all;
}

Span span(int rank, OpKind kind, Lane lane, Name name, int occurrence, std::int64_t begin, std::int64_t end) {
  Span result;
  result.rank = rank;
  const Purpose purpose = is_communication(kind) ? Purpose::data_gradient : Purpose::none;
  result.op = OpId::of_observed({kind, purpose, lane, name, occurrence});
  result.begin_ns = result.active_ns = begin;
  result.end_ns = end;
  return result;
}

/// Rank 1 computes three times as long, so rank 0 waits for it in the all-reduce.
std::vector<Span> late_second_rank() {
  return {span(0, OpKind::backward, stream, product, 0, 0, 10),
          span(0, OpKind::all_reduce, group, reduction, 0, 10, 40),
          span(0, OpKind::optimizer, stream, product, 1, 40, 50),
          span(1, OpKind::backward, stream, product, 0, 0, 30),
          span(1, OpKind::all_reduce, group, reduction, 0, 30, 40),
          span(1, OpKind::optimizer, stream, product, 1, 40, 50)};
}

}  // namespace

TEST_CASE("waiting in a collective is bubble until the last member arrives, and exposed communication after") {
  const std::vector<Span> spans = late_second_rank();
  const Step step = observed_step(facts_by_hand(2), spans, 0);
  CHECK(step.members.size() == 1);
  const StepAnalysis a = analyse_step(step, spans, {0, 50}, 0);
  REQUIRE(a.ranks.size() == 2);
  CHECK(a.ranks[0][TimeClass::compute] == Approx(0.2));
  CHECK(a.ranks[0][TimeClass::bubble] == Approx(0.4));
  CHECK(a.ranks[0][TimeClass::data] == Approx(0.2));
  CHECK(a.ranks[0][TimeClass::optimizer] == Approx(0.2));
  CHECK(a.ranks[1][TimeClass::compute] == Approx(0.6));
  CHECK(a.ranks[1][TimeClass::bubble] == 0);
  CHECK(a.ranks[1][TimeClass::data] == Approx(0.2));
  CHECK(a.bubble == Approx(0.2));
  REQUIRE_FALSE(a.stretches.empty());
  CHECK(a.stretches[0].cause == BubbleCause::peers);
  CHECK(a.stretches[0].waits_for_rank == 1);
  CHECK(a.missing_spans == 0);
  const std::vector<double> awaited = awaited_seconds(step, spans, 0);
  CHECK(awaited[0] == 0);
  CHECK(awaited[1] == Approx(20e-9));
}

TEST_CASE("waiting for a rank in two collectives at once counts once") {
  std::vector<Span> spans = late_second_rank();
  spans.push_back(span(0, OpKind::all_reduce, group, reduction, 1, 20, 45));
  spans.push_back(span(1, OpKind::all_reduce, group, reduction, 1, 35, 45));
  const Step step = observed_step(facts_by_hand(2), spans, 0);
  CHECK(awaited_seconds(step, spans, 0)[1] == Approx(25e-9));  // from 10 to 30, and from 20 to 35
}

TEST_CASE("a collective without all its members is joined to none, and its waiting is unknown") {
  std::vector<Span> spans = late_second_rank();
  std::erase_if(spans, [](const Span& s) { return s.rank == 1; });
  const Step step = observed_step(facts_by_hand(2), spans, 0);
  CHECK(step.members.size() == 0);
  const StepAnalysis a = analyse_step(step, spans, {0, 50}, 0);
  CHECK(a.ranks[0][TimeClass::data] == Approx(0.6));  // it moved bytes or waited: nobody can tell
  CHECK(awaited_seconds(step, spans, 0) == std::vector<double>{0, 0});
}

TEST_CASE("of a rank without a trace everything is unknown, and it is in no average") {
  const std::vector<Span> spans = late_second_rank();
  std::vector<StepFacts> facts = facts_by_hand(2);
  facts.emplace_back().rank = 2;
  const StepAnalysis a = analyse_step(observed_step(facts, spans, 0), spans, {0, 50}, 0);
  CHECK(a.workers == 2);
  REQUIRE(a.ranks.size() == 3);
  CHECK(a.ranks[2].unknown == Approx(1));
  CHECK(a.ranks[2][TimeClass::bubble] == 0);
  CHECK(a.average[TimeClass::compute] == Approx(0.4));
  CHECK(a.bubble == Approx(0.2));
}

TEST_CASE("a message joins its two ends in the direction of its group") {
  const std::vector<Span> spans{span(0, OpKind::receive, group, message, 0, 0, 30),
                                span(1, OpKind::send, group, message, 0, 20, 30)};
  const Step step = observed_step(facts_by_hand(2), spans, 0);
  REQUIRE(step.members.size() == 1);
  CHECK(step.rank_of(step.members[0][0]) == 1);
  CHECK(step.rank_of(step.members[0][1]) == 0);
}

TEST_CASE("time in which several streams work counts once, and the host's threads explain nothing") {
  const std::vector<Span> spans{
      span(0, OpKind::forward, stream, product, 0, 0, 40), span(0, OpKind::forward, second, product, 0, 20, 60),
      span(0, OpKind::compute, thread, launch, 0, 60, 80), span(0, OpKind::forward, stream, product, 1, 80, 100)};
  const Step step = observed_step(facts_by_hand(1), spans, 0);
  const StepAnalysis a = analyse_step(step, spans, {0, 100}, 0);
  CHECK(a.ranks[0][TimeClass::compute] == Approx(0.8));
  CHECK(a.ranks[0][TimeClass::other] == Approx(0.2));
  CHECK(a.ranks[0].unknown == 0);
  CHECK(a.bubble == 0);
}

TEST_CASE("ops of other steps and of ranks that are not there are left out, in any order of spans") {
  std::vector<Span> spans = late_second_rank();
  spans.push_back(span(0, OpKind::forward, stream, product, 7, 50, 60));
  spans.back().step = 1;
  spans.push_back(span(5, OpKind::forward, stream, product, 0, 0, 10));
  std::reverse(spans.begin(), spans.end());
  const Step step = observed_step(facts_by_hand(2), spans, 0);
  CHECK(step.nodes() == 6);
  CHECK(step.members.size() == 1);
}

TEST_CASE("the size of an exchange is what a member gives, and of gathered parts their sum") {
  std::vector<Span> spans = late_second_rank();
  for (const int rank : {0, 1}) spans.push_back(span(rank, OpKind::all_gather, group, reduction, 1, 50, 60));
  spans.push_back(span(1, OpKind::send, group, message, 0, 60, 70));
  spans.push_back(span(0, OpKind::receive, group, message, 0, 60, 70));
  const GivenBytes given = [](int rank, OpId op) -> std::int64_t {
    return op.kind() == OpKind::send ? 7 : op.kind() == OpKind::receive ? -1 : 1000 + rank;
  };
  const Step step = observed_step(facts_by_hand(2), spans, 0, given);
  const auto bytes_of = [&](OpKind kind) {
    for (ExchangeIndex i = 0; i < step.members.size(); ++i)
      if (step.ids[step.members[i].front()].kind() == kind) return step.exchanges[i].bytes;
    return std::int64_t{-2};
  };
  CHECK(bytes_of(OpKind::all_reduce) == 1000);
  CHECK(bytes_of(OpKind::all_gather) == 2001);
  CHECK(bytes_of(OpKind::send) == 7);
  const Step unsized = observed_step(facts_by_hand(2), spans, 0);
  CHECK(unsized.exchanges.at(0).bytes == -1);
}

TEST_CASE("an imported run's exchanges have members, waits and, with a size, a bandwidth") {
  std::vector<Span> spans = late_second_rank();
  for (Span& span : spans) {
    span.begin_ns *= 1000;
    span.active_ns *= 1000;
    span.end_ns *= 1000;
  }
  const Step step = observed_step(facts_by_hand(2), spans, 0, [](int, OpId) { return std::int64_t{4000}; });
  const auto times = exchange_times(step, spans);
  REQUIRE(times.size() == 1);
  CHECK(times[0].members == 2);
  CHECK(times[0].waiting_s == Approx(10e-6));    // rank 0 waits 20 µs, rank 1 not at all
  CHECK(times[0].bus_bandwidth == Approx(4e8));  // 4,000 bytes · 2(n−1)/n in 10 µs
  const auto exchange = exchange_of(step, {}, spans, {}, 1, 0, spans[4].op);
  REQUIRE(exchange);
  CHECK(exchange->ranks == std::vector<int>{0, 1});
  CHECK(exchange->opaque);
  CHECK(exchange->bytes == 4000);
  CHECK(exchange->spans[0]->active_ns == 30'000);
  const TrafficMatrix matrix = traffic_matrix(step, {});
  CHECK(matrix.total == 0);
  CHECK(matrix.hides(0, 1));
}

TEST_CASE("idle time in which bytes move is communication, whatever the next op waits for") {
  // Both ranks' second product begins late because their hosts launch it late; the all-reduce ends long before.
  std::vector<Span> spans;
  for (const int rank : {0, 1}) {
    spans.push_back(span(rank, OpKind::backward, stream, product, 0, 0, 10));
    spans.push_back(span(rank, OpKind::all_reduce, group, reduction, 0, rank == 0 ? 5 : 20, 40));
    spans.push_back(span(rank, OpKind::optimizer, stream, product, 1, 90, 100));
  }
  const StepAnalysis a = analyse_step(observed_step(facts_by_hand(2), spans, 0), spans, {0, 100}, 0);
  CHECK(a.ranks[0][TimeClass::bubble] == Approx(0.1));  // from 10 to 20, when the other one arrives
  CHECK(a.ranks[0][TimeClass::data] == Approx(0.2));
  CHECK(a.ranks[0][TimeClass::other] == Approx(0.5));
  CHECK(a.ranks[1][TimeClass::bubble] == 0);
  CHECK(a.ranks[1][TimeClass::data] == Approx(0.2));
  CHECK(a.ranks[1][TimeClass::other] == Approx(0.6));
}

TEST_CASE("a rank that itself waits for a third one meanwhile is not the one that is waited for") {
  // Rank 2 comes to its collective with rank 1 at 60; only then rank 1 comes to that with rank 0.
  std::vector<StepFacts> facts = facts_by_hand(3);
  for (StepFacts& of_rank : facts) {
    of_rank.groups[2].ranks = {0, 1};
    of_rank.groups[3].ranks = {1, 2};
    of_rank.names[10] = {"first", 3};
    of_rank.names[11] = {"second", 2};
  }
  const std::vector<Span> spans{span(1, OpKind::all_reduce, group, static_cast<Name>(10), 0, 10, 62),
                                span(2, OpKind::all_reduce, group, static_cast<Name>(10), 0, 60, 62),
                                span(0, OpKind::all_reduce, group, static_cast<Name>(11), 0, 10, 70),
                                span(1, OpKind::all_reduce, group, static_cast<Name>(11), 0, 65, 70)};
  const std::vector<double> awaited = awaited_seconds(observed_step(facts, spans, 0), spans, 0);
  CHECK(awaited[2] == Approx(50e-9));
  CHECK(awaited[1] == Approx(5e-9));  // rank 0 waited 55 for it, but it waited 50 of them itself
}
