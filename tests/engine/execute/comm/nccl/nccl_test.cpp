// The nccl communicator over an emulated library: the checks that every communicator must pass, and cases in which NCCL
// alone would hang.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>

#include "engine/execute/comm/nccl_library.hpp"
#include "engine/plan/collective/transfer.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/comm/collective_calls.hpp"
#include "tests/engine/execute/comm/collective_cases.hpp"
#include "tests/engine/execute/comm/nccl/emulated.hpp"
#include "tests/engine/execute/comm/nccl/ranks.hpp"
#include "tests/engine/execute/comm/nccl/stream_device.hpp"
#include "tests/places.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

constexpr DType types[] = {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i32, DType::u8};

template <class Function>
Function* emulated_function(const char* name) {
  void* library = dlopen(program("librankscope_emulated_nccl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
std::string misuse() { return emulated_function<decltype(emulated_nccl_misuse)>("emulated_nccl_misuse")(); }
void lose(int rank) { emulated_function<decltype(emulated_nccl_lose)>("emulated_nccl_lose")(rank); }

CommOptions options_with(std::chrono::milliseconds limit, bool rendezvous = true) {
  CommOptions options;
  options.time_limit = limit;
  options.stamp_arrivals = rendezvous;
  return options;
}

View one(float& value) { return {&value, DType::f32, {1}}; }

using Wrong = std::vector<std::string>;
void append(Wrong& all, const Wrong& more) { all.insert(all.end(), more.begin(), more.end()); }

/// Each member sends a message to the next one and receives one from the previous one, over communicators of two ranks
/// as in a program: one for each direction.
Wrong wrong_pipeline(World& world) {
  const int n = world.size(), me = world.rank();
  std::map<std::pair<int, int>, std::unique_ptr<Communicator>> pairs;
  for (int from = 0; from < n; ++from)  // the same order on all ranks
    for (const int to : {(from + 1) % n})
      if (from != to && (from == me || to == me))
        pairs[{from, to}] = world.group({std::min(from, to), std::max(from, to)}, Lane::forward_send, "auto");
  Wrong wrong;
  std::vector<float> sent(1000, static_cast<float>(me)), received(1000);
  const int next = (me + 1) % n, previous = (me + n - 1) % n;
  const auto index_of = [&](const Communicator& group, int rank) { return group.members()[0] == rank ? 0 : 1; };
  std::exception_ptr failure;
  std::thread sender([&] {
    try {
      Communicator& group = *pairs.at({me, next});
      for (int round = 0; round < 5; ++round) group.send({sent.data(), DType::f32, {1000}}, index_of(group, next));
    } catch (...) {
      failure = std::current_exception();
    }
  });
  Communicator& group = *pairs.at({previous, me});
  for (int round = 0; round < 5; ++round) {
    received.assign(1000, -1);
    group.receive({received.data(), DType::f32, {1000}}, index_of(group, previous));
    if (received != std::vector<float>(1000, static_cast<float>(previous))) wrong.push_back("not what was sent");
  }
  sender.join();
  if (failure) std::rethrow_exception(failure);
  return wrong;
}

Wrong wrong_cases(World& world, bool all_types) {
  Wrong wrong;
  for (const std::string algorithm : algorithms) {
    const auto group = world.group(first_ranks(world.size()), Lane::data, algorithm);
    for (const DType type : types) {
      if (!all_types && type != DType::bf16) continue;
      for (const std::int64_t elements : {0, 1, 7, 1000}) append(wrong, wrong_collectives(*group, type, elements));
    }
    append(wrong, wrong_bits(*group, world, DType::f32, algorithm == "ring"));
    if (algorithm == "auto" && world.size() > 1 && group->wire_bytes().sent != -1)
      wrong.push_back("bytes of NCCL's own collectives are claimed to be known");
  }
  append(wrong, wrong_ring_bytes(world, 1000));
  if (world.size() > 1) append(wrong, wrong_pipeline(world));
  if (world.size() > 2) append(wrong, wrong_arrivals(world));
  std::vector<int> odd_or_even;
  for (int r = world.rank() % 2; r < world.size(); r += 2) odd_or_even.push_back(r);
  append(wrong, wrong_collectives(*world.group(odd_or_even, Lane::tensor, "ring"), DType::f32, 100));
  return wrong;
}

}  // namespace

TEST_CASE("nccl does what every communicator must, in every type and algorithm, within NCCL's rules") {
  const int n = GENERATE(1, 2, 3, 5);
  const bool rendezvous = GENERATE(true, false);
  std::vector<Wrong> wrong(static_cast<std::size_t>(n));
  const auto errors = run_nccl_ranks(n, options_with(60s, rendezvous), [&](World& world) {
    wrong[static_cast<std::size_t>(world.rank())] = wrong_cases(world, n == 3);
  });
  INFO(n << " ranks, meeting: " << rendezvous);
  CHECK(errors == std::vector<std::string>(static_cast<std::size_t>(n)));
  for (const Wrong& one : wrong) CHECK(one == Wrong{});
  CHECK(misuse() == "");
}

TEST_CASE("members that call different things under nccl are named with what they call, before NCCL sees it") {
  for (const char* algorithm : {"auto", "ring"})
    for (const OpKind kind : collectives) {
      const OpKind other = kind == OpKind::broadcast ? OpKind::all_gather : OpKind::broadcast;
      const auto errors = run_nccl_ranks(3, options_with(5s), [&](World& world) {
        const auto group = world.group(first_ranks(3), Lane::tensor, algorithm);
        Buffers b(world.rank() == 1 ? other : kind, DType::f32, 3, 12);
        call(*group, b, 0);
      });
      INFO(algorithm << ": " << name_of(kind) << " against " << name_of(other));
      for (const std::string& error : errors) {
        CHECK(error == errors[0]);
        CHECK_THAT(error, ContainsText("rank 1 "));
        CHECK_THAT(error, ContainsText(std::string(name_of(kind)) + " of "));
        CHECK_THAT(error, ContainsText(std::string(name_of(other)) + " of "));
      }
    }
  const auto sizes = run_nccl_ranks(2, options_with(5s), [](World& world) {
    const auto group = world.group({0, 1}, Lane::forward_send, "auto");
    float data[3] = {};
    if (world.rank() == 0) group->send({data, DType::f32, {3}}, 1);
    if (world.rank() == 1) group->receive({data, DType::f32, {2}}, 0);
  });
  for (const std::string& error : sizes)
    CHECK(error == "rank 0 sends 12 bytes to rank 1, which expects 8, on lane forward_send");
  CHECK(misuse() == "");
}

TEST_CASE(
    "without a rendezvous, calls that do not match end with NCCL's error on every rank, and the strict library "
    "detected them") {
  const auto errors = run_nccl_ranks(3, options_with(20s, false), [](World& world) {
    const auto group = world.group(first_ranks(3), Lane::data, "auto");
    std::vector<float> values(4);
    group->collective({OpKind::all_reduce, {values.data(), DType::f32, {world.rank() == 2 ? 4 : 3}}});
    // The call is only enqueued; its failure is known a little later.
    for (int i = 0; i < 1000; ++i) {
      world.throw_if_failed();
      std::this_thread::sleep_for(10ms);
    }
  });
  for (const std::string& error : errors) {
    CHECK_THAT(error, ContainsText("all_reduce on lane data with rank "));
    CHECK_THAT(error, ContainsText("NCCL: invalid usage"));
  }
  CHECK_THAT(misuse(), ContainsText("all_reduce of 4"));
}

TEST_CASE("a rank missing in an nccl call is named, in collectives, messages, groups and phases") {
  // The limits also apply to the making of the world and its groups. A missing rank stays until the error is known.
  std::atomic<bool> has_ended{false};
  const auto stay = [&] { wait_until(60s, [&] { return has_ended.load(); }); };
  SECTION("a collective") {
    for (const bool rendezvous : {true, false}) {
      has_ended = false;
      const auto errors = run_nccl_ranks(4, options_with(2s, rendezvous), [&](World& world) {
        const auto group = world.group(first_ranks(4), Lane::data, "auto");
        if (world.rank() != 0) return stay();
        const SetAtEnd ended(has_ended);
        float value = 1;
        group->collective({OpKind::all_reduce, one(value)});
      });
      // Without a rendezvous, it is unknown which ranks have reached the call on the device.
      const std::string missing = "rank 1, rank 2, rank 3";
      CHECK(errors[0] == "rank 0 waited 2 s in all_reduce on lane data for " + missing);
    }
  }
  SECTION("a message") {
    const auto errors = run_nccl_ranks(2, options_with(2200ms), [&](World& world) {
      const auto group = world.group({0, 1}, Lane::backward_send, "auto");
      if (world.rank() == 0) return stay();
      const SetAtEnd ended(has_ended);
      float value = 1;
      group->receive(one(value), 0);
    });
    CHECK(errors[1] == "rank 1 waited 2200 ms in receive on lane backward_send for rank 0");
  }
  SECTION("a phase of a transparent collective") {
    CommOptions options = options_with(2s);
    options.before_phase = [&](int rank, Lane, const char*, int phase) {
      if (rank == 2 && phase == 2) stay();
    };
    const auto errors = run_nccl_ranks(4, options, [&](World& world) {
      // Rank 2 goes on when the first rank has its error. The others' memory is in use until their groups are gone.
      Buffers b(OpKind::all_reduce, DType::f32, 4, 100);
      const auto group = world.group(first_ranks(4), Lane::data, "ring");
      const SetAtEnd ended(has_ended);
      call(*group, b, 0);
    });
    for (const std::string& error : errors) CHECK(error == errors[0]);
    CHECK_THAT(errors[0], ContainsText("in all_reduce on lane data for "));
  }
  CHECK(misuse() == "");
}

TEST_CASE("an abort ends every wait of every rank under nccl, on the host and in the library, with its reason") {
  const auto begin = std::chrono::steady_clock::now();
  for (const bool rendezvous : {true, false}) {
    const auto errors = run_nccl_ranks(4, options_with(60s, rendezvous), [](World& world) {
      const auto data = world.group(first_ranks(4), Lane::data, "auto");
      const auto pipe = world.group(first_ranks(4), Lane::forward_send, "auto");
      float value = 1;
      if (world.rank() == 0) data->collective({OpKind::all_reduce, one(value)});
      if (world.rank() == 1) pipe->receive(one(value), 2);
      if (world.rank() == 2) world.exchange("here");
      if (world.rank() == 3) {
        std::this_thread::sleep_for(50ms);
        world.abort("rank 3 failed in F:c1:m2: not a number");
        data->collective({OpKind::all_reduce, one(value)});
      }
    });
    for (const std::string& error : errors) CHECK(error == "rank 3 failed in F:c1:m2: not a number");
  }
  CHECK(std::chrono::steady_clock::now() - begin < 50s);  // the time limit is a minute
  CHECK(misuse() == "");
}

TEST_CASE("a peer lost while NCCL waits for it on the device ends all ranks, with call, lane and peers named") {
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> waiting{0};
  const auto errors = run_nccl_ranks(3, options_with(60s, false), [&](World& world) {
    const auto group = world.group(first_ranks(3), Lane::zero_reduce, "auto");
    float value = 1;
    group->collective({OpKind::all_reduce, one(value)});
    if (world.rank() == 1) {
      while (waiting < 2) std::this_thread::sleep_for(1ms);
      lose(1);
      std::this_thread::sleep_for(300ms);
      return;  // like a dead process: without a message
    }
    ++waiting;
    group->collective({OpKind::all_reduce, one(value)});
  });
  lose(-1);
  CHECK(errors[1].empty());
  CHECK(errors[0] == errors[2]);
  CHECK_THAT(errors[0], ContainsText("all_reduce on lane zero_reduce with rank "));
  CHECK_THAT(errors[0], ContainsText("remote process exited"));
  CHECK(std::chrono::steady_clock::now() - begin < 50s);  // the time limit is a minute
  misuse();                                               // rank 1 could not leave cleanly
}

TEST_CASE("on a device's queue calls return before they are done, and are done in the queue's order") {
  const int n = 3;
  for (const bool rendezvous : {true, false})
    for (const std::string algorithm : {"auto", "ring", "tree"}) {
      std::vector<Wrong> wrong(n);
      const auto errors = run_nccl_ranks(n, options_with(60s, rendezvous), [&](World& world) {
        StreamDevice device;
        StreamQueue queue;
        const auto r = static_cast<std::size_t>(world.rank());
        const auto group = world.group(first_ranks(n), Lane::data, algorithm);
        group->run_on(device, queue);
        // The inputs are valid only once the queue has reached the calls; anything that reads them earlier sees zeros.
        std::vector<float> given(300, static_cast<float>(world.rank() + 1)), data(300), gathered(900), sum(300);
        queue.sleep(std::chrono::milliseconds(20 * (n - world.rank())));
        std::promise<void> have_returned;
        // A call that waits for the queue ends after this limit.
        if (algorithm == "auto") queue.enqueue([calls = have_returned.get_future().share()] { calls.wait_for(10s); });
        queue.copy(data.data(), given.data(), 1200);
        group->collective({OpKind::all_reduce, {data.data(), DType::f32, {300}}});
        group->collective({OpKind::all_gather, {gathered.data(), DType::f32, {900}}, {data.data(), DType::f32, {300}}});
        queue.copy(sum.data(), data.data(), 1200);
        const Mark done = queue.mark();
        if (algorithm == "auto" && done->reached()) wrong[r].push_back("the call waited");
        have_returned.set_value();
        done->wait();
        if (sum != std::vector<float>(300, 6.0f)) wrong[r].push_back("not the sum");
        if (gathered != std::vector<float>(900, 6.0f)) wrong[r].push_back("not all parts");
        world.exchange("nobody leaves before all are done");
      });
      INFO(algorithm << ", meeting: " << rendezvous);
      CHECK(errors == std::vector<std::string>(n));
      for (const Wrong& one : wrong) CHECK(one == Wrong{});
    }
  CHECK(misuse() == "");
}

TEST_CASE("a wait on a device's queue for a missing rank ends at the time limit, with the rank's name") {
  std::atomic<bool> ended{false}, has_error{false};
  const auto errors = run_nccl_ranks(2, options_with(2s, false), [&](World& world) {
    StreamDevice device;
    StreamQueue queue;
    const auto group = world.group({0, 1}, Lane::zero_gather, "auto");
    group->run_on(device, queue);
    float value = 1;
    if (world.rank() == 1) return void(wait_until(60s, [&] { return has_error.load(); }));
    const SetAtEnd after_error(has_error);
    queue.sleep(200ms);  // the limit begins when the queue reaches the call
    group->collective({OpKind::all_reduce, one(value)});
    queue.mark()->wait();  // would never return without an abort
    ended = true;
    group->collective({OpKind::all_reduce, one(value)});
  });
  CHECK(ended);
  CHECK(errors[0] == "rank 0 waited 2 s in all_reduce on lane zero_gather for rank 1");
  misuse();
}

TEST_CASE("the emulated library finds what breaks NCCL's rules") {
  const auto nccl = comm::open_nccl(program("librankscope_emulated_nccl.so"));
  const auto make = [&] {
    comm::NcclUniqueId id;
    comm::NcclConfig config(nccl->version);
    config.max_ctas = 8;
    comm::NcclComm communicator = nullptr;
    nccl->get_unique_id(&id);
    nccl->init_rank(&communicator, 1, id, 0, &config);
    return communicator;
  };
  float value = 1;
  const auto reduce = [&](comm::NcclComm c) { return nccl->all_reduce(&value, &value, 1, 7, 0, c, nullptr); };
  const auto finish = [&](comm::NcclComm c) {
    comm::NcclResult result = comm::NcclResult::in_progress;
    while (result == comm::NcclResult::in_progress) nccl->async_error(c, &result);
    return result;
  };
  misuse();
  SECTION("a call on an aborted communicator") {
    const auto c = make();
    nccl->abort(c);
    CHECK(reduce(c) == comm::NcclResult::invalid_argument);
    CHECK_THAT(misuse(), ContainsText("all_reduce on a communicator that is gone"));
  }
  SECTION("a second abort") {
    const auto c = make();
    nccl->abort(c);
    nccl->abort(c);
    CHECK_THAT(misuse(), ContainsText("given up twice"));
  }
  SECTION("a communicator destroyed without being finalised") {
    nccl->destroy(make());
    CHECK_THAT(misuse(), ContainsText("without being finalised"));
  }
  SECTION("an invalid root, peer and type") {
    const auto c = make();
    nccl->broadcast(&value, &value, 1, 7, 3, c, nullptr);
    nccl->send(&value, 1, 7, 9, c, nullptr);
    CHECK_THAT(misuse(), ContainsText("root that is none"));
    nccl->all_reduce(&value, &value, 1, 77, 0, c, nullptr);
    CHECK(finish(c) == comm::NcclResult::success);
    CHECK_THAT(misuse(), ContainsText("element type that is none"));
    nccl->abort(c);
  }
  SECTION("a group that was not begun") {
    nccl->group_end();
    CHECK_THAT(misuse(), ContainsText("not begun"));
  }
  SECTION("two members of the same rank") {
    comm::NcclUniqueId id;
    comm::NcclConfig config(nccl->version);
    config.max_ctas = 8;
    comm::NcclComm a = nullptr, b = nullptr;
    nccl->get_unique_id(&id);
    nccl->init_rank(&a, 2, id, 0, &config);
    nccl->init_rank(&b, 2, id, 0, &config);
    CHECK_THAT(misuse(), ContainsText("same rank"));
    nccl->abort(a);
    nccl->abort(b);
  }
}

TEST_CASE("a missing requirement of nccl is reported in one line") {
  const auto text_of = [](const std::string& library) {
    try {
      comm::open_nccl(library);
    } catch (const CommError& error) {
      return std::string(error.what());
    }
    return std::string("opened");
  };
  CHECK_THAT(text_of("/nowhere/libnccl.so.2"),
             ContainsText("the communicator 'nccl' needs NCCL, which was not found (/nowhere/libnccl.so.2"));
  CHECK(text_of("libm.so.6") == "the communicator 'nccl' needs ncclGetVersion, which libm.so.6 has not");
  CHECK(text_of("/nowhere/x").find('\n') == std::string::npos);
}

TEST_CASE("ranks of a host take its GPUs in turn, and a rank without a GPU gets an error that says so") {
  // Hosts a and b have two GPUs each; on b every rank sees only one of them, as some launchers arrange it.
  struct Rank {
    const char* host;
    std::vector<std::string> sees;
  };
  const std::vector<Rank> ranks = {
      {"a", {"a:0", "a:1"}}, {"b", {"b:1"}}, {"a", {"a:0", "a:1"}}, {"b", {"b:0"}}, {"a", {"a:0", "a:1"}}};
  const auto gpus_of = [&](std::size_t count, std::vector<std::string>& errors) {
    std::vector<int> gpu(count, -1);
    errors = run_ranks(static_cast<int>(count), {}, [&](World& world) {
      const auto r = static_cast<std::size_t>(world.rank());
      gpu[r] = gpu_of_rank(world, ranks[r].sees, ranks[r].host);
    });
    return gpu;
  };
  std::vector<std::string> errors;
  CHECK(gpus_of(4, errors) == std::vector<int>{0, 0, 1, 0});
  CHECK(errors == std::vector<std::string>(4));
  CHECK(gpus_of(5, errors) == std::vector<int>(5, -1));  // no rank waits for the one without a GPU
  for (const std::string& error : errors)
    CHECK(error ==
          "rank 4 is the 3. rank on host a and sees 2 GPUs, none of which is free: the communicator 'nccl' needs a GPU "
          "for each rank; use 'loopback' to share one");
}

TEST_CASE("ranks that may share GPUs take those of their host in turn") {
  struct Rank {
    const char* host;
    std::vector<std::string> sees;
  };
  const std::vector<Rank> ranks = {{"a", {"a:0", "a:1"}}, {"b", {"b:0"}}, {"a", {"a:0", "a:1"}},
                                   {"b", {"b:0"}},        {"c", {}},      {"a", {"a:0", "a:1"}}};
  std::vector<int> gpu(ranks.size(), -1);
  const auto errors = run_ranks(static_cast<int>(ranks.size()), {}, [&](World& world) {
    const auto r = static_cast<std::size_t>(world.rank());
    gpu[r] = shared_gpu_of_rank(world, ranks[r].sees, ranks[r].host);
  });
  CHECK(errors == std::vector<std::string>(ranks.size()));
  CHECK(gpu == std::vector<int>{0, 0, 1, 0, 0, 0});
}
