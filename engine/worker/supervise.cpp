#include <netdb.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "engine/checkpoint/checkpoint.hpp"
#include "engine/comm/mpi.hpp"
#include "engine/comm/nccl.hpp"
#include "engine/facts/facts.hpp"
#include "engine/run/clock.hpp"
#include "engine/run/platform.hpp"
#include "engine/scenario/read.hpp"
#include "engine/worker/child.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/recorder.hpp"
#include "engine/worker/session_directory.hpp"
#include "engine/worker/supervise.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/event/stopped.hpp"
#include "telemetry/relay/relay.hpp"
#include "telemetry/relay/session_watch.hpp"
#include "telemetry/store/run_digest.hpp"
#include "telemetry/stream/publisher.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A signal handler can reach nothing else. It runs on whichever thread the signal is given to.
std::atomic<bool> stop_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);
void ask_to_stop(int) { stop_asked = true; }

/// Ranks that would share cores keep true time on the device clock only.
std::string headline_clock(const Scenario& scenario, const RunRequest& request) {
  if (request.clock != "auto") return request.clock;
  if (!is_platform(request.device)) return "wall";
  if (request.device != "cpu")  // ranks of one process share its GPU
    return scenario.plan.ranks() > 1 && request.communicator == "loopback" ? "device" : "wall";
  return scenario.plan.ranks() * request.threads > static_cast<int>(std::thread::hardware_concurrency()) ? "device"
                                                                                                         : "wall";
}

/// Is that program in one of PATH's folders?
bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder.empty() ? "." : folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

std::vector<std::string> worker_command(const Scenario& scenario, const RunRequest& request) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  if (request.communicator == "loopback") return {self, "worker"};
  std::vector<std::string> command{
      "mpirun", "-n",           std::to_string(scenario.plan.ranks()), "--oversubscribe", "--bind-to", "none",
      "-x",     "RANKSCOPE_JOB"};
  if (geteuid() == 0) command.push_back("--allow-run-as-root");
  command.insert(command.end(), {self, "worker"});
  return command;
}

/// The relay's options and, with keys, the join string of the workers.
struct Meeting {
  RelayOptions relay;
  RelayKeys keys;
};
Meeting make_meeting(const RunRequest& request, const fs::path& directory, const SessionId& session) {
  Meeting meeting;
  meeting.relay.session = session;
  meeting.relay.spool_directory = (directory / "spool").string();
  meeting.relay.endpoint = request.publish.empty() ? "ipc://" + (directory / "relay").string() : request.publish;
  if (!request.join_file.empty()) {
    meeting.keys = new_relay_keys();
    meeting.relay.keys = meeting.keys.relay;
    meeting.relay.admitted = meeting.keys.admitted();
  }
  return meeting;
}

/// Runs the child to its end, or ends it when asked to. What it says goes to the watch, and into `said`.
ChildExit run_child(ChildProcess& child, SessionWatch& watch, std::deque<std::string>& said) {
  constexpr std::size_t kept_lines = 40;
  bool asked = false;
  auto patience = std::chrono::steady_clock::time_point::max();
  for (;;) {
    const auto status = child.wait(50ms, [&](const std::string& line) {
      watch.launcher_said(line);
      said.push_back(line);
      if (said.size() > kept_lines) said.pop_front();
    });
    if (status) return child_exit(*status);
    if (stop_asked && !asked) {
      asked = true;
      child.signal(SIGTERM);
      patience = std::chrono::steady_clock::now() + 3s;
    }
    if (std::chrono::steady_clock::now() > patience) child.signal(SIGKILL);
  }
}

/// Where workers find a relay that is bound to all addresses. Threads of one process are on this machine; processes may
/// be elsewhere, and get its name if it is one that can be resolved.
std::string address_for_workers(const RunRequest& request) {
  const std::string here = "127.0.0.1";
  if (request.communicator == "loopback") return here;
  std::array<char, 256> name{};
  addrinfo* found = nullptr;
  if (gethostname(name.data(), name.size() - 1) != 0 || getaddrinfo(name.data(), nullptr, nullptr, &found) != 0)
    return here;
  freeaddrinfo(found);
  return name.data();
}

/// The checkpoint that `request.resume` names, or the newest of the folder that it names, where the scenario can go on
/// from it. Throws ScenarioError.
RunRequest resumed(const Scenario& scenario, RunRequest request) {
  const auto found = checkpoints_in(fs::absolute(request.resume).string());
  if (found.empty()) throw ScenarioError("--resume " + request.resume + ": there is no complete checkpoint");
  try {
    const Checkpoint checkpoint(found.back());
    if (const auto mismatch = checkpoint.find_mismatch(scenario)) throw ScenarioError("--resume: " + *mismatch);
    if (checkpoint.steps_done() >= scenario.train.steps)
      throw ScenarioError("--resume " + found.back() + ": it has done " + std::to_string(checkpoint.steps_done()) +
                          " steps and train.steps is " + std::to_string(scenario.train.steps) +
                          "; give --steps with more");
  } catch (const CheckpointError& e) {
    throw ScenarioError(std::string("--resume ") + e.what());
  }
  request.resume = found.back();
  return request;
}

/// "trace.mcap" and 2: "trace.2.mcap".
std::string numbered(const std::string& path, int number) {
  const fs::path p(path);
  return (p.parent_path() / (p.stem().string() + "." + std::to_string(number) + p.extension().string())).string();
}

/// Where the run finds and leaves its checkpoints, as absolute paths. Throws ScenarioError.
RunRequest with_checkpoints(const Scenario& scenario, RunRequest request) {
  if (scenario.train.checkpoint_every == 0 && (!request.checkpoint.empty() || request.restarts > 0))
    throw ScenarioError(std::string(request.checkpoint.empty() ? "--restarts" : "--checkpoint") +
                        ": nothing asks for checkpoints; add --checkpoint-every STEPS, or train.checkpoint_every to "
                        "the scenario");
  if (scenario.train.checkpoint_every > 0) {
    if (request.checkpoint.empty())
      request.checkpoint =
          (scenario.file.empty() ? std::string("run") : fs::path(scenario.file).stem().string()) + ".checkpoints";
    request.checkpoint = fs::absolute(request.checkpoint).string();
  }
  if (!request.resume.empty()) request = resumed(scenario, std::move(request));
  // Fresh checkpoints among an older run's would make a mixture that nobody can tell apart.
  if (!request.checkpoint.empty() && request.resume.empty())
    if (const auto older = checkpoints_in(request.checkpoint); !older.empty())
      throw ScenarioError("--checkpoint " + request.checkpoint + ": an earlier run has left checkpoints there, up to " +
                          fs::path(older.back()).filename().string() + "; go on from them with --resume " +
                          request.checkpoint + ", or choose another folder");
  return request;
}

void tell(const Attempt& attempt) {
  for (const std::string& line : attempt.said) std::cerr << line << "\n";
  if (!attempt.message.empty()) std::cerr << "rankscope-engine: " << attempt.message << std::endl;
}

}  // namespace

void check_nccl(const RunRequest& request) {
  if (request.device != "cuda")
    throw ScenarioError("--comm nccl: it moves what lies on GPUs; add --device cuda, or use --comm loopback");
  try {
    check_platform(request.device);
    check_nccl_library();
  } catch (const DeviceError& e) {
    throw ScenarioError(std::string("--comm nccl: ") + e.what());
  } catch (const CommError& e) {
    throw ScenarioError(std::string("--comm nccl: ") + e.what());
  }
}

void check_request(const RunRequest& request) {
  std::string error;
  if (!parse_keep(request.keep, &error)) throw ScenarioError("--keep: " + error);
  if (request.clock == "device" && !is_platform(request.device))
    throw ScenarioError("--clock device: it is made of the CPU time that ops took, and --device " + request.device +
                        " takes none; use --clock wall");
  if (request.communicator != "loopback") {
    const std::string how = "--comm " + request.communicator;
    if (!mpi_is_built_in())
      throw ScenarioError(how + ": this rankscope-engine was built without MPI; use --comm loopback");
    if (!is_in_path("mpirun"))
      throw ScenarioError(how + ": there is no mpirun in PATH; install Open MPI, or use --comm loopback");
  }
  if (request.communicator == "nccl") check_nccl(request);
  if (!request.publish.empty()) check_publishable(request.publish, !request.join_file.empty());
}

Scenario with_absolute_data(Scenario scenario) {
  if (const std::string file = data_file(scenario); !file.empty())
    scenario.data.source =
        scenario.data.source.substr(0, scenario.data.source.find(':') + 1) + fs::absolute(file).string();
  return scenario;
}

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_was_asked() { return stop_asked; }

Attempt run_session(const Scenario& scenario, const RunRequest& request) {
  const SessionDirectory directory;
  const SessionId session = new_session_id();
  fs::create_directory(directory.path() / "spool");
  fs::permissions(directory.path() / "spool", fs::perms::owner_all);
  std::ofstream(directory.path() / scenario_file_name) << to_toml(scenario);

  RunDigest digest;
  SessionWatch watch;
  Recorder recorder;
  const Meeting meeting = make_meeting(request, directory.path(), session);
  Relay relay(meeting.relay, {&digest, &watch, &recorder});

  WorkerJob job;
  job.directory = directory.path().string();
  job.session = to_string(session);
  job.join = to_string(relay.join(meeting.keys.worker, address_for_workers(request)));
  job.request = request;
  job.request.clock = headline_clock(scenario, request);
  job.start_ns = monotonic_ns();
  if (!request.join_file.empty()) write_join_file(request.join_file, relay.join(meeting.keys.viewer));
  // Last of what can be refused, because it replaces a recording of that name.
  if (!request.record.empty()) recorder.open(request.record);
  if (!request.publish.empty()) std::cerr << "viewers: " << relay.endpoint() << std::endl;

  ChildProcess child(worker_command(scenario, request), environment_of(job));
  std::deque<std::string> said;
  const ChildExit exit = run_child(child, watch, said);
  relay.finish(5s);
  Verdict verdict = watch.verdict(exit);
  if (stop_asked && !verdict.ok)
    verdict.message = std::string(stopped_by_request) +
                      (verdict.last_step < 0 ? " before it finished a step"
                                             : " after step " + std::to_string(verdict.last_step));
  relay.publish(verdict.end());
  relay.finish(2s);
  const std::string not_recorded = recorder.close();

  Attempt attempt;
  const auto view = digest.view();
  if (view->hello() && verdict.last_step >= 0) attempt.facts = facts_of_run(*view, context_of(*view));
  if (!not_recorded.empty()) std::cerr << "rankscope-engine: --record " << not_recorded << std::endl;
  attempt.status = verdict.ok && not_recorded.empty() ? 0 : 1;
  attempt.lost_a_rank = !verdict.ok;
  if (verdict.ok) return attempt;
  attempt.message = verdict.message;
  if (verdict.rank < 0 && !stop_asked) attempt.said.assign(said.begin(), said.end());
  return attempt;
}

int run_supervised(const Scenario& given, const RunRequest& asked) {
  check_request(asked);
  Scenario scenario = with_absolute_data(given);
  RunRequest request = with_checkpoints(scenario, asked);
  stop_on_signals();  // from here on there is a directory to remove

  for (int number = 1;; ++number) {
    if (!request.checkpoint.empty()) remove_partial_checkpoints(request.checkpoint);
    const Attempt attempt = run_session(scenario, request);
    tell(attempt);
    const bool again = attempt.lost_a_rank && !stop_asked && number <= request.restarts;
    const auto complete = again ? checkpoints_in(request.checkpoint) : std::vector<std::string>{};
    if (again && complete.empty()) std::cerr << "rankscope-engine: there is no checkpoint to go on from" << std::endl;
    if (complete.empty()) {
      if (attempt.facts) print(make_report(*attempt.facts), request.json);
      return attempt.status;
    }
    request.resume = complete.back();
    if (!request.record.empty()) request.record = numbered(asked.record, number + 1);
    scenario.fault.kill_rank = scenario.fault.kill_step = -1;  // it has happened
    std::cerr << "rankscope-engine: going on from " << request.resume
              << (request.record.empty() ? "" : ", recording to " + request.record) << std::endl;
  }
}

}  // namespace rankscope
