// A small interpreter runs every list on vectors of integers; the result is compared with the collective's definition.
#include "engine/plan/collective/transfer.hpp"

#include <set>
#include <stdexcept>

#include "engine/plan/collective/algorithms.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/collective/cases.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

using Buffer = std::vector<std::int64_t>;
using Group = std::vector<Buffer>;  // by member

bool is_in_parts(OpKind kind) {
  return kind != OpKind::broadcast && kind != OpKind::reduce && kind != OpKind::all_reduce;
}

// Runs the list phase by phase: a phase sends only values from before the phase.
void run(const std::vector<Transfer>& list, const Group& input, Group& output) {
  const bool in_place = &input == &output;
  for (std::size_t i = 0; i < list.size();) {
    const Group before = in_place ? output : input;
    const int phase = list[i].phase;
    for (; i < list.size() && list[i].phase == phase; ++i)
      for (std::int64_t e = 0; e < list[i].elements; ++e) {
        auto& target = output.at(list[i].to).at(list[i].to_offset + e);
        const auto value = before.at(list[i].from).at(list[i].from_offset + e);
        target = list[i].add ? target + value : value;
      }
  }
}

constexpr std::int64_t garbage = -1'000'003;

// The value of member `member` at element e: all are distinct, and no sum of some equals another one by accident.
std::int64_t value_at(int member, std::int64_t e) { return (member + 1) * 100'000 + e * e + 7 * e; }

// The first difference from the definition, or an empty string.
std::string difference(OpKind kind, Algorithm algorithm, int n, std::int64_t elements, int root) {
  const auto list = transfers_of(kind, algorithm, n, elements, root);
  Group group(n, Buffer(elements)), received(n, Buffer(elements, garbage));
  auto part_of = [&](std::int64_t e) { return static_cast<int>(e / (elements / n)); };
  for (int r = 0; r < n; ++r)
    for (std::int64_t e = 0; e < elements; ++e) {
      const bool valid = (kind == OpKind::gather || kind == OpKind::all_gather)   ? part_of(e) == r
                         : (kind == OpKind::scatter || kind == OpKind::broadcast) ? r == root
                                                                                  : true;
      group[r][e] = valid ? value_at(r, e) : garbage;
    }
  if (kind == OpKind::all_to_all)
    run(list, group, received);
  else
    run(list, group, group);

  for (int r = 0; r < n; ++r)
    for (std::int64_t e = 0; e < elements; ++e) {
      std::int64_t sum = 0;
      for (int i = 0; i < n; ++i) sum += value_at(i, e);
      std::optional<std::int64_t> expected;  // nullopt: anything
      std::int64_t got = group[r][e];
      if (kind == OpKind::broadcast) expected = value_at(root, e);
      if (kind == OpKind::reduce && r == root) expected = sum;
      if (kind == OpKind::all_reduce) expected = sum;
      if (kind == OpKind::scatter && part_of(e) == r) expected = value_at(root, e);
      if (kind == OpKind::gather && r == root) expected = value_at(part_of(e), e);
      if (kind == OpKind::all_gather) expected = value_at(part_of(e), e);
      if (kind == OpKind::reduce_scatter && part_of(e) == r) expected = sum;
      if (kind == OpKind::all_to_all && part_of(e) != r) {  // its own part is not transferred
        expected = value_at(part_of(e), r * (elements / n) + e % (elements / n));
        got = received[r][e];
      }
      if (expected && got != *expected)
        return std::string(name_of(algorithm)) + " " + std::string(name_of(kind)) + " of " + std::to_string(elements) +
               " over " + std::to_string(n) + " from " + std::to_string(root) + ": member " + std::to_string(r) +
               " has " + std::to_string(got) + " at " + std::to_string(e) + ", not " + std::to_string(*expected);
    }
  return "";
}

// Overlapping [a, a+n) and [b, b+m).
bool overlap(std::int64_t a, std::int64_t n, std::int64_t b, std::int64_t m) { return a < b + m && b < a + n; }

}  // namespace

TEST_CASE("every algorithm's transfers do what the collective's definition says") {
  for (int n = 1; n <= 16; ++n)
    for (OpKind kind : collectives)
      for (Algorithm algorithm : algorithms)
        for (std::int64_t size : {0, 1, 2, 3, 5, 16, 17, 61}) {
          const std::int64_t elements = is_in_parts(kind) ? size * n : size;
          for (int root : std::set<int>{0, n / 2, n - 1}) REQUIRE(difference(kind, algorithm, n, elements, root) == "");
        }
}

TEST_CASE("within a phase no member overwrites what it sends, and no element is written twice") {
  for (int n = 1; n <= 16; ++n)
    for (OpKind kind : collectives)
      for (Algorithm algorithm : algorithms) {
        const auto list = transfers_of(kind, algorithm, n, 5 * n, n / 3);
        for (const Transfer& a : list)
          for (const Transfer& b : list) {
            if (a.phase != b.phase) continue;
            const bool reads_written = kind != OpKind::all_to_all && a.to == b.from &&
                                       overlap(a.to_offset, a.elements, b.from_offset, b.elements);
            const bool written_twice =
                !(a == b) && a.to == b.to && overlap(a.to_offset, a.elements, b.to_offset, b.elements);
            INFO(name_of(algorithm) << " " << name_of(kind) << " over " << n << ", phase " << a.phase << ": " << a.from
                                    << " to " << a.to << " and " << b.from << " to " << b.to);
            REQUIRE_FALSE(reads_written);
            REQUIRE_FALSE(written_twice);
          }
      }
}

TEST_CASE("lists are ordered by phase, stay inside the buffer, and have no empty transfers and none to oneself") {
  for (int n = 1; n <= 16; ++n)
    for (OpKind kind : collectives)
      for (Algorithm algorithm : algorithms) {
        const std::int64_t elements = 3 * n;
        int phase = 0;
        for (const Transfer& t : transfers_of(kind, algorithm, n, elements, 0)) {
          REQUIRE(t.phase >= phase);
          phase = t.phase;
          REQUIRE(t.from != t.to);
          REQUIRE(t.elements > 0);
          REQUIRE((t.from_offset >= 0 && t.from_offset + t.elements <= elements));
          REQUIRE((t.to_offset >= 0 && t.to_offset + t.elements <= elements));
          REQUIRE((t.chunk >= 0 && t.chunk < n));
        }
      }
}

TEST_CASE("in a ring every member sends to the next one only") {
  for (int n = 2; n <= 16; ++n)
    for (const Transfer& t : ring_all_reduce(n, 100)) REQUIRE(t.to == (t.from + 1) % n);
}

TEST_CASE("a ring all-reduce begins with the ring reduce-scatter, transfer by transfer") {
  const auto whole = ring_all_reduce(5, 40), first = ring_reduce_scatter(5, 40);
  REQUIRE(std::vector<Transfer>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(first.size())) == first);
}

TEST_CASE("chunks tile the buffer, differ by one element at most, and are equal when they can be") {
  for (int n = 1; n <= 16; ++n)
    for (std::int64_t elements : {0, 1, 15, 16, 48, 1000, 100'003}) {
      std::int64_t at = 0;
      for (int c = 0; c < n; ++c) {
        const ElementRange range = chunk_range(elements, n, c);
        REQUIRE(range.begin == at);
        REQUIRE((range.size() == elements / n || range.size() == elements / n + (elements % n ? 1 : 0)));
        at = range.end;
      }
      REQUIRE(at == elements);
    }
}

TEST_CASE("an invalid collective is refused") {
  REQUIRE_THROWS_AS(transfers_of(OpKind::send, Algorithm::ring, 4, 8), std::invalid_argument);
  REQUIRE_THROWS_AS(transfers_of(OpKind::all_reduce, Algorithm::ring, 0, 8), std::invalid_argument);
  REQUIRE_THROWS_AS(transfers_of(OpKind::broadcast, Algorithm::ring, 4, 8, 4), std::invalid_argument);
  REQUIRE_THROWS_AS(transfers_of(OpKind::all_gather, Algorithm::ring, 4, 9), std::invalid_argument);
}

TEST_CASE("names of algorithms parse back") {
  for (Algorithm algorithm : algorithms) REQUIRE(algorithm_of(name_of(algorithm)) == algorithm);
  REQUIRE_FALSE(algorithm_of("auto").has_value());
}

TEST_CASE("a hierarchical all-reduce sums everything, with 2(n-1) times the tensor on the wire") {
  for (const auto& [n, per_node] : {std::pair{1, 1}, {4, 2}, {8, 4}, {12, 4}, {6, 6}, {5, 1}}) {
    for (const std::int64_t elements : {0, 7, 24, 97}) {
      INFO(n << " members on nodes of " << per_node << ", " << elements << " elements");
      Group group(static_cast<std::size_t>(n), Buffer(static_cast<std::size_t>(elements)));
      Buffer sum(static_cast<std::size_t>(elements), 0);
      for (int member = 0; member < n; ++member)
        for (std::int64_t e = 0; e < elements; ++e) sum[e] += group[member][e] = value_at(member, e);
      const auto list = hierarchical_all_reduce(n, per_node, elements);
      run(list, group, group);
      for (int member = 0; member < n; ++member) CHECK(group[member] == sum);
      std::int64_t sent = 0;
      for (const Transfer& t : list) sent += t.elements;
      CHECK(sent == 2 * (n - 1) * elements);
      if (elements >= n && n > 1) CHECK(list.back().phase + 1 == 2 * (per_node - 1) + 2 * (n / per_node - 1));
    }
  }
  CHECK_THROWS_WITH(hierarchical_all_reduce(6, 4, 8), ContainsText("6 members on nodes of 4"));
}
