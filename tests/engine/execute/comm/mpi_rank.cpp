// One rank of a world that mpirun has made; mpi_test starts it. The first argument selects a case, the second one is a
// file for LastLines. Wrong results and the errors that end a rank are printed, each line with the rank at its begin.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "engine/execute/comm/mpi.hpp"
#include "engine/plan/collective/cost.hpp"
#include "engine/plan/mesh/rank_grid.hpp"
#include "kernels/device/host.hpp"
#include "tests/engine/execute/comm/collective_calls.hpp"
#include "tests/engine/execute/comm/collective_cases.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

using Wrong = std::vector<std::string>;

/// Ranks that print an error end the job only when all ranks have printed their last line. In this file, each rank adds
/// one byte after its last line.
class LastLines {
 public:
  void open(const std::string& file) { file_ = file; }
  void done() const {
    std::fflush(stdout);
    std::ofstream(file_, std::ios::app) << '.';
  }
  bool are_all_printed(int ranks) const {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file_, error);
    return !error && bytes >= static_cast<std::uintmax_t>(ranks);
  }

 private:
  std::string file_;
};
LastLines last_lines;

/// For its peers this rank is missing, but it is alive until they end the job.
void hang() {
  last_lines.done();
  std::this_thread::sleep_for(100s);
}

constexpr DType types[] = {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i32, DType::u8};

std::vector<int> everyone(World& world) {
  std::vector<int> ranks;
  for (int r = 0; r < world.size(); ++r) ranks.push_back(r);
  return ranks;
}

void append(Wrong& all, const Wrong& more) { all.insert(all.end(), more.begin(), more.end()); }

Wrong run_cases(World& world) {
  Wrong wrong;
  for (const char* algorithm : algorithms) {
    const auto group = world.group(everyone(world), Lane::data, algorithm);
    for (DType type : types)
      for (std::int64_t elements : {0, 1, 7, 1000}) append(wrong, wrong_collectives(*group, type, elements));
    append(wrong, wrong_collectives(*group, DType::f32, 100'003));
    const std::string name = algorithm;
    for (DType type : {DType::f32, DType::bf16, DType::f64})
      append(wrong, wrong_bits(*group, world, type, name == "ring"));
    if (name == "auto" && world.size() > 1 && group->wire_bytes().sent != -1)
      wrong.push_back("bytes of MPI's own collectives are claimed to be known");
  }
  for (std::int64_t elements : {0, 5, 1000}) append(wrong, wrong_ring_bytes(world, elements));
  for (std::int64_t elements : {0, 1, 1000, 100'003})
    append(wrong, wrong_messages(*world.group(everyone(world), Lane::forward_send, "auto"), elements));
  if (world.size() > 2) append(wrong, wrong_arrivals(world));
  // Two groups at the same time; one of them does not begin with rank 0.
  std::vector<int> odd_or_even;
  for (int r = world.rank() % 2; r < world.size(); r += 2) odd_or_even.push_back(r);
  append(wrong, wrong_collectives(*world.group(odd_or_even, Lane::tensor, "ring"), DType::f32, 100));
  return wrong;
}

// Memory that a communicator must treat as not the host's; counts its copies.
class Elsewhere final : public Device {
 public:
  class Counting final : public Queue {
   public:
    void* handle() const override { return nullptr; }
    void copy(void* to, const void* from, std::int64_t bytes) override {
      ++copies;
      here_.copy(to, from, bytes);
    }
    void fill(void* to, std::uint8_t byte, std::int64_t bytes) override { here_.fill(to, byte, bytes); }
    void sum(DType type, std::span<void* const> into, std::span<const void* const> parts,
             std::int64_t elements) override {
      here_.sum(type, into, parts, elements);
    }
    Mark mark() override { return nullptr; }
    void wait_for(const Mark&) override {}
    std::atomic<int> copies = 0;

   private:
    HostQueue here_;
  };
  std::string_view name() const override { return "elsewhere"; }
  bool is_host() const override { return false; }
  void use() override {}
  Memory reserve(std::int64_t bytes) override { return host_.reserve(bytes); }
  Memory reserve_host(std::int64_t bytes) override { return host_.reserve(bytes); }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<Counting>(); }
  std::int64_t context_bytes() const override { return 0; }
  bool fit_clock() override { return true; }
  std::int64_t clock_uncertainty_ns() const override { return 0; }

 private:
  HostDevice host_;
};

Wrong run_staged(World& world) {
  Wrong wrong;
  Elsewhere device;
  Elsewhere::Counting queue;
  for (const char* algorithm : {"auto", "ring"}) {
    const auto group = world.group(everyone(world), Lane::data, algorithm);
    group->run_on(device, queue);
    for (DType type : types)
      for (std::int64_t elements : {0, 7}) append(wrong, wrong_collectives(*group, type, elements));
    append(wrong, wrong_messages(*group, 1000));
  }
  if (queue.copies == 0) wrong.push_back("nothing was copied to memory that MPI reaches");
  return wrong;
}

// Counts every member's bytes in MPI's messages and compares them with its transfers.
Wrong run_bytes(World& world) {
  Wrong wrong;
  const int n = world.size();
  for (const std::string algorithm : algorithms) {
    if (algorithm == "auto") continue;
    const auto group = world.group(everyone(world), Lane::data, algorithm);
    for (OpKind kind : collectives)
      for (int root : {0, n - 1}) {
        Buffers b(kind, DType::f32, n, 103);
        const WireBytes before = group->wire_bytes();
        call(*group, b, root);
        const WireBytes after = group->wire_bytes();
        const WireCount list = count_wire(transfers_of(kind, *algorithm_of(algorithm), n, b.elements, root), n);
        if (after.sent - before.sent != 4 * list.sent[group->index()] ||
            after.received - before.received != 4 * list.received[group->index()])
          wrong.push_back(algorithm + " " + std::string(name_of(kind)) + " sent " +
                          std::to_string(after.sent - before.sent) + " and received " +
                          std::to_string(after.received - before.received) + " bytes");
      }
  }
  return wrong;
}

// As many lanes at once as on a rank of a real plan: those of a tensor group, a data group and all ranks.
Wrong run_lanes(World& world) {
  const RankGrid grid{2, 2, 1};
  struct Of {
    Lane lane;
    GroupKind group;
    const char* algorithm;
  };
  const Of of[] = {{Lane::tensor, GroupKind::tensor, "auto"},      {Lane::data, GroupKind::data, "ring"},
                   {Lane::zero_gather, GroupKind::data, "auto"},   {Lane::zero_reduce, GroupKind::world, "tree"},
                   {Lane::forward_send, GroupKind::world, "auto"}, {Lane::backward_send, GroupKind::world, "auto"}};
  std::vector<std::unique_ptr<Communicator>> groups;
  for (const Of& one : of)
    groups.push_back(world.group(grid.group_of(world.rank(), one.group), one.lane, one.algorithm));
  return wrong_at_once(groups, 3);
}

// A hook delays every call of rank 1 by 100 ms: no member's bytes may move before.
Wrong run_late(World& world) {
  Wrong wrong;
  auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  // All ranks are on one host: they have the same clock.
  auto expect_late = [&](const char* what, const std::function<std::optional<CommResult>()>& call) {
    world.exchange("all begin together");
    const std::int64_t begin_ns = now();
    const auto result = call();
    const std::int64_t end_ns = now();
    const std::int64_t late_ns = std::stoll(world.exchange(std::to_string(begin_ns))[1]);  // when rank 1 called
    if (result && (result->active_ns < late_ns + 100'000'000 || result->active_ns > end_ns))
      wrong.push_back(std::string(what) + " became active " + std::to_string(result->active_ns - late_ns) +
                      " ns after rank 1's call");
  };
  for (const char* algorithm : {"auto", "ring"}) {
    const auto group = world.group(everyone(world), Lane::data, algorithm);
    float value = 1;
    const View data{&value, DType::f32, {1}};
    expect_late("an all_reduce", [&] { return group->collective({OpKind::all_reduce, data}); });
    expect_late("a message", [&]() -> std::optional<CommResult> {
      if (world.rank() == 0) return group->send(data, 1);
      if (world.rank() == 1) return group->receive(data, 0);
      return std::nullopt;
    });
  }
  return wrong;
}

Wrong run_missing(World& world) {
  const auto group = world.group(everyone(world), Lane::data, "auto");
  float value = 1;
  if (world.rank() == 1 || world.rank() == 3) hang();
  group->collective({OpKind::all_reduce, {&value, DType::f32, {1}}});
  return {};
}

Wrong run_missing_receiver(World& world) {
  const auto group = world.group(everyone(world), Lane::forward_send, "auto");
  float value = 1;
  if (world.rank() == 1) hang();
  group->send({&value, DType::f32, {1}}, 1);
  return {};
}

Wrong run_different(World& world) {
  const auto group = world.group(everyone(world), Lane::data, "auto");
  float values[2] = {};
  group->collective({OpKind::all_reduce, {values, DType::f32, {world.rank() == 2 ? 2 : 1}}});
  return {};
}

Wrong run_different_kind(World& world) {
  const auto group = world.group(everyone(world), Lane::tensor, "ring");
  Buffers b(world.rank() == 1 ? OpKind::all_gather : OpKind::reduce_scatter, DType::f32, world.size(), 12);
  call(*group, b, 0);
  return {};
}

Wrong run_different_ends(World& world) {
  const auto group = world.group(everyone(world), Lane::forward_send, "auto");
  float data[3] = {};
  if (world.rank() == 0) group->send({data, DType::f32, {3}}, 1);
  if (world.rank() == 1) group->receive({data, DType::f32, {2}}, 0);
  return {};
}

// Rank 2 is killed, or hangs, between two phases of a ring: see main.
Wrong run_in_ring(World& world, OpKind kind) {
  const auto group = world.group(everyone(world), Lane::data, "ring");
  Buffers b(kind, DType::f32, world.size(), 1000);
  call(*group, b, 0);
  return {};
}

Wrong run_abort(World& world) {
  const auto data = world.group(everyone(world), Lane::data, "auto");
  const auto ring = world.group(everyone(world), Lane::tensor, "ring");
  float value = 1;
  const View view{&value, DType::f32, {1}};
  if (world.rank() == 0) data->collective({OpKind::all_reduce, view});
  if (world.rank() == 1) ring->receive(view, 2);
  if (world.rank() == 2) ring->collective({OpKind::all_gather, {nullptr, DType::f32, {0}}, view});  // throws
  if (world.rank() == 3) world.exchange("here");
  return {};
}

Wrong run_killed(World& world) {
  const auto group = world.group(everyone(world), Lane::data, "auto");
  float value = 1;
  group->collective({OpKind::all_reduce, {&value, DType::f32, {1}}});
  if (world.rank() == 2) std::raise(SIGKILL);
  group->collective({OpKind::all_reduce, {&value, DType::f32, {1}}});
  return {};
}

const std::map<std::string, std::function<Wrong(World&)>> modes = {
    {"cases", run_cases},
    {"staged", run_staged},
    {"lanes", run_lanes},
    {"late", run_late},
    {"missing", run_missing},
    {"missing-receiver", run_missing_receiver},
    {"different", run_different},
    {"bytes", run_bytes},
    {"different-kind", run_different_kind},
    {"different-ends", run_different_ends},
    {"killed-in-ring", [](World& world) { return run_in_ring(world, OpKind::all_reduce); }},
    {"missing-in-ring", [](World& world) { return run_in_ring(world, OpKind::all_gather); }},
    {"abort", run_abort},
    {"killed", run_killed},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (argc > 2) last_lines.open(argv[2]);
  CommOptions options;
  if (mode.starts_with("missing")) options.time_limit = mode == "missing-in-ring" ? 6000ms : 2500ms;
  if (mode == "late")
    options.before = [](int rank, Lane, const char*) {
      if (rank == 1) std::this_thread::sleep_for(100ms);
    };
  if (mode.ends_with("in-ring"))
    options.before_phase = [&](int rank, Lane, const char*, int phase) {
      if (rank != 2) return;
      if (mode == "killed-in-ring" && phase == 3) std::raise(SIGKILL);
      if (mode == "missing-in-ring" && phase == 1) hang();
    };
  int status = 0;
  std::unique_ptr<World> world;
  try {
    world = mpi_world(options);
    for (const std::string& line : modes.at(mode)(*world)) {
      std::printf("rank %d: %s\n", world->rank(), line.c_str());
      status = 1;
    }
    last_lines.done();
  } catch (const std::exception& error) {
    std::printf("rank %d ends: %s\n", world ? world->rank() : -1, error.what());
    last_lines.done();
    if (world) {
      world->abort("rank " + std::to_string(world->rank()) + " failed: " + error.what());
      wait_until(60s, [&] {
        try {
          world->throw_if_failed();  // MPI can send the reason to the others in such a call
        } catch (const CommError&) {
        }
        return last_lines.are_all_printed(world->size());
      });
    }
    std::this_thread::sleep_for(1s);  // mpirun can still pass the lines on
    mpi_abort(1);
  }
  return status;
}
