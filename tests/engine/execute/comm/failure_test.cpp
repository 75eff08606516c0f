// Peers that arrive late or never, call something else, or leave.
#include <atomic>
#include <chrono>

#include "engine/execute/comm/loopback.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/comm/ranks.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

CommOptions impatient() {
  CommOptions options;
  options.time_limit = 100ms;
  return options;
}

View one(float& value) { return {&value, DType::f32, {1}}; }

}  // namespace

TEST_CASE("a time-out names the waiting rank, the time, the call, the lane, and the missing ranks") {
  SECTION("in a collective, library's or transparent") {
    for (const char* algorithm : {"auto", "ring"}) {
      // Rank 2 calls one second after rank 0, and one second before rank 0's time limit: threads may be slow.
      std::atomic<bool> rank_0_calls{false};
      CommOptions options;
      options.time_limit = 2s;
      options.before = [&](int rank, Lane, const char*) {
        if (rank == 0) rank_0_calls = true;
      };
      const auto errors = run_ranks(4, options, [&](World& world) {
        const auto group = world.group(first_ranks(4), Lane::data, algorithm);
        float value = 1;
        if (world.rank() == 0) group->collective({OpKind::all_reduce, one(value)});
        if (world.rank() == 2) {
          wait_until(60s, [&] { return rank_0_calls.load(); });
          std::this_thread::sleep_for(1s);
          group->collective({OpKind::all_reduce, one(value)});
        }
      });
      CHECK(errors[0] == "rank 0 waited 2 s in all_reduce on lane data for rank 1, rank 3");
      CHECK(errors[2] == errors[0]);  // every rank gets the first reason
      CHECK(errors[1].empty());
    }
  }
  SECTION("in a send") {
    const auto errors = run_ranks(2, impatient(), [&](World& world) {
      const auto group = world.group({0, 1}, Lane::forward_send, "auto");
      float value = 1;
      if (world.rank() == 0) group->send(one(value), 1);
    });
    CHECK(errors[0] == "rank 0 waited 100 ms in send on lane forward_send for rank 1");
  }
  SECTION("in a receive") {
    const auto errors = run_ranks(2, impatient(), [&](World& world) {
      const auto group = world.group({0, 1}, Lane::backward_send, "auto");
      float value = 1;
      if (world.rank() == 1) group->receive(one(value), 0);
    });
    CHECK(errors[1] == "rank 1 waited 100 ms in receive on lane backward_send for rank 0");
  }
}

TEST_CASE("a rank that arrives after a time-out gets its reason instead of waiting again") {
  std::atomic<bool> rank_0_has_ended{false};
  const auto errors = run_ranks(2, impatient(), [&](World& world) {
    const auto group = world.group({0, 1}, Lane::data, "auto");
    float value = 1;
    if (world.rank() == 1) {
      wait_until(60s, [&] { return rank_0_has_ended.load(); });
      group->collective({OpKind::all_reduce, one(value)});
    } else {
      const SetAtEnd ended(rank_0_has_ended);
      group->collective({OpKind::all_reduce, one(value)});
    }
  });
  CHECK(errors[0] == "rank 0 waited 100 ms in all_reduce on lane data for rank 1");
  CHECK(errors[1] == errors[0]);
}

TEST_CASE("an abort ends every wait of every rank and lane with its reason, at once") {
  const std::int64_t begin = monotonic_ns();
  const auto errors = run_ranks(6, {}, [&](World& world) {
    const auto data = world.group(first_ranks(6), Lane::data, "auto");
    const auto pipe = world.group(first_ranks(6), Lane::forward_send, "auto");
    const auto ring = world.group(first_ranks(6), Lane::tensor, "ring");
    float value = 1;
    if (world.rank() == 0) data->collective({OpKind::all_reduce, one(value)});
    if (world.rank() == 1) pipe->send(one(value), 2);
    if (world.rank() == 2) pipe->receive(one(value), 3);
    if (world.rank() == 3) ring->collective({OpKind::all_reduce, one(value)});
    if (world.rank() == 4) world.exchange("here");
    if (world.rank() == 5) {
      std::this_thread::sleep_for(50ms);
      world.abort("rank 5 failed in F:c1:m2: not a number");
    }
  });
  for (int rank = 0; rank < 5; ++rank) CHECK(errors[rank] == "rank 5 failed in F:c1:m2: not a number");
  CHECK(monotonic_ns() - begin < 10'000'000'000);  // the time limit is a minute
}

TEST_CASE("after an abort nothing begins any more, also in groups made later") {
  const auto errors = run_ranks(2, {}, [&](World& world) {
    if (world.rank() == 0) world.abort("no more");
    float value = 1;
    const auto group = world.group({0, 1}, Lane::data, "auto");
    group->collective({OpKind::all_reduce, one(value)});
  });
  CHECK(errors == std::vector<std::string>{"no more", "no more"});
}

TEST_CASE("members that call different collectives get an error that says so") {
  SECTION("different collectives") {
    const auto errors = run_ranks(2, {}, [&](World& world) {
      const auto group = world.group({0, 1}, Lane::data, "auto");
      float value = 1;
      if (world.rank() == 0) group->collective({OpKind::all_reduce, one(value)});
      if (world.rank() == 1) group->collective({OpKind::broadcast, one(value), {}, 0});
    });
    for (const auto& error : errors) {
      CHECK(error.find("all_reduce of 1 fp32") != std::string::npos);
      CHECK(error.find("broadcast of 1 fp32") != std::string::npos);
    }
  }
  SECTION("different sizes of a message") {
    const auto errors = run_ranks(2, {}, [&](World& world) {
      const auto group = world.group({0, 1}, Lane::forward_send, "auto");
      float data[3] = {};
      if (world.rank() == 0) group->send({data, DType::f32, {3}}, 1);
      if (world.rank() == 1) group->receive({data, DType::f32, {2}}, 0);
    });
    for (const auto& error : errors)
      CHECK(error == "rank 0 sends 12 bytes to rank 1, which expects 8, on lane forward_send");
  }
}

TEST_CASE("active splits waiting for the last participant from moving bytes") {
  CommOptions options;
  options.before = [](int rank, Lane, const char*) {
    if (rank == 1) std::this_thread::sleep_for(60ms);  // rank 1 is late for every call
  };
  struct Stamps {
    std::int64_t call = 0, active = 0, end = 0;
  };
  for (const char* algorithm : {"auto", "ring", "naive"}) {
    std::vector<Stamps> collective(3), message(3);
    const auto errors = run_ranks(3, options, [&](World& world) {
      const auto group = world.group(first_ranks(3), Lane::data, algorithm);
      const auto pair = world.rank() < 2 ? world.group({0, 1}, Lane::forward_send, "auto") : nullptr;
      float value = 1;
      auto measure = [&](Stamps& stamps, const std::function<CommResult()>& work) {
        stamps.call = monotonic_ns();
        stamps.active = work().active_ns;
        stamps.end = monotonic_ns();
      };
      measure(collective[world.rank()], [&] { return group->collective({OpKind::all_reduce, one(value)}); });
      if (world.rank() == 0) measure(message[0], [&] { return pair->send(one(value), 1); });
      if (world.rank() == 1) measure(message[1], [&] { return pair->receive(one(value), 0); });
    });
    REQUIRE(errors == std::vector<std::string>(3));
    // No bytes could move before rank 1 arrived, 60 ms after its call; a sleep may be longer, but never shorter.
    for (const Stamps& one : collective) {
      CHECK(one.active >= collective[1].call + 60'000'000);
      CHECK(one.active == collective[0].active);
      CHECK(one.end >= one.active);
    }
    CHECK(message[0].active >= message[1].call + 60'000'000);
    CHECK(message[0].active == message[1].active);
  }
}

TEST_CASE("a send returns only when its receiver has arrived") {
  std::atomic<bool> has_received{false}, too_early{false};
  const auto errors = run_ranks(2, {}, [&](World& world) {
    const auto group = world.group({0, 1}, Lane::forward_send, "auto");
    float value = 1;
    if (world.rank() == 0) {
      group->send(one(value), 1);
      if (!has_received) too_early = true;
    } else {
      std::this_thread::sleep_for(50ms);
      has_received = true;
      group->receive(one(value), 0);
    }
  });
  CHECK(errors == std::vector<std::string>{"", ""});
  CHECK_FALSE(too_early);
}

TEST_CASE("the hook sees every call with its rank and lane, and its exceptions end the call") {
  CommOptions options;
  std::atomic<int> calls{0};
  options.before = [&](int rank, Lane lane, const char* call) {
    if (lane == Lane::tensor && std::string(call) == "all_gather") ++calls;
    if (rank == 1 && std::string(call) == "send") throw std::runtime_error("injected");
  };
  const auto errors = run_ranks(2, options, [&](World& world) {
    const auto group = world.group({0, 1}, Lane::tensor, "auto");
    float part = 1, whole[2];
    group->collective({OpKind::all_gather, {whole, DType::f32, {2}}, one(part)});
    if (world.rank() == 1) group->send(one(part), 0);
  });
  CHECK(calls == 2);
  CHECK(errors[1] == "injected");
}
