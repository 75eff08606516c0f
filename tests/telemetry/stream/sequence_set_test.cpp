#include "telemetry/event/sequence_set.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "telemetry/stream/viewer_history.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("numbers in any order, however often, make the fewest intervals") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    SequenceSet set;
    std::set<std::uint64_t> reference;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t first = 1 + random() % 50;
      if (random() % 4 == 0) {
        const std::uint64_t last = first + random() % 6;
        set.insert(SequenceSet::Interval{first, last});
        for (auto n = first; n <= last; ++n) reference.insert(n);
      } else {
        REQUIRE(set.insert(first) == reference.insert(first).second);
      }
    }
    std::vector<std::uint64_t> missing;
    for (const auto& [first, last] : set.missing(3, 54))
      for (auto n = first; n <= last; ++n) missing.push_back(n);
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 3; n <= 54; ++n)
      if (!reference.contains(n)) expected.push_back(n);
    REQUIRE(missing == expected);
    for (std::uint64_t n = 0; n < 60; ++n) REQUIRE(set.contains(n) == reference.contains(n));
    REQUIRE(set.greatest() == *reference.rbegin());
    std::uint64_t run = 0;
    while (reference.contains(run + 1)) ++run;
    REQUIRE(set.contiguous() == run);
    const auto intervals = set.intervals();
    for (std::size_t i = 1; i < intervals.size(); ++i) REQUIRE(intervals[i].first > intervals[i - 1].last + 1);
  }
}

TEST_CASE("a viewer's history is sent to the relay, and invalid history is refused") {
  std::map<std::int32_t, SequenceSet> seen;
  seen[-1].insert(SequenceSet::Interval{1, 4});
  seen[3].insert(SequenceSet::Interval{1, 900});
  seen[3].insert(1000);
  const std::string text = pack_history(seen);
  const auto back = unpack_history(std::as_bytes(std::span(text)));
  REQUIRE(back.size() == 2);
  CHECK(back.at(-1).contiguous() == 4);
  CHECK(back.at(3).missing(1, 1000).size() == 1);
  CHECK(unpack_history(std::as_bytes(std::span(text)).first(19)).empty());
  const std::string ones(4000, '\xFF');
  unpack_history(std::as_bytes(std::span(ones)));
}
