// Failures: ranks that die, users who stop a run, a supervisor that is killed, a full disk.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "telemetry/store/run_store.hpp"
#include "telemetry/trace/trace_reader.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

using Arguments = std::vector<std::string>;

Arguments joined(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A recording that opened, and whether anything in it was damaged.
struct Recorded {
  std::shared_ptr<const StoreView> view;
  DamageReport damage;
};

Recorded recording(const std::string& file) {
  RunStore store;
  Recorded recorded;
  REQUIRE(read_trace(file, store, {}, &recorded.damage));
  recorded.view = store.view();
  return recorded;
}

/// The last step for which that rank's summary exists; -1: none.
std::int64_t last_step(const StoreView& view, int rank) {
  const auto summaries = view.summaries(rank);
  return summaries.empty() ? -1 : summaries.back().step;
}

/// All steps from the first to `last` exist, each with the rank's spans.
void check_steps_until(const StoreView& view, int rank, std::int64_t last) {
  const auto summaries = view.summaries(rank);
  INFO("rank " << rank);
  REQUIRE(summaries.size() == static_cast<std::size_t>(last) + 1);
  for (std::size_t s = 0; s < summaries.size(); ++s) CHECK(summaries[s].step == s);
}

/// "rank 2 … after step 9…" on standard error: the step. Fails if the rank is not reported so.
std::int64_t named_step(const std::string& errors, int rank) {
  const std::string who = "rankscope-engine: rank " + std::to_string(rank) + " ", when = " after step ";
  INFO(errors);
  const std::size_t at = errors.find(who), step = errors.find(when, at);
  REQUIRE(at != std::string::npos);
  REQUIRE(step != std::string::npos);
  REQUIRE(step < errors.find('\n', at));
  return std::stol(errors.substr(step + when.size()));
}

/// The worker processes of the run, by rank.
std::map<int, pid_t> mpi_ranks(const Folder& folder) {
  std::map<int, pid_t> ranks;
  for (const pid_t process : folder.processes())
    if (const std::string rank = environment_of(process, "OMPI_COMM_WORLD_RANK");
        !rank.empty() && arguments_of(process).ends_with("rankscope-engine worker"))
      ranks[std::stoi(rank)] = process;
  return ranks;
}

/// Starts a run that would take minutes and waits until it has recorded some steps.
class LongRun {
 public:
  LongRun(const Folder& folder, const Arguments& more)
      : file((folder / "run.mcap").string()),
        process(folder, engine_command(with_small_model(joined(
                            {"run", lab("pipeline-1f1b"), "--steps", "100000", "--json", "--record", file}, more)))) {
    // The header arrives immediately, then one chunk per second.
    const bool is_under_way = wait_until(a_minute, [&] {
      std::error_code none;
      const auto size = std::filesystem::file_size(file, none);
      // On a busy machine the first chunk may end within the first step.
      return !none && size > 40'000 && last_step(*recording(file).view, 0) > 0;
    });
    REQUIRE(is_under_way);
  }
  std::string file;
  Process process;
};

}  // namespace

TEST_CASE("a killed thread of a loopback run ends it with the rank's name and its last step, and the recording opens") {
  const Folder folder;
  const std::string file = (folder / "run.mcap").string();
  const Ended ended = engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--json", "--record", file, "--set",
                                                       "kill_rank=2", "--set", "kill_step=10"}));
  CHECK(ended.status == status::rank_lost);
  CHECK(ended.seconds < some_seconds.count());
  CHECK(named_step(ended.err, 2) == 9);
  CHECK(ended.err.find("fault.kill_rank") != std::string::npos);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK(parse_json(ended.out)["steps"].size() >= 9);

  const Ended info = trace_tool(folder, {"info", file, "--json"});
  CHECK(info.status == 0);
  CHECK(parse_json(info.out)["damage"]["any"] == false);
  const Recorded recorded = recording(file);
  CHECK(!recorded.damage.any());
  check_steps_until(*recorded.view, 2, 9);
  for (std::uint32_t step = 0; step < 9; ++step) CHECK(!recorded.view->step_spans(Obtained::measured, step).empty());
  bool rank_failed = false, session_failed = false;
  for (const End& end : recorded.view->ends()) {
    rank_failed = rank_failed || (end.rank == 2 && !end.ok);
    session_failed = session_failed || (end.rank == -1 && !end.ok && end.last_step == 9);
  }
  CHECK(rank_failed);
  CHECK(session_failed);
  CHECK(folder.sessions().empty());
  CHECK(folder.processes().empty());
}

TEST_CASE("a rank process killed by a signal ends the run with its name and its last known step") {
  if (!can_use_mpi()) return;
  const Folder folder;
  LongRun run(folder, {"--comm", "mpi"});
  const std::map<int, pid_t> ranks = mpi_ranks(folder);
  REQUIRE(ranks.size() == 4);
  const int victim = GENERATE(0, 2);
  INFO("killed rank " << victim);
  REQUIRE(kill(ranks.at(victim), SIGKILL) == 0);
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = run.process.wait(a_minute);
  CHECK(std::chrono::steady_clock::now() - begin < some_seconds);
  CHECK(ended.status == status::rank_lost);
  const std::int64_t step = named_step(ended.err, victim);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);

  const Recorded recorded = recording(run.file);
  CHECK(!recorded.damage.any());
  // The step is the last one that it finished; its reports of its last milliseconds are lost with it.
  const std::int64_t reported = last_step(*recorded.view, victim);
  CHECK(reported <= step);
  check_steps_until(*recorded.view, victim, reported);
  for (const End& end : recorded.view->ends())
    if (end.rank == -1) CHECK(end.last_step == step);
  CHECK(folder.sessions().empty());
  CHECK(folder.processes_after(a_minute).empty());
}

TEST_CASE("fault.kill_rank kills a process by signal, at the given step") {
  if (!can_use_mpi()) return;
  const Folder folder;
  const std::string file = (folder / "run.mcap").string();
  // Steps of some milliseconds, of which a rank reports several at a time: the reported step is still exact.
  const Ended ended =
      engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--comm", "mpi", "--json", "--record", file,
                                       "--set", "kill_rank=1", "--set", "kill_step=15"}));
  CHECK(ended.status == status::rank_lost);
  CHECK(named_step(ended.err, 1) == 14);
}

TEST_CASE("a supervisor that is asked to stop ends its workers, closes the recording and leaves nothing behind") {
  const Folder folder;
  const int number = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO("signal " << number << ", " << comm);
  LongRun run(folder, {"--comm", comm});
  CHECK(folder.sessions().size() == 1);
  CHECK(folder.processes().size() >= 2);
  run.process.signal(number);
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = run.process.wait(a_minute);
  CHECK(std::chrono::steady_clock::now() - begin < some_seconds);
  INFO(ended.err);
  CHECK(ended.status == status::stopped);
  CHECK(ended.err.find("rankscope-engine: stopped by request after step ") == 0);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK(folder.processes_after(a_minute).empty());
  CHECK(folder.sessions().empty());

  const Recorded recorded = recording(run.file);
  CHECK(!recorded.damage.any());
  REQUIRE(recorded.view->hello());
  const std::int64_t steps = last_step(*recorded.view, 0) + 1;
  CHECK(steps > 0);
  CHECK(parse_json(ended.out)["steps"].size() + 4 >= static_cast<std::size_t>(steps));
  const auto ends = recorded.view->ends();
  CHECK(std::any_of(ends.begin(), ends.end(), [](const End& end) { return end.rank == -1 && !end.ok; }));
}

TEST_CASE("workers do not outlive a supervisor that is killed, and the recording opens") {
  const Folder folder;
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO(comm);
  LongRun run(folder, {"--comm", comm});
  CHECK(folder.processes().size() >= 2);
  run.process.signal(SIGKILL);
  CHECK(run.process.wait(a_minute).signal == SIGKILL);
  for (const pid_t process : folder.processes_after(a_minute)) {
    INFO(arguments_of(process));
    CHECK(process == 0);
  }
  const Recorded recorded = recording(run.file);
  CHECK(recorded.damage.cut_short);
  CHECK(last_step(*recorded.view, 0) > 0);
}

TEST_CASE("a run removes what killed supervisors left behind, and only that") {
  const Folder folder;
  namespace fs = std::filesystem;
  const fs::path left = folder / "rankscope-abcdef", young = folder / "rankscope-ghijkl",
                 other = folder / "rankscope-x";
  for (const fs::path& path : {left, young, other}) fs::create_directories(path / "spool");
  for (const fs::path& path : {left, young}) folder.file(path.filename().string() + "/supervisor", "");
  for (const fs::path& path : {left, other}) fs::last_write_time(path, fs::file_time_type::clock::now() - 1h);
  CHECK(engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "1"})).status == 0);
  CHECK(!fs::exists(left));
  CHECK(fs::exists(young));  // its supervisor may not have reached its lock yet
  CHECK(fs::exists(other));  // not a session's
}

TEST_CASE("a run does not read its caller's standard input") {
  const Folder folder;
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  const Arguments run = with_small_model({"run", lab("pipeline-1f1b"), "--steps", "1", "--comm", comm});
  const Ended ended = Process(folder, {"/bin/sh", "-c", quoted(engine_command(run)) + " >/dev/null && cat"},
                              {.environment = {}, .input = "the rest of a script"})
                          .wait(a_minute);
  INFO(ended.err);
  CHECK(ended.out == "the rest of a script");
}

TEST_CASE("a full disk ends the recording, with a message, and not the training") {
  const Folder folder;
  const std::string file = (folder / "run.mcap").string();
  // No file of this run may grow beyond 1000 blocks of 512 bytes.
  const std::string line = "ulimit -f 1000; trap '' XFSZ; exec " +
                           quoted(engine_command(with_small_model(
                               {"run", lab("pipeline-1f1b"), "--steps", "100", "--json", "--record", file})));
  const Ended ended = Process(folder, {"/bin/sh", "-c", line}).wait(a_minute);
  INFO(ended.err);
  CHECK(ended.status == 1);
  CHECK(ended.err.find("--record " + file + ": ") != std::string::npos);
  CHECK(ended.err.find("messages are not in the recording") != std::string::npos);
  const json report = parse_json(ended.out);
  CHECK(report["steps"].size() == 100);
  CHECK(last_step(*recording(file).view, 0) >= 0);
  REQUIRE(report["faults"].size() == 1);
  CHECK_THAT(report["faults"][0].get<std::string>(), ContainsText(" messages not in the recording: " + file + ": "));
}

TEST_CASE("a full disk is reported while the run goes on") {
  const Folder folder;
  const std::string file = (folder / "run.mcap").string();
  const std::string line =
      "ulimit -f 2000; trap '' XFSZ; exec " +
      quoted(engine_command(with_small_model({"run", lab("pipeline-1f1b"), "--steps", "100000", "--record", file})));
  Process run(folder, {"/bin/sh", "-c", line});
  const std::string words = run.line_of_errors("rankscope-engine: --record " + file + ": ", a_minute);
  CHECK_THAT(words, ContainsText("cannot write: ") &&
                        ContainsText("; the recording has gaps from now on, and the run goes on"));
  run.signal(SIGTERM);
  CHECK(run.wait(a_minute).status == status::stopped);
  // The recording says itself how much of it is missing.
  const json stats = only_object(trace_tool(folder, {"stats", file, "--json"}));
  REQUIRE(stats["faults"].size() == 1);
  CHECK_THAT(stats["faults"][0].get<std::string>(), ContainsText(" messages not in the recording: " + file + ": "));
  const json info = only_object(trace_tool(folder, {"info", file, "--json"}));
  CHECK(info["unrecorded_messages"].get<int>() > 0);
  CHECK(info["damage"]["any"] == false);
  CHECK(info["ended"]["ok"] == false);
}

TEST_CASE("a rank that is stopped is named within seconds, and again when it continues") {
  const Folder folder;
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO(comm);
  LongRun run(folder, {"--comm", comm});
  pid_t victim = 0;
  if (comm == "mpi") {
    victim = mpi_ranks(folder).at(2);
  } else {
    for (const pid_t process : folder.processes())
      if (process != run.process.pid()) victim = process;
  }
  REQUIRE(victim > 0);
  REQUIRE(kill(victim, SIGSTOP) == 0);
  const auto begin = std::chrono::steady_clock::now();
  const std::string who = comm == "mpi" ? "rankscope-engine: rank 2 " : "rankscope-engine: ranks 0 to 3 ";
  const std::string line =
      run.process.line_of_errors(who + (comm == "mpi" ? "is" : "are") + " silent since ", a_minute);
  CHECK(std::chrono::steady_clock::now() - begin < some_seconds);
  INFO(line);
  CHECK(line.find("after step ") != std::string::npos);
  CHECK(line.find("kill -CONT " + std::to_string(victim)) != std::string::npos);
  REQUIRE(kill(victim, SIGCONT) == 0);
  CHECK(!run.process.line_of_errors(who + (comm == "mpi" ? "reports" : "report") + " agai", a_minute).empty());
  // When it is stopped again, the run is requested to end.
  REQUIRE(kill(victim, SIGSTOP) == 0);
  run.process.signal(SIGTERM);
  const Ended ended = run.process.wait(a_minute);
  CHECK(ended.in_time);
  CHECK(ended.status == status::stopped);
  CHECK(folder.processes_after(a_minute).empty());
}

TEST_CASE("a rank that stays stopped ends the run within seconds, which names it") {
  const Folder folder;
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO(comm);
  LongRun run(folder, {"--comm", comm});
  pid_t victim = 0;
  if (comm == "mpi") {
    victim = mpi_ranks(folder).at(2);
  } else {
    for (const pid_t process : folder.processes())
      if (process != run.process.pid()) victim = process;
  }
  REQUIRE(victim > 0);
  REQUIRE(kill(victim, SIGSTOP) == 0);
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = run.process.wait(a_minute);
  CHECK(std::chrono::steady_clock::now() - begin < some_seconds);
  INFO(ended.err);
  CHECK(ended.status == status::rank_lost);
  CHECK_THAT(ended.err, ContainsText(": its process " + std::to_string(victim) + " was stopped by a signal for "));
  if (comm == "mpi") CHECK(named_step(ended.err, 2) >= 0);
  CHECK(folder.processes_after(a_minute).empty());
}

TEST_CASE("shared memory of ranks whose supervisor was killed is removed by the next run") {
  if (!can_use_mpi()) return;
  namespace fs = std::filesystem;
  const auto shared = [] {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator("/dev/shm")) names.insert(entry.path().filename().string());
    return names;
  };
  const Folder folder;
  LongRun run(folder, {"--comm", "mpi"});
  REQUIRE(folder.sessions().size() == 1);
  const fs::path session = folder.sessions().front();
  std::ifstream notes(session / "shared-memory");
  std::set<std::string> noted;
  for (std::string line; std::getline(notes, line);) noted.insert(fs::path(line).filename().string());
  CHECK(!noted.empty());
  run.process.signal(SIGKILL);
  run.process.wait(a_minute);
  CHECK(folder.processes_after(a_minute).empty());
  // Newer ones may belong to a run that begins.
  fs::last_write_time(session, fs::file_time_type::clock::now() - 1h);
  CHECK(engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "1"})).status == 0);
  CHECK(folder.sessions().empty());
  for (const std::string& name : shared()) CHECK(!noted.contains(name));
}
