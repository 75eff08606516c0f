// Worlds of processes that mpirun starts.
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/temporary_directory.hpp"

namespace {

struct Ended {
  std::string output;
  int status = -1;
  double seconds = 0;
  bool printed(const std::string& text) const { return output.find(text) != std::string::npos; }
};

Ended run(const std::string& mode, int ranks) {
  const rankscope::testing::TemporaryDirectory folder;
  // Works as root in a container and with any number of cores; ignores Open MPI's own leaks.
  const std::string command =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
      "ASAN_OPTIONS=detect_leaks=0 " RANKSCOPE_MPIEXEC " -n " +
      std::to_string(ranks) + " '" + rankscope::test::program("comm_mpi_rank") + "' " + mode + " '" +
      folder / "last_lines" + "' 2>&1";
  Ended ended;
  const auto begin = std::chrono::steady_clock::now();
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) ended.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ended;
}

}  // namespace

TEST_CASE("processes do all eight collectives and messages as threads do") {
  for (int ranks : {1, 3, 4}) {
    const Ended ended = run("cases", ranks);
    INFO(ended.output);
    CHECK(ended.status == 0);
    CHECK(ended.output.empty());
  }
}

TEST_CASE("tensors in memory that MPI cannot access are copied through the host's, and back") {
  const Ended ended = run("staged", 3);
  INFO(ended.output);
  CHECK(ended.status == 0);
  CHECK(ended.output.empty());
}

TEST_CASE("many lanes of many processes communicate at once") {
  const Ended ended = run("lanes", 4);
  INFO(ended.output);
  CHECK(ended.status == 0);
}

TEST_CASE("processes know when the last participant arrived") {
  const Ended ended = run("late", 3);
  INFO(ended.output);
  CHECK(ended.status == 0);
}

TEST_CASE("a time-out among processes names the missing ranks") {
  SECTION("to a collective") {
    const Ended ended = run("missing", 4);
    INFO(ended.output);
    CHECK(ended.status != 0);
    CHECK(ended.printed("rank 0 ends: rank 0 waited 2500 ms in all_reduce on lane data for rank 1, rank 3"));
    CHECK(ended.printed("rank 2 ends: rank 0 waited 2500 ms in all_reduce on lane data for rank 1, rank 3"));
  }
  SECTION("to a message") {
    const Ended ended = run("missing-receiver", 2);
    INFO(ended.output);
    CHECK(ended.status != 0);
    CHECK(ended.printed("rank 0 ends: rank 0 waited 2500 ms in send on lane forward_send for rank 1"));
  }
}

TEST_CASE("processes that call different operations get an error that says so") {
  const Ended ended = run("different", 3);
  INFO(ended.output);
  CHECK(ended.status != 0);
  for (const char* rank : {"0", "1", "2"})
    CHECK(ended.printed(std::string("rank ") + rank +
                        " ends: rank 0 calls all_reduce of 1 fp32, rank 2 all_reduce of 2 fp32, on lane data"));
}

TEST_CASE("processes that call different collectives, or disagree on a message, get an error that says so") {
  SECTION("collectives") {
    const Ended ended = run("different-kind", 3);
    INFO(ended.output);
    CHECK(ended.status != 0);
    for (const char* rank : {"0", "1", "2"})
      CHECK(ended.printed(std::string("rank ") + rank +
                          " ends: rank 0 calls reduce_scatter of 4 fp32, rank 1 all_gather of 4 fp32, on lane tensor"));
  }
  SECTION("messages") {
    const Ended ended = run("different-ends", 2);
    INFO(ended.output);
    CHECK(ended.status != 0);
    for (const char* rank : {"0", "1"})
      CHECK(ended.printed(std::string("rank ") + rank +
                          " ends: rank 0 sends 12 bytes to rank 1, which expects 8, on lane forward_send"));
  }
}

TEST_CASE("each process sends and receives the bytes of its transfers, in every collective and algorithm") {
  const Ended ended = run("bytes", 5);
  INFO(ended.output);
  CHECK(ended.status == 0);
  CHECK(ended.output.empty());
}

TEST_CASE("a process that hangs in the midst of a ring is named by its neighbour's time-out, and ends all") {
  const Ended ended = run("missing-in-ring", 4);
  INFO(ended.output);
  CHECK(ended.status != 0);
  // The time-out in phase 1 of 3 is a twelfth longer than 6 s. Rank 1 waits to send to rank 2, rank 3 to receive from
  // it. Rank 0 waits in phase 2, where the time-out is half a second longer.
  CHECK((ended.printed("rank 1 waited 6500 ms in all_gather on lane data for rank 2") ||
         ended.printed("rank 3 waited 6500 ms in all_gather on lane data for rank 2")));
  CHECK_FALSE(ended.printed("rank 0 waited"));
  CHECK(ended.seconds < 50);  // rank 2 hangs for 100 s
}

TEST_CASE("a process killed in the midst of a ring ends the job within seconds, by its name") {
  const Ended ended = run("killed-in-ring", 4);
  INFO(ended.output);
  CHECK(ended.status != 0);
  CHECK(ended.printed("process rank 2"));
  CHECK(ended.printed("signal 9"));
  CHECK(ended.seconds < 50);  // the others' time limit is a minute
}

TEST_CASE("a failed process's reason ends the waits of all others within seconds") {
  const Ended ended = run("abort", 4);
  INFO(ended.output);
  CHECK(ended.status != 0);
  const std::string why = " ends: rank 2 failed: rank 2: all_gather on lane tensor: 0 elements where 4 belong";
  for (const char* rank : {"0", "1", "3"}) CHECK(ended.printed(std::string("rank ") + rank + why));
  CHECK(ended.seconds < 50);  // their time limit is a minute
}

TEST_CASE("mpirun ends the job within seconds when a process is killed, and names it") {
  const Ended ended = run("killed", 4);
  INFO(ended.output);
  CHECK(ended.status != 0);
  CHECK(ended.printed("process rank 2"));
  CHECK(ended.printed("signal 9"));
  CHECK(ended.seconds < 50);  // the others' time limit is a minute
}
