// Members that make different calls, and members that die during a collective: all ranks end, and know the reason.
#include <atomic>
#include <chrono>
#include <random>

#include "engine/plan/collective/transfer.hpp"
#include "engine/plan/mesh/rank_grid.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/comm/collective_calls.hpp"
#include "tests/engine/execute/comm/collective_cases.hpp"
#include "tests/engine/execute/comm/ranks.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

// The errors of three ranks, of which rank 1 makes a different call.
std::vector<std::string> errors_of(const char* algorithm, const std::function<void(Communicator&)>& most,
                                   const std::function<void(Communicator&)>& one) {
  CommOptions options;
  options.time_limit = 5s;
  return run_ranks(3, options, [&](World& world) {
    const auto group = world.group(first_ranks(3), Lane::tensor, algorithm);
    world.rank() == 1 ? one(*group) : most(*group);
  });
}

void check_reported(const std::vector<std::string>& errors, const std::string& most, const std::string& one) {
  for (const std::string& error : errors) {
    CHECK(error == errors[0]);
    CHECK(error.find("rank 1 ") != std::string::npos);
    CHECK(error.find(most) != std::string::npos);
    CHECK(error.find(one) != std::string::npos);
    CHECK(error.find("on lane tensor") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("every pair of different collectives ends with both ranks and both calls named, not with a hang") {
  for (const char* algorithm : algorithms)
    for (OpKind kind : collectives)
      for (OpKind other : collectives) {
        if (kind == other) continue;
        const auto errors = errors_of(
            algorithm,
            [&](Communicator& group) {
              Buffers b(kind, DType::f32, 3, 12);
              call(group, b, 0);
            },
            [&](Communicator& group) {
              Buffers b(other, DType::f32, 3, 12);
              call(group, b, 0);
            });
        INFO(algorithm << ": " << name_of(kind) << " against " << name_of(other));
        check_reported(errors, std::string(name_of(kind)) + " of ", std::string(name_of(other)) + " of ");
      }
}

TEST_CASE("members that differ in size, type or root get an error that says so") {
  const auto all_reduce = [](DType type, std::int64_t elements) {
    return [type, elements](Communicator& group) {
      Buffers b(OpKind::all_reduce, type, 3, elements);
      call(group, b, 0);
    };
  };
  const auto broadcast = [](int root) {
    return [root](Communicator& group) {
      Buffers b(OpKind::broadcast, DType::f32, 3, 12);
      call(group, b, root);
    };
  };
  for (const char* algorithm : algorithms) {
    check_reported(errors_of(algorithm, all_reduce(DType::f32, 12), all_reduce(DType::f32, 13)),
                   "all_reduce of 12 fp32", "all_reduce of 13 fp32");
    check_reported(errors_of(algorithm, all_reduce(DType::f32, 12), all_reduce(DType::bf16, 12)),
                   "all_reduce of 12 fp32", "all_reduce of 12 bf16");
    check_reported(errors_of(algorithm, broadcast(0), broadcast(2)), "with root 0", "with root 2");
  }
}

TEST_CASE("a message while the others are in a collective ends at the time limit, which names the missing rank") {
  CommOptions options;
  options.time_limit = 100ms;
  const auto errors = run_ranks(3, options, [&](World& world) {
    const auto group = world.group(first_ranks(3), Lane::tensor, "ring");
    float value = 1;
    const View one{&value, DType::f32, {1}};
    if (world.rank() == 1)
      group->send(one, 2);
    else
      group->collective({OpKind::all_reduce, one});
  });
  for (const std::string& error : errors) CHECK(error.find(" waited 100 ms in ") != std::string::npos);
}

TEST_CASE("a member that dies between two phases ends every other one with its name, within the limit") {
  for (const std::string algorithm : algorithms) {
    if (algorithm == "auto") continue;
    for (OpKind kind : collectives) {
      // Rank 3 dies before its last phase, after it has taken part in all the others.
      const int n = 5, dying = 3, root = 0;
      const std::int64_t elements = Buffers(kind, DType::f32, n, 103).elements;
      int last = -1;
      for (const Transfer& t : transfers_of(kind, *algorithm_of(algorithm), n, elements, root))
        if (t.from == dying || t.to == dying) last = t.phase;
      REQUIRE(last >= 0);
      CommOptions options;
      options.time_limit = 60s;  // no rank waits that long: the errors below would contain it
      options.before_phase = [&](int rank, Lane, const char* name, int phase) {
        if (rank == dying && phase == last) throw std::runtime_error(std::string("died in ") + name);
      };
      const auto errors = run_ranks(n, options, [&](World& world) {
        const auto group = world.group(first_ranks(n), Lane::data, algorithm);
        Buffers b(kind, DType::f32, n, elements);
        try {
          call(*group, b, root);
          call(*group, b, root);  // a rank that did not need the missing transfers gets the error here
        } catch (const std::exception& error) {
          if (world.rank() == dying) world.abort("rank " + std::to_string(dying) + " " + error.what());
          throw;
        }
      });
      INFO(algorithm << " " << name_of(kind));
      for (int rank = 0; rank < n; ++rank)
        if (rank != dying) CHECK(errors[rank] == "rank 3 died in " + std::string(name_of(kind)));
    }
  }
}

TEST_CASE("a member that hangs between two phases is named, not the one that waits for it") {
  for (const char* algorithm : {"ring", "tree", "halving-doubling"}) {
    const int n = 8, hanging = 5;
    int last = -1;
    for (const Transfer& t : transfers_of(OpKind::all_reduce, *algorithm_of(algorithm), n, 100))
      if (t.from == hanging || t.to == hanging) last = t.phase;
    std::atomic<bool> is_reported{false};
    CommOptions options;
    options.time_limit = 2s;
    options.before_phase = [&](int rank, Lane, const char*, int phase) {
      if (rank == hanging && phase == last) wait_until(60s, [&] { return is_reported.load(); });
    };
    const auto errors = run_ranks(n, options, [&](World& world) {
      const auto group = world.group(first_ranks(n), Lane::data, algorithm);
      Buffers b(OpKind::all_reduce, DType::f32, n, 100);
      try {
        call(*group, b, 0);
      } catch (const CommError&) {
        is_reported = true;
        throw;
      }
    });
    int ended = 0;
    for (const std::string& error : errors) {
      if (error.empty()) continue;  // this rank did not need rank 5 any more
      ++ended;
      INFO(algorithm << ": " << error);
      CHECK(error.ends_with(" in all_reduce on lane data for rank 5"));
    }
    CHECK(ended >= 2);
  }
}

TEST_CASE("a member that waits in a later phase lets earlier waits report the missing member first") {
  // Halving and doubling among four ranks. Rank 3 hangs before phase 1, where rank 2 waits for it, slightly late. Rank
  // 0 has already waited longer for rank 2 in phase 3, and must not report first. Its limit there is 800 ms longer:
  // threads may be slow.
  std::atomic<bool> rank_0_is_in_phase_3{false}, is_reported{false};
  CommOptions options;
  options.time_limit = 6400ms;
  options.before_phase = [&](int rank, Lane, const char*, int phase) {
    if (rank == 0 && phase == 3) rank_0_is_in_phase_3 = true;
    if (rank == 3 && phase == 1) wait_until(60s, [&] { return is_reported.load(); });
    if ((rank == 2 && phase == 1) || (rank == 1 && phase == 3)) {
      wait_until(60s, [&] { return rank_0_is_in_phase_3.load(); });
      std::this_thread::sleep_for(20ms);
    }
  };
  const auto errors = run_ranks(4, options, [&](World& world) {
    const auto group = world.group(first_ranks(4), Lane::data, "halving-doubling");
    Buffers b(OpKind::all_reduce, DType::f32, 4, 100);
    try {
      call(*group, b, 0);
    } catch (const CommError&) {
      is_reported = true;
      throw;
    }
  });
  for (const std::string& error : errors) CHECK(error == "rank 2 waited 6800 ms in all_reduce on lane data for rank 3");
}

TEST_CASE("a rank's data, tensor and pipeline groups work at once, each on its lane, whatever is delayed") {
  const RankGrid grid{2, 2, 2};
  CommOptions options;
  options.before_phase = [](int rank, Lane lane, const char*, int phase) {
    thread_local std::mt19937 random(static_cast<unsigned>(rank * 64 + static_cast<int>(lane) * 8 + phase));
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  };
  struct Of {
    GroupKind kind;
    Lane lane;
  };
  const Of of[] = {{GroupKind::data, Lane::data},
                   {GroupKind::tensor, Lane::tensor},
                   {GroupKind::pipeline, Lane::zero_gather},
                   {GroupKind::model, Lane::zero_reduce},
                   {GroupKind::world, Lane::copy}};
  for (const char* algorithm : algorithms) {
    const auto wrong = wrong_on_ranks(grid.size(), options, [&](World& world) {
      std::vector<std::unique_ptr<Communicator>> groups;
      for (const Of& one : of)
        groups.push_back(world.group(grid.group_of(world.rank(), one.kind), one.lane, algorithm));
      std::vector<std::vector<std::string>> of_lane(groups.size());
      std::vector<std::thread> lanes;
      for (std::size_t i = 0; i < groups.size(); ++i)
        lanes.emplace_back([&, i] {
          try {
            for (std::int64_t elements : {1, 200, 3001}) {
              const auto more = wrong_collectives(*groups[i], DType::f32, elements);
              of_lane[i].insert(of_lane[i].end(), more.begin(), more.end());
            }
          } catch (const std::exception& error) {
            of_lane[i].push_back(error.what());
          }
        });
      for (auto& lane : lanes) lane.join();
      std::vector<std::string> all;
      for (const auto& some : of_lane) all.insert(all.end(), some.begin(), some.end());
      return all;
    });
    INFO(algorithm);
    REQUIRE(wrong == std::vector<std::string>{});
  }
}
