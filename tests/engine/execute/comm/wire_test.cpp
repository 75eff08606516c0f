// Counts bytes where they are copied, and compares them with the transfer lists and the closed forms.
#include <algorithm>

#include "engine/plan/collective/cost.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/comm/collective_calls.hpp"
#include "tests/engine/execute/comm/ranks.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

std::vector<WireBytes> counted(int n, OpKind kind, DType type, const char* algorithm, std::int64_t elements, int root) {
  std::vector<WireBytes> wire(n);
  const auto errors = run_ranks(n, {}, [&](World& world) {
    const auto group = world.group(first_ranks(n), Lane::data, algorithm);
    Buffers b(kind, type, n, elements);
    call(*group, b, root);
    wire[world.rank()] = group->wire_bytes();
  });
  for (const std::string& error : errors) CHECK(error.empty());
  return wire;
}

}  // namespace

TEST_CASE("each member sends and receives what its transfers hold, and together they move the closed form's bytes") {
  for (int n = 1; n <= 9; ++n)
    for (const std::string name : algorithms) {
      if (name == "auto") continue;
      const Algorithm algorithm = *algorithm_of(name);
      for (OpKind kind : collectives)
        for (DType type : {DType::f32, DType::bf16})
          for (int root : {0, n - 1}) {
            const std::int64_t elements = Buffers(kind, type, n, 103).elements, width = bytes_of(type);
            const auto wire = counted(n, kind, type, name.c_str(), elements, root);
            const WireCount list = count_wire(transfers_of(kind, algorithm, n, elements, root), n);
            std::int64_t sent = 0;
            INFO(name << " " << name_of(kind) << " of " << elements << " over " << n << " from " << root);
            for (int m = 0; m < n; ++m) {
              REQUIRE(wire[m].sent == list.sent[m] * width);
              REQUIRE(wire[m].received == list.received[m] * width);
              sent += wire[m].sent;
            }
            REQUIRE(sent == wire_cost(kind, algorithm, n, elements, root).total * width);
          }
    }
}

TEST_CASE("per member a ring moves 2(n-1)/n of the tensor in an all-reduce, (n-1)/n of the whole in its halves") {
  for (int n = 2; n <= 9; ++n) {
    const std::int64_t whole = 24 * n * 4;  // bytes of 24·n fp32
    for (const WireBytes& one : counted(n, OpKind::all_reduce, DType::f32, "ring", 24 * n, 0))
      CHECK(one.sent * n == 2 * (n - 1) * whole);
    for (OpKind kind : {OpKind::all_gather, OpKind::reduce_scatter, OpKind::all_to_all})
      for (const WireBytes& one : counted(n, kind, DType::f32, "ring", 24 * n, 0))
        CHECK(one.sent * n == (n - 1) * whole);
  }
}

TEST_CASE("a tree's root sends log2 n buffers where the naive root sends n - 1") {
  for (int log = 1; log <= 3; ++log) {
    const int n = 1 << log;
    CHECK(counted(n, OpKind::broadcast, DType::f32, "tree", 100, 0)[0].sent == log * 400);
    CHECK(counted(n, OpKind::broadcast, DType::f32, "naive", 100, 0)[0].sent == (n - 1) * 400);
  }
}

TEST_CASE("each member counts the bytes to each other member, as its transfers or direct copies between memories say") {
  for (int n = 2; n <= 9; ++n)
    for (const std::string name : algorithms)
      for (OpKind kind : collectives)
        for (int root : {0, n - 1}) {
          const std::int64_t elements = Buffers(kind, DType::f32, n, 103).elements;
          std::vector<std::vector<PeerBytes>> sent(n);
          const auto errors = run_ranks(n, {}, [&](World& world) {
            const auto group = world.group(first_ranks(n), Lane::data, name);
            Buffers b(kind, DType::f32, n, elements);
            call(*group, b, root);
            call(*group, b, root);  // only the last call's count
            sent[world.rank()].assign(group->last_sent().begin(), group->last_sent().end());
          });
          for (const std::string& error : errors) CHECK(error.empty());
          INFO(name << " " << name_of(kind) << " of " << elements << " over " << n << " from " << root);
          std::size_t pairs = 0;
          for (const std::vector<PeerBytes>& one : sent) pairs += one.size();
          const auto expected = pair_elements(kind, algorithm_of(name), n, elements, root);
          REQUIRE(pairs == expected.size());
          for (const PairElements& pair : expected) {
            const auto& from = sent[pair.from];
            REQUIRE(std::find(from.begin(), from.end(), PeerBytes{pair.to, pair.elements * 4}) != from.end());
          }
        }
}

TEST_CASE("the library's own collectives move what direct copies between memories do") {
  for (int n = 1; n <= 9; ++n)
    for (OpKind kind : collectives)
      for (int root : {0, n - 1}) {
        const std::int64_t elements = Buffers(kind, DType::f32, n, 103).elements;
        std::int64_t sent = 0, received = 0;
        for (const WireBytes& one : counted(n, kind, DType::f32, "auto", elements, root)) {
          sent += one.sent;
          received += one.received;
        }
        INFO(name_of(kind) << " over " << n << " from " << root);
        REQUIRE(sent == direct_elements(kind, n, elements, root) * 4);
        REQUIRE(received == sent);
      }
}
