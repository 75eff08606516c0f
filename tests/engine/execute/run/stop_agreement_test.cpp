// All ranks end after the same step when one of them is asked to stop, wherever each of them is.
#include "engine/execute/run/stop_agreement.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "engine/execute/comm/loopback.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/trained.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;
using namespace rankscope::testing;

namespace {

/// Ranks that are processes: each has a world of its own. `body` gets the rank and its agreement.
template <class Body>
void with_peers(int ranks, std::vector<std::atomic<bool>>& asked, Body body) {
  const auto hub = make_loopback(ranks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const auto mine = world(hub, rank);
      StopAgreement agreement([&asked, rank] { return asked[rank].load(); },
                              StopPeers{mine.get(), group_to_stop(*mine)});
      body(rank, agreement);
    });
}

}  // namespace

TEST_CASE("lanes that are held finish the steps that any of them has begun, and begin no other after the end") {
  StepLimit limit;
  CHECK(limit.begins(0));
  CHECK(limit.begins(1));
  CHECK(limit.hold() == 2);
  CHECK(limit.begins(1));  // another lane of the same rank
  limit.go_on(4);          // another rank has begun step 3
  CHECK(limit.begins(3));
  CHECK_FALSE(limit.begins(4));
  CHECK(limit.end() == 4);
}

TEST_CASE("a run that goes on without a limit is not held") {
  StepLimit limit;
  CHECK(limit.hold() == 0);
  limit.go_on(std::nullopt);
  CHECK(limit.begins(7));
  CHECK_FALSE(limit.end());
}

TEST_CASE("ranks in different steps end after the same one when any of them is asked") {
  const int asked_one = GENERATE(0, 2);
  std::vector<std::atomic<bool>> asked(3);
  std::vector<std::uint32_t> ran(3);
  with_peers(3, asked, [&](int rank, StopAgreement& agreement) {
    while (agreement.limit().begins(ran[rank])) {
      ++ran[rank];
      if (rank == asked_one && ran[rank] == 100) asked[rank] = true;
      std::this_thread::yield();
    }
  });
  CHECK(ran[asked_one] >= 100);
  CHECK(ran == std::vector<std::uint32_t>(3, ran[0]));
}

TEST_CASE("a rank that has run all its steps still answers one that is asked in its last steps") {
  constexpr std::uint32_t steps = 10;
  std::vector<std::atomic<bool>> asked(2);
  std::vector<std::uint32_t> ran(2);
  with_peers(2, asked, [&](int rank, StopAgreement& agreement) {
    while (ran[rank] < steps && agreement.limit().begins(ran[rank])) ++ran[rank];
    if (rank == 0) asked[1] = true;  // it has done its last step and leaves; the other may be anywhere
  });
  CHECK(ran == std::vector<std::uint32_t>(2, steps));
}

TEST_CASE("the failure of another rank ends the wait of ranks that are held") {
  std::vector<std::atomic<bool>> asked(2);
  const auto hub = make_loopback(2);
  const auto failing = world(hub, 1);
  std::jthread other([&] {
    const auto group = group_to_stop(*failing);
    failing->abort("rank 1: its op failed");
  });
  const auto mine = world(hub, 0);
  StopAgreement agreement([] { return true; }, StopPeers{mine.get(), group_to_stop(*mine)});
  std::uint32_t step = 0;
  while (step < 1000 && agreement.limit().begins(step)) ++step;
  CHECK(step == 1000);
}

TEST_CASE("a checkpoint at the end of a stopped run is that of a run with as many steps, bit for bit") {
  struct Plan {
    int data, pipeline, zero;
    const char* precision;
  };
  const auto plan =
      GENERATE(Plan{1, 1, 0, "fp32"}, Plan{2, 2, 2, "fp32"}, Plan{4, 1, 3, "bf16"}, Plan{2, 2, 1, "fp16"});
  INFO("data " << plan.data << " pipeline " << plan.pipeline << " ZeRO " << plan.zero << " " << plan.precision);
  Scenario s;
  s.model = {"gpt", 4, 32, 2, 16, 64, true, 0.1};
  s.plan.data = plan.data;
  s.plan.pipeline = plan.pipeline;
  s.plan.micro_batches = 8 / plan.data;
  s.plan.zero = plan.zero;
  s.plan.precision = plan.precision;
  s.train.global_batch = 8;
  s.train.steps = 6;
  s.train.checkpoint_every = 100;
  const TemporaryDirectory stopped, straight;
  const Trained whole = train(s, straight.path().string());

  const StepProgram step = compile(s);
  StepLimit limit;
  RunSettings settings;
  settings.steps = 6;
  settings.checkpoint_folder = stopped.path().string();
  settings.limit = &limit;
  limit.go_on(3);  // asked before the first step
  run_loopback(step, settings, [](int) { return nullptr; });
  const auto found = checkpoints_in(stopped.path().string());
  REQUIRE(found.size() == 1);
  const Checkpoint after_three(found.front());
  CHECK(after_three.steps_done() == 3);
  CHECK(train(s, "", &after_three).memory == whole.memory);
}
