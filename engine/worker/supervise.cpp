#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "engine/checkpoint/checkpoint.hpp"
#include "engine/comm/nccl.hpp"
#include "engine/facts/facts.hpp"
#include "engine/progress/progress_line.hpp"
#include "engine/run/clock.hpp"
#include "engine/run/platform.hpp"
#include "engine/scenario/read.hpp"
#include "engine/worker/child.hpp"
#include "engine/worker/launch.hpp"
#include "engine/worker/plan_text.hpp"
#include "engine/worker/provenance.hpp"
#include "engine/worker/reach.hpp"
#include "engine/worker/recorder.hpp"
#include "engine/worker/session_directory.hpp"
#include "engine/worker/supervise.hpp"
#include "telemetry/event/codec.hpp"
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

/// Ranks that would share cores keep true time on the device clock only. Of processes, "auto" is left to the workers,
/// which know how many of them are on a host.
std::string headline_clock(const Scenario& scenario, const RunRequest& request) {
  if (request.clock != "auto") return request.clock;
  if (!is_platform(request.device)) return "wall";
  if (request.device != "cpu")  // ranks of one process share its GPU
    return scenario.plan.ranks() > 1 && request.communicator == "loopback" ? "device" : "wall";
  if (request.communicator != "loopback") return request.clock;
  return scenario.plan.ranks() * request.threads > static_cast<int>(std::thread::hardware_concurrency()) ? "device"
                                                                                                         : "wall";
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
  meeting.relay.endpoint = request.publish;
  if (request.publish.empty())
    meeting.relay.endpoint = may_span_hosts(request) ? "tcp://0.0.0.0:*" : "ipc://" + (directory / "relay").string();
  if (!request.join_file.empty() || may_span_hosts(request)) {
    meeting.keys = new_relay_keys();
    meeting.relay.keys = meeting.keys.relay;
    meeting.relay.admitted = meeting.keys.admitted();
  }
  return meeting;
}

/// On standard error; or on the launcher's, which passes on nothing more once it ends its processes.
void say_at_the_end(const std::string& line, const LaunchedJob& job) {
  if (stop_asked && job.launcher_errors >= 0 &&
      write(job.launcher_errors, line.data(), line.size()) == static_cast<ssize_t>(line.size()))
    return;
  std::cerr << line << std::flush;
}

/// Until each rank has said that it ends, or the limit is over: one that was killed does not.
void wait_for_ends(const SessionWatch& watch, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!watch.all_ended() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
}

/// Whether an endpoint is bound to all addresses of this machine.
bool is_wildcard(const std::string& endpoint) {
  return endpoint.starts_with("tcp://0.0.0.0:") || endpoint.starts_with("tcp://*:") ||
         endpoint.starts_with("tcp://[::]:");
}

/// How far a run is: its steps, where rank 0 is.
class Steps {
 public:
  Steps(const Scenario& scenario, const RunRequest& request, const Progress& progress)
      : first_(request.resume.empty() ? 0 : Checkpoint(request.resume).steps_done()),
        last_(scenario.train.steps),
        progress_(progress) {}
  void tell(std::int64_t last_step) const {
    if (!progress_) return;
    const std::int64_t done = std::max<std::int64_t>(last_step + 1, first_);
    if (last_step < 0)
      progress_("starting the ranks and measuring their ops", share_not_known);
    else
      progress_("step " + std::to_string(done) + " of " + std::to_string(last_),
                static_cast<double>(done - first_) / static_cast<double>(last_ - first_));
  }

 private:
  const std::int64_t first_, last_;
  const Progress& progress_;
};

/// Runs the child to its end, or ends it when asked to. What it says goes to the watch, and into `said`.
ChildExit run_child(ChildProcess& child, SessionWatch& watch, std::deque<std::string>& said, const Steps& steps) {
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
    steps.tell(watch.last_step(0));
    if (stop_asked && !asked) {
      asked = true;
      child.signal(SIGTERM);
      patience = std::chrono::steady_clock::now() + 3s;
    }
    if (std::chrono::steady_clock::now() > patience) child.signal(SIGKILL);
  }
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
  if (request.communicator == "nccl") check_nccl(request);
  if (request.publish.empty()) return;
  if (may_span_hosts(request) && is_this_machine(request.publish))
    throw ScenarioError("--publish " + request.publish +
                        ": it reaches this machine alone, and ranks may be on others; give an address of the network, "
                        "such as tcp://0.0.0.0:7447, with --join-file FILE");
  check_publishable(request.publish, !request.join_file.empty());
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

Attempt run_session(const Scenario& scenario, const RunRequest& request, const Progress& progress) {
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
  job.scenario = to_toml(scenario);
  job.join = to_string(relay.join(meeting.keys.worker, "127.0.0.1"));
  job.host = host_name();
  if (may_span_hosts(request) && is_wildcard(meeting.relay.endpoint)) job.addresses = own_addresses();
  job.request = request;
  job.request.clock = headline_clock(scenario, request);
  job.start_ns = monotonic_ns();
  if (!request.join_file.empty()) write_join_file(request.join_file, relay.join(meeting.keys.viewer));
  // Last of what can be refused, because it replaces a recording of that name.
  if (!request.record.empty()) recorder.open(request.record);
  if (!request.publish.empty()) std::cerr << "viewers: " << relay.endpoint() << std::endl;

  std::vector<std::string> environment = environment_of(job), more = launch_environment(request);
  environment.insert(environment.end(), more.begin(), more.end());
  ChildProcess child(worker_command(scenario, request), environment);
  std::deque<std::string> said;
  const ChildExit exit = run_child(child, watch, said, {scenario, request, progress});
  if (request.launched && exit.signal != 0 && !stop_asked) watch.lost(0);
  // A launcher leaves its processes a second when it ends them, and passes on nothing after it.
  const bool is_hurried = request.launched && (stop_asked || !exit.ok());
  if (is_hurried) wait_for_ends(watch, 300ms);
  relay.finish(is_hurried ? 100ms : 5s);
  Verdict verdict = watch.verdict(exit);
  // A launcher ends all its processes when one is lost, and when it is asked to stop.
  if (stop_asked && !verdict.ok && !(request.launched && verdict.died))
    verdict.message =
        "stopped by " + (request.launched ? request.launched->launcher : "request") +
        (verdict.last_step < 0 ? " before it finished a step" : " after step " + std::to_string(verdict.last_step));
  if (request.launched) {
    if (!verdict.ok) say_at_the_end("rankscope-engine: " + verdict.message + "\n", *request.launched);
    relay.finish(5s);
  }
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
  if (!request.launched) attempt.message = verdict.message;
  if (verdict.rank < 0 && !stop_asked) attempt.said.assign(said.begin(), said.end());
  return attempt;
}

int run_supervised(const Scenario& given, const RunRequest& asked) {
  check_launch(given, asked);
  check_request(asked);
  Scenario scenario = with_absolute_data(given);
  RunRequest request = with_checkpoints(scenario, asked);
  stop_on_signals();  // from here on there is a directory to remove

  for (int number = 1;; ++number) {
    if (!request.checkpoint.empty()) remove_partial_checkpoints(request.checkpoint);
    const Attempt attempt = [&] {
      ProgressLine line("run");
      return run_session(scenario, request, line.progress());
    }();
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
