#include "engine/execute/comm/loopback.hpp"

#include <set>

#include "tests/catch.hpp"
#include "tests/engine/execute/comm/collective_cases.hpp"
#include "tests/engine/execute/comm/ranks.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

constexpr DType types[] = {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i32, DType::u8};
constexpr const char* algorithms[] = {"auto", "ring", "naive", "tree", "halving-doubling"};
using Wrong = std::vector<std::string>;

void append(Wrong& all, const Wrong& more) { all.insert(all.end(), more.begin(), more.end()); }

}  // namespace

TEST_CASE("all eight collectives are right for 1 to 9 ranks, every size, type and algorithm") {
  for (int n = 1; n <= 9; ++n)
    for (const char* algorithm : algorithms) {
      const auto wrong = wrong_on_ranks(n, {}, [&](World& world) {
        Wrong all;
        const auto group = world.group(first_ranks(n), Lane::data, algorithm);
        for (DType type : types)
          for (std::int64_t elements : {0, 1, 7, 64, 1000, 100'003}) {
            // The largest size only in one wide and one narrow type, because filling and checking take most of the
            // time.
            const bool is_worth_it = elements < 100'000 || type == DType::f32 || type == DType::bf16;
            if (is_worth_it) append(all, wrong_collectives(*group, type, elements));
          }
        return all;
      });
      INFO(algorithm << " over " << n);
      REQUIRE(wrong == Wrong{});
    }
}

TEST_CASE("groups of some of the ranks work side by side") {
  const auto wrong = wrong_on_ranks(6, {}, [&](World& world) {
    Wrong all;
    const std::vector<int> mine = world.rank() % 2 ? std::vector{1, 3, 5} : std::vector{0, 2, 4};
    for (const char* algorithm : algorithms) {
      const auto group = world.group(mine, Lane::tensor, algorithm);
      append(all, wrong_collectives(*group, DType::f32, 100));
      append(all, wrong_messages(*group, 100));
    }
    return all;
  });
  REQUIRE(wrong == Wrong{});
}

TEST_CASE("a member sends and receives at the same time, in two threads") {
  for (std::int64_t elements : {0, 1, 1000, 100'003}) {
    const auto wrong = wrong_on_ranks(5, {}, [&](World& world) {
      return wrong_messages(*world.group(first_ranks(5), Lane::forward_send, "auto"), elements);
    });
    REQUIRE(wrong == Wrong{});
  }
}

TEST_CASE("many lanes of many ranks communicate at once") {
  const auto wrong = wrong_on_ranks(4, {}, [&](World& world) {
    const Lane lanes[] = {Lane::tensor,       Lane::data,          Lane::zero_gather,    Lane::zero_reduce,
                          Lane::forward_send, Lane::backward_send, Lane::forward_receive};
    std::vector<std::unique_ptr<Communicator>> groups;
    for (Lane lane : lanes) groups.push_back(world.group(first_ranks(4), lane, lane == Lane::data ? "ring" : "auto"));
    return wrong_at_once(groups, 20);
  });
  REQUIRE(wrong == Wrong{});
}

TEST_CASE("sums have the same bits on every member, and a shard those of the all-reduce's chunk") {
  for (int n : {2, 3, 4, 7, 8})
    for (DType type : {DType::f32, DType::bf16, DType::f64})
      for (const std::string algorithm : algorithms) {
        const auto wrong = wrong_on_ranks(n, {}, [&](World& world) {
          const auto group = world.group(first_ranks(n), Lane::data, algorithm);
          return wrong_bits(*group, world, type, algorithm == "auto" || algorithm == "ring");
        });
        INFO(algorithm << " over " << n << " in " << name_of(type));
        REQUIRE(wrong == Wrong{});
      }
}

TEST_CASE("the library's sum does not depend on how the tensor is cut, and bf16 is rounded once") {
  // 256 + 1 + 1 + …: bf16 has 8 bits, so adding ones one by one to 256 stays 256, but their sum in fp32 is 263.
  const auto wrong = wrong_on_ranks(8, {}, [&](World& world) {
    auto value = static_cast<std::uint16_t>(world.rank() == 0 ? 0x4380 : 0x3f80);  // 256 and 1
    world.group(first_ranks(8), Lane::data, "auto")->collective({OpKind::all_reduce, {&value, DType::bf16, {1}}});
    return value == 0x4384 ? Wrong{} : Wrong{"got " + std::to_string(value)};  // 263 rounds to 264
  });
  REQUIRE(wrong == Wrong{});
}

TEST_CASE("fp16 sums keep subnormals, round to even and overflow to infinity") {
  auto sum_of = [](std::uint16_t a, std::uint16_t b) {
    std::uint16_t sum = 0;
    const auto errors = run_ranks(2, {}, [&](World& world) {
      std::uint16_t value = world.rank() == 0 ? a : b;
      world.group({0, 1}, Lane::data, "auto")->collective({OpKind::all_reduce, {&value, DType::f16, {1}}});
      if (world.rank() == 0) sum = value;
    });
    REQUIRE(errors == Wrong{"", ""});
    return sum;
  };
  CHECK(sum_of(0x0001, 0x0001) == 0x0002);            // 2^-24 twice
  CHECK(sum_of(0x03ff, 0x0001) == 0x0400);            // the greatest subnormal plus one step
  CHECK(sum_of(0x3c00, 0x0001) == 0x3c00);            // 1 + 2^-24 rounds back
  CHECK(sum_of(0x6800, 0x3c00) == 0x6800);            // 2048 + 1 is a tie: to even
  CHECK(sum_of(0x6801, 0x3c00) == 0x6802);            // 2050 + 1 is a tie: to even, upwards
  CHECK(sum_of(0x7bff, 0x4c00) == 0x7c00);            // 65504 + 16 is a tie: to even, which is infinity
  CHECK(sum_of(0x7bff, 0x4bff) == 0x7bff);            // slightly less stays finite
  CHECK((sum_of(0x7c00, 0xfc00) & 0x7fff) > 0x7c00);  // infinity - infinity is NaN
  CHECK(sum_of(0xbc00, 0xb800) == 0xbe00);            // -1 - 0.5
}

TEST_CASE("a ring all-reduce puts 2(n-1)·S bytes on the wire, counted where they are copied") {
  for (int n = 1; n <= 8; ++n)
    for (std::int64_t elements : {0, 5, 1000}) {
      const auto wrong = wrong_on_ranks(n, {}, [&](World& world) { return wrong_ring_bytes(world, elements); });
      REQUIRE(wrong == Wrong{});
    }
}

TEST_CASE("the library's all-reduce also crosses 2(n-1)·S bytes between its members' memories") {
  for (int n = 1; n <= 8; ++n) {
    std::vector<WireBytes> wire(n);
    const auto errors = run_ranks(n, {}, [&](World& world) {
      std::vector<float> data(1000);
      const auto group = world.group(first_ranks(n), Lane::data, "auto");
      group->collective({OpKind::all_reduce, {data.data(), DType::f32, {1000}}});
      wire[world.rank()] = group->wire_bytes();
    });
    REQUIRE(errors == std::vector<std::string>(n));
    std::int64_t sent = 0, received = 0;
    for (const auto& one : wire) sent += one.sent, received += one.received;
    REQUIRE(sent == 2 * (n - 1) * 4000);
    REQUIRE(received == sent);
  }
}

TEST_CASE("the phases of a ring are recorded once each, by their receivers, in the world's ranks") {
  CommOptions options;
  options.record_phases = true;
  std::vector<std::vector<PhaseRecord>> records(5);
  const auto errors = run_ranks(5, options, [&](World& world) {
    if (world.rank() == 0) return;
    std::vector<float> data(8);
    const auto group = world.group({1, 2, 3, 4}, Lane::data, "ring");
    group->collective({OpKind::all_reduce, {data.data(), DType::f32, {8}}});
    const auto phases = group->last_phases();
    records[world.rank()].assign(phases.begin(), phases.end());
  });
  REQUIRE(errors == std::vector<std::string>(5));
  for (int rank = 1; rank <= 4; ++rank) {
    REQUIRE(records[rank].size() == 6);
    for (int phase = 0; phase < 6; ++phase) {
      const PhaseRecord& record = records[rank][phase];
      CHECK(record.phase == phase);
      CHECK(record.to == rank);
      CHECK(record.from == (rank == 1 ? 4 : rank - 1));
      CHECK(record.bytes == 8);
      CHECK(record.begin_ns > 0);
      CHECK(record.end_ns >= record.begin_ns);
    }
  }
}

TEST_CASE("every rank's string reaches every rank, whatever its length") {
  const auto wrong = wrong_on_ranks(7, {}, [&](World& world) {
    Wrong all;
    for (int round = 0; round < 50; ++round) {
      auto text = [&](int rank) { return std::string((rank * 31 + round * 7) % 100, static_cast<char>('a' + rank)); };
      const auto got = world.exchange(text(world.rank()));
      for (int r = 0; r < 7; ++r)
        if (got.at(r) != text(r)) all.push_back("round " + std::to_string(round) + ": " + got[r]);
    }
    return all;
  });
  REQUIRE(wrong == Wrong{});
}

TEST_CASE("groups and tensors that make no sense are refused by the rank that asks") {
  const auto errors = run_ranks(1, {}, [&](World& world) {
    REQUIRE_THROWS_AS(world.group({1}, Lane::data, "auto"), std::invalid_argument);
    REQUIRE_THROWS_AS(world.group({0, 0}, Lane::data, "auto"), std::invalid_argument);
    REQUIRE_THROWS_WITH(world.group({0}, Lane::data, "rings"),
                        "unknown 'rings'; known: auto, ring, naive, tree, halving-doubling");
    float data[4] = {};
    const auto group = world.group({0}, Lane::data, "auto");
    REQUIRE_THROWS_AS(group->collective({OpKind::broadcast, {data, DType::f32, {4}}, {}, 1}), std::invalid_argument);
    REQUIRE_THROWS_AS(group->collective({OpKind::all_gather, {data, DType::f32, {3}}, {data, DType::f32, {4}}}),
                      std::invalid_argument);
    REQUIRE_THROWS_AS(group->send({data, DType::f32, {4}}, 0), std::invalid_argument);
  });
  REQUIRE(errors == std::vector<std::string>{""});
}

TEST_CASE("of several senders the first to arrive is received first, and a sender without a receive waits") {
  REQUIRE(wrong_on_ranks(4, {}, wrong_arrivals) == Wrong{});
}

TEST_CASE("a wait for any sender ends at the time limit, and names the missing ranks") {
  CommOptions options;
  options.time_limit = std::chrono::milliseconds(50);
  const auto errors = run_ranks(3, options, [](World& world) {
    const auto group = world.group(first_ranks(3), Lane::server, "auto");
    if (world.rank() == 0) group->first_sender(std::vector<int>{1, 2});
  });
  CHECK(errors[0] == "rank 0 waited 50 ms in receive on lane server for rank 1, rank 2");
}
