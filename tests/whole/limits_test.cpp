// Too few resources: threads that cannot be made, address space, memory for the model, and messages that would
// be as long as the input.
#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/judged.hpp"
#include "tests/places.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

using Arguments = std::vector<std::string>;

/// The engine, limited to this number of further processes and threads. As an ordinary user, since root has no such
/// limit; with a copy of the program and the right to read all files, since a checkout may be closed to others.
Ended with_threads(const Folder& folder, int threads, const Arguments& arguments) {
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  Arguments run = engine_command(arguments);
  const std::string copy = (folder / "engine").string();
  std::filesystem::copy_file(run.front(), copy);  // mpirun asks for the rights of the user without further ones
  run.front() = copy;
  Arguments command{"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  for (const char* set : {"--inh-caps", "--ambient-caps"}) command.insert(command.end(), {set, "-all,+dac_override"});
  command.insert(command.end(), {"/bin/bash", "-c", "ulimit -u " + std::to_string(threads) + "; exec " + quoted(run)});
  return Process(folder, command).wait(a_minute);
}

Ended with_address_space(const Folder& folder, int mib, const Arguments& arguments) {
  const std::string line = "ulimit -v " + std::to_string(mib * 1024) + "; exec " + quoted(engine_command(arguments));
  return Process(folder, {"/bin/bash", "-c", line}).wait(a_minute);
}

/// Only another user's processes are limited, and only root can become one.
bool can_limit_threads() {
  const bool can = geteuid() == 0 && std::filesystem::exists("/usr/bin/setpriv");
  if (!can) not_judged("a limit on threads: only root with setpriv can set it");
  return can;
}

}  // namespace

TEST_CASE("a run that gets too few threads ends soon with one line that says so") {
  if (!can_limit_threads()) return;
  const Folder folder;
  const int threads = GENERATE(3, 6, 12, 24);
  INFO(threads << " threads");
  const Ended ended = with_threads(folder, threads, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "3"}));
  INFO(ended.err);
  CHECK(ended.in_time);
  CHECK(ended.seconds < some_seconds.count());
  CHECK(ended.status == 1);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK(ended.err.find("rankscope-engine: ") == 0);
  CHECK(ended.err.find("thread") != std::string::npos);
  CHECK(ended.err.find("ulimit -u") != std::string::npos);
  CHECK(folder.sessions().empty());
  CHECK(folder.processes_after(a_minute).empty());
}

TEST_CASE("ranks under mpi that get too few threads end soon, with the reason") {
  if (!can_use_mpi()) return;
  if (!can_limit_threads()) return;
  const Folder folder;
  const int threads = GENERATE(8, 24, 40);
  INFO(threads << " threads");
  const Ended ended =
      with_threads(folder, threads, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "3", "--comm", "mpi"}));
  INFO(ended.err);
  CHECK(ended.in_time);
  CHECK(ended.seconds <
        some_seconds.count());  // some mpiruns without enough threads hang at their end, and are killed after 8 s
  CHECK(ended.status == 1);
  // It does not matter which limit mpirun itself reaches first; a rank that starts reports what it lacks.
  CHECK(ended.err.find("thread") != std::string::npos);
  CHECK(folder.processes_after(a_minute).empty());
}

TEST_CASE("an mpirun that hangs after its ranks have ended is killed, and what the ranks did counts") {
  if (!can_use_mpi()) return;
  const Folder folder;
  const std::string hanging = folder / "mpirun";
  // After the exec, nobody waits for the real mpirun.
  std::ofstream(hanging) << "#!/bin/sh\nPATH=${PATH#*:}\nmpirun \"$@\" & exec sleep 600\n";
  std::filesystem::permissions(hanging, std::filesystem::perms::owner_all);
  const int stop_at = GENERATE(-1, 1);  // a rank of the second run is killed
  Arguments command =
      with_small_model({"/usr/bin/env", "PATH=" + folder.path().string() + ":" + std::getenv("PATH"),
                        program("rankscope-engine"), "run", lab("pipeline-1f1b"), "--steps", "3", "--comm", "mpi"});
  if (stop_at >= 0) command.insert(command.end(), {"--set", "fault.kill_rank=1", "--set", "fault.kill_step=1"});
  const Ended ended = Process(folder, command).wait(a_minute);
  INFO(ended.err);
  CHECK(ended.in_time);
  CHECK(ended.status == (stop_at < 0 ? rankscope::status::done : rankscope::status::rank_lost));
  CHECK(ended.err.find("did not end although all its processes had ended, and was killed") != std::string::npos);
  if (stop_at >= 0) CHECK(ended.err.find("rank 1 died after step 0") != std::string::npos);
  CHECK(folder.processes_after(a_minute).empty());
}

#if RANKSCOPE_SLOWNESS == 1  // sanitizers need terabytes of address space
TEST_CASE("a run without address space ends soon, with a reason and without a signal") {
  const Folder folder;
  const int mib = GENERATE(150, 300, 450, 600);
  INFO(mib << " MiB");
  const Ended ended = with_address_space(folder, mib, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "3"}));
  INFO(ended.err);
  CHECK(ended.in_time);
  CHECK(ended.seconds < some_seconds.count());
  CHECK(ended.signal == 0);
  CHECK(ended.err.find("signal ") == std::string::npos);
  if (ended.status != 0) CHECK(ended.err.find("ulimit -v") != std::string::npos);
  CHECK(folder.processes_after(a_minute).empty());
}

TEST_CASE("a proof in fp64 without address space ends, too, although its library would retry for ever") {
  const Folder folder;
  const int mib = GENERATE(200, 450);
  INFO(mib << " MiB");
  const Ended ended =
      with_address_space(folder, mib, with_small_model({"verify", lab("pipeline-1f1b"), "--set", "precision=fp64"}));
  INFO(ended.err);
  CHECK(ended.in_time);
  CHECK(ended.signal == 0);
}
#endif

TEST_CASE("a model that does not fit this machine is refused at once, with both figures and the remedy") {
  const Folder folder;
  const Ended ended = engine(folder, {"run", "gpt3-175b"});
  INFO(ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.seconds < some_seconds.count());
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK(ended.err.find("of memory on this machine, and ") != std::string::npos);
  CHECK(ended.err.find("a step would take at least ") != std::string::npos);
  CHECK(ended.err.find("--any-size") != std::string::npos);
  CHECK(folder.sessions().empty());
}

TEST_CASE("long input is quoted only in part") {
  const Folder folder;
  const std::string much(3000, 'x');
  std::string words;
  while (words.size() < 3000) words += "many words ";
  const std::string file = lab("pipeline-1f1b");
  const std::vector<Arguments> rows{{much},
                                    {"run", file, "--set", "schedule=" + much},
                                    {"run", file, "--set", "schedule=" + words},
                                    {"run", file, "--set", much + "=1"},
                                    {"run", file, "--set", much},
                                    {"run", file, "--set", "precision=" + much},
                                    {"run", file, "--set", "data.source=text:" + much},
                                    {"run", file, "--set", "cluster.spec=" + much},
                                    {"run", file, "--set", "stages=" + much},
                                    {"run", file, "--set", "width=" + much},
                                    {"run", file, "--keep", much},
                                    {"run", file, "--comm", much},
                                    {"run", file, "--steps", much},
                                    {"run", file, "--publish", much},
                                    {"run", file, "--publish", "ipc:///" + much},
                                    {"run", file, "--record", much},
                                    {"run", file, "--resume", much},
                                    {"run", much},
                                    {"run", file, "--" + much},
                                    {"sweep", file, "--over", "plan.data=" + much},
                                    {"sweep", file, "--over", much},
                                    {"paths", much},
                                    {"paths", "--rate", much},
                                    {"paths", "--optimizer", much},
                                    {"export", much, "x"}};
  for (const Arguments& arguments : rows) {
    const Ended ended = engine(folder, arguments);
    std::string typed;
    for (const std::string& argument : arguments) typed += " " + argument.substr(0, 40);
    INFO("rankscope-engine" << typed);
    INFO(ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.err.size() < 1600);
    CHECK(ended.err.find("characters)") != std::string::npos);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  }
}
