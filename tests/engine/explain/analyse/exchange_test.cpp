#include "engine/explain/analyse/exchange.hpp"

#include <cmath>

#include "engine/plan/program/link.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/timelines.hpp"

using namespace rankscope;

namespace {

constexpr const char* reduce_token = "ALLREDUCE.data_gradient:c0:i0";

/// `n` replicas that all-reduce `bytes` once.
std::vector<RankProgram> replicas(int n, std::int64_t bytes) {
  std::vector<RankProgram> programs(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    programs[static_cast<std::size_t>(r)].rank = r;
    add_collective(programs[static_cast<std::size_t>(r)], reduce_token, GroupKind::data, bytes);
  }
  return programs;
}

OpId token(const char* text) { return parse_token(text).value(); }

std::optional<GroupExchange> reduce_of(int n, std::int64_t bytes, std::optional<Algorithm> algorithm,
                                       const std::vector<PhaseSpan>& phases = {}) {
  return exchange_of(link(replicas(n, bytes), {1, n, 1}), algorithm, {}, phases, n - 1, 0, token(reduce_token));
}

}  // namespace

TEST_CASE("a ring's all-reduce is 2(n-1) phases, and after them every rank holds the sum of all in every chunk") {
  for (const int n : {2, 3, 4, 7}) {
    const auto exchange = reduce_of(n, 700 * n, Algorithm::ring);
    REQUIRE(exchange);
    CHECK(exchange->phases == 2 * (n - 1));
    CHECK_FALSE(exchange->timed);
    Holdings holdings(*exchange);
    for (int m = 0; m < n; ++m)
      for (int c = 0; c < n; ++c) CHECK(holdings.at(m, c) == 1);
    for (const ExchangeMove& move : exchange->moves) {
      CHECK(move.bytes == 700);
      CHECK(move.to == (move.from + 1) % n);
      holdings.apply(move);
    }
    for (int m = 0; m < n; ++m)
      for (int c = 0; c < n; ++c) {
        INFO(n << " ranks, member " << m << ", chunk " << c);
        CHECK(holdings.at(m, c) == holdings.whole());
      }
    CHECK(holdings.whole() == n);
  }
}

TEST_CASE("for any algorithm and number of ranks, an all-reduce ends with all contributions on all ranks") {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::naive, Algorithm::tree, Algorithm::halving_doubling})
    for (const int n : {2, 3, 4, 5, 8}) {
      const auto exchange = reduce_of(n, 64 * n, algorithm);
      REQUIRE(exchange);
      Holdings holdings(*exchange);
      for (const ExchangeMove& move : exchange->moves) holdings.apply(move);
      INFO(name_of(algorithm) << " of " << n);
      for (int m = 0; m < n; ++m)
        for (int c = 0; c < n; ++c) CHECK(holdings.at(m, c) == n);
    }
}

TEST_CASE("with fewer elements than ranks some chunks are empty, and the others are summed") {
  const auto exchange = reduce_of(4, 1, Algorithm::ring);
  REQUIRE(exchange);
  Holdings holdings(*exchange);
  for (const ExchangeMove& move : exchange->moves) holdings.apply(move);
  std::int64_t bytes = 0;
  for (int c = 0; c < 4; ++c) {
    const std::int64_t size = exchange->chunk_bytes[static_cast<std::size_t>(c)];
    bytes += size;
    for (int m = 0; size > 0 && m < 4; ++m) CHECK(holdings.at(m, c) == 4);
  }
  CHECK(bytes == 1);
}

TEST_CASE("recorded phases give the moves their times; if one is missing all are untimed") {
  std::vector<PhaseSpan> phases;
  const auto plain = reduce_of(2, 200, Algorithm::ring);
  REQUIRE(plain);
  for (std::size_t i = 0; i < plain->moves.size(); ++i) {
    const ExchangeMove& move = plain->moves[i];
    PhaseSpan phase;
    phase.phase = move.phase;
    phase.chunk = move.first_chunk;
    phase.from = move.from;
    phase.to = move.to;
    phase.begin_ns = 1000 * move.phase;
    phase.end_ns = phase.begin_ns + 400;
    phases.push_back(phase);
  }
  const auto timed = reduce_of(2, 200, Algorithm::ring, phases);
  CHECK(timed->timed);
  for (const ExchangeMove& move : timed->moves) CHECK(move.end_ns == 1000 * move.phase + 400);
  phases.pop_back();
  CHECK_FALSE(reduce_of(2, 200, Algorithm::ring, phases)->timed);
}

TEST_CASE("a communicator's own collectives have no phases") {
  const auto exchange = reduce_of(4, 400, std::nullopt);
  REQUIRE(exchange);
  CHECK(exchange->opaque);
  CHECK(exchange->moves.empty());
  CHECK(exchange->bytes == 400);
}

TEST_CASE("phases reported by a library are stored with its collective, once each, and are not moves") {
  const auto channel = [](int rank, int number, std::int64_t begin) {
    return PhaseSpan{rank, 0, token(reduce_token), 0, number, -1, -1, -1, begin, begin + 90};
  };
  const std::vector<PhaseSpan> phases = {channel(1, 0, 20), channel(0, 1, 11), channel(0, 0, 10), channel(0, 1, 11)};
  const auto exchange = reduce_of(2, 400, std::nullopt, phases);
  REQUIRE(exchange);
  CHECK(exchange->opaque);
  CHECK(exchange->moves.empty());
  CHECK(exchange->inside == std::vector<PhaseSpan>{channel(0, 0, 10), channel(0, 1, 11), channel(1, 0, 20)});
  CHECK(reduce_of(2, 200, Algorithm::ring, phases)->inside.empty());
}

TEST_CASE("a message is one move from sender to receiver, asked from either end") {
  std::vector<RankProgram> programs(2);
  programs[1].rank = 1;
  add_message(programs[0], "SEND.pipeline_forward:c0:m0", 1, 96);
  add_message(programs[1], "RECV.pipeline_forward:c1:m0", 0, 96);
  const std::vector<Span> spans = {span(0, "SEND.pipeline_forward:c0:m0", 5, 20, 10),
                                   span(1, "RECV.pipeline_forward:c1:m0", 0, 20, 10)};
  for (const auto& [rank, op] : {std::pair{0, "SEND.pipeline_forward:c0:m0"}, {1, "RECV.pipeline_forward:c1:m0"}}) {
    const auto exchange = exchange_of(link(programs, {1, 1, 2}), {}, spans, {}, rank, 0, token(op));
    REQUIRE(exchange);
    CHECK(exchange->ranks == std::vector<int>{0, 1});
    REQUIRE(exchange->moves.size() == 1);
    CHECK(exchange->moves[0].begin_ns == 10);
    CHECK(exchange->moves[0].end_ns == 20);
    CHECK(exchange->spans[0]->begin_ns == 5);
  }
  CHECK_FALSE(exchange_of(link(programs, {1, 1, 2}), {}, spans, {}, 0, 0, token("F:c0:m0")));
}

TEST_CASE("bus bandwidth is nccl-tests': size times 2(n-1)/n of an all-reduce, over the time of the last to arrive") {
  // Four ranks, 8 MB: rank 3 arrives last, at 3 ms, and needs 2 ms: 8e6 · 1.5 / 2e-3 = 6 GB/s.
  std::vector<Span> spans;
  for (int r = 0; r < 4; ++r) spans.push_back(span(r, reduce_token, 1'000'000 * r, 5'000'000, 3'000'000));
  const auto times = exchange_times(link(replicas(4, 8'000'000), {1, 4, 1}), spans);
  REQUIRE(times.size() == 1);
  CHECK(times[0].members == 4);
  CHECK(times[0].exchanges == 1);
  CHECK(times[0].waiting_s == Approx((3 + 2 + 1 + 0) / 4.0 * 1e-3));
  CHECK(times[0].transfer_s == Approx(2e-3));
  CHECK(times[0].bus_bandwidth == Approx(6e9));
  spans.pop_back();  // the last member to arrive is unknown, so there is no bandwidth
  CHECK(std::isnan(exchange_times(link(replicas(4, 8'000'000), {1, 4, 1}), spans)[0].bus_bandwidth));
}

TEST_CASE("if no member reports its waiting time, it is the time until the last one arrived") {
  // Kernels that wait inside: they begin 0, 1 and 3 ms after the first one, and all end at 5 ms.
  std::vector<Span> spans;
  for (const std::int64_t begin : {0, 1'000'000, 3'000'000})
    spans.push_back(span(static_cast<int>(spans.size()), reduce_token, begin, 5'000'000));
  const auto programs = replicas(3, 6'000'000);
  const auto times = exchange_times(link(programs, {1, 3, 1}), spans);
  REQUIRE(times.size() == 1);
  CHECK(times[0].waiting_s == Approx((3 + 2 + 0) / 3.0 * 1e-3));
  CHECK(times[0].transfer_s == Approx(2e-3));
  CHECK(times[0].bus_bandwidth == Approx(6e6 * 4 / 3 / 2e-3));
  const auto exchange = exchange_of(link(programs, {1, 3, 1}), {}, spans, {}, 0, 0, token(reduce_token));
  REQUIRE(exchange);
  for (const auto& member : exchange->spans) CHECK(member->active_ns == 3'000'000);

  spans[0].end_ns = 2'000'000;  // ended before the last one arrived: it did not wait for that one
  CHECK(exchange_of(link(programs, {1, 3, 1}), {}, spans, {}, 0, 0, token(reduce_token))->spans[0]->active_ns == 0);
  spans[0].end_ns = 5'000'000;
  spans[1].active_ns = 2'000'000;  // one member reports its wait, so all do
  CHECK(exchange_of(link(programs, {1, 3, 1}), {}, spans, {}, 0, 0, token(reduce_token))->spans[0]->active_ns == 0);
}

TEST_CASE("the factors are those that nccl-tests documents") {
  CHECK(bus_factor(OpKind::all_reduce, 8) == Approx(2.0 * 7 / 8));
  CHECK(bus_factor(OpKind::all_gather, 8) == Approx(7.0 / 8));
  CHECK(bus_factor(OpKind::reduce_scatter, 8) == Approx(7.0 / 8));
  CHECK(bus_factor(OpKind::all_to_all, 8) == Approx(7.0 / 8));
  CHECK(bus_factor(OpKind::broadcast, 8) == 1);
  CHECK(bus_factor(OpKind::reduce, 8) == 1);
  CHECK(bus_factor(OpKind::send, 2) == 1);
}

TEST_CASE("a ring sends only to neighbours: each rank 2(n-1)/n of the buffer to the next, nothing to others") {
  const TrafficMatrix matrix = traffic_matrix(link(replicas(4, 4000), {1, 4, 1}), Algorithm::ring);
  REQUIRE(matrix.side == 4);
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to) {
      INFO(from << " to " << to);
      CHECK(matrix.at(from, to) == Approx(to == (from + 1) % 4 ? 2.0 * 3 / 4 * 4000 : 0));
      CHECK_FALSE(matrix.hides(from, to));
    }
  CHECK(matrix.total == Approx(4 * 6000));
}

TEST_CASE("bytes of opaque collectives are unknown in the matrix") {
  const TrafficMatrix matrix = traffic_matrix(link(replicas(3, 300), {1, 3, 1}), std::nullopt);
  CHECK(matrix.total == 0);
  CHECK(matrix.hides(0, 2));
  CHECK_FALSE(matrix.hides(1, 1));
}

TEST_CASE("loopback's own collectives are not opaque: each rank has its chunk summed by its owner, and gets the sums") {
  const TrafficMatrix matrix =
      traffic_matrix(link(replicas(3, 300), {1, 3, 1}), std::nullopt, {}, 256, Automatic::direct);
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to) {
      CHECK(matrix.at(from, to) == Approx(from == to ? 0 : 200));
      CHECK_FALSE(matrix.hides(from, to));
    }
}

TEST_CASE("if there are more ranks than cells, ranks share cells, and no byte is lost") {
  const TrafficMatrix fine = traffic_matrix(link(replicas(10, 1000), {1, 10, 1}), Algorithm::ring);
  const TrafficMatrix coarse = traffic_matrix(link(replicas(10, 1000), {1, 10, 1}), Algorithm::ring, {}, 4);
  CHECK(coarse.side == 4);
  CHECK(coarse.total == Approx(fine.total));
  for (int rank = 0; rank < 10; ++rank) {
    const int cell = coarse.cell_of(rank);
    CHECK(coarse.first_rank(cell) <= rank);
    CHECK((cell == 3 || coarse.first_rank(cell + 1) > rank));
  }
}
