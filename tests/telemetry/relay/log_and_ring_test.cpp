#include "telemetry/relay/detail_ring.hpp"
#include "telemetry/relay/reliable_log.hpp"
#include "tests/catch.hpp"
#include "tests/telemetry/stream/support.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("the log returns every message, from memory and from its file") {
  ReliableLog log(1000);
  std::vector<std::vector<std::byte>> sent;
  for (int i = 0; i < 300; ++i) {
    sent.emplace_back(static_cast<std::size_t>(i % 37 + 1), static_cast<std::byte>(i));
    log.append(sent.back());
  }
  REQUIRE(log.size() == sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto got = log.at(i);
    REQUIRE(std::equal(got.begin(), got.end(), sent[i].begin(), sent[i].end()));
  }
}

TEST_CASE("the ring keeps the latest bytes, lists the entries that it evicted, and sums up older ones") {
  DetailRing ring(1000, 10);
  for (std::int64_t i = 1; i <= 50; ++i)
    ring.push({static_cast<std::int32_t>(i % 2), static_cast<std::uint64_t>(i), i * 10, i * 10 + 5, 3, std::nullopt,
               shared(std::vector<std::byte>(100))});
  CHECK(ring.end() == 50);
  CHECK(ring.first() == 40);
  CHECK(ring.oldest() == 30);
  CHECK(ring.at(40).message.bytes.size() == 100);
  CHECK(ring.at(39).message.bytes.empty());
  CHECK(ring.at(39).sequence == 40);
  // Entries 1 … 30: fifteen of each rank.
  REQUIRE(ring.forgotten().size() == 2);
  const Gap& odd = ring.forgotten().at(1);
  CHECK(odd.events == 45);
  CHECK(odd.first_sequence == 1);
  CHECK(odd.last_sequence == 29);
  CHECK(odd.begin_ns == 10);
  CHECK(odd.end_ns == 295);
}

TEST_CASE("a message larger than the ring is kept until the next one") {
  DetailRing ring(10);
  ring.push({0, 1, 0, 1, 1, std::nullopt, shared(std::vector<std::byte>(100))});
  CHECK(ring.first() == 0);
  ring.push({0, 2, 0, 1, 1, std::nullopt, shared(std::vector<std::byte>(100))});
  CHECK(ring.first() == 1);
}
