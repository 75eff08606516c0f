#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include "engine/base/host/file_lock.hpp"
#include "engine/base/host/threads.hpp"
#include "engine/base/progress/progress_line.hpp"
#include "engine/execute/checkpoint/checkpoint.hpp"
#include "engine/execute/comm/nccl.hpp"
#include "engine/execute/run/core_ticks.hpp"
#include "engine/execute/run/platform.hpp"
#include "engine/explain/facts/facts.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/worker/checkpoint_choice.hpp"
#include "engine/worker/child.hpp"
#include "engine/worker/descriptors.hpp"
#include "engine/worker/exit_status.hpp"
#include "engine/worker/launch.hpp"
#include "engine/worker/launcher_end.hpp"
#include "engine/worker/print.hpp"
#include "engine/worker/reach.hpp"
#include "engine/worker/recorder.hpp"
#include "engine/worker/silence.hpp"
#include "engine/worker/step_marks.hpp"
#include "engine/worker/stop_requests.hpp"
#include "engine/worker/supervise.hpp"
#include "engine/worker/worker_setup.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/event/stopped.hpp"
#include "telemetry/relay/relay.hpp"
#include "telemetry/relay/session_watch.hpp"
#include "telemetry/store/run_digest.hpp"
#include "telemetry/stream/publisher.hpp"
#include "telemetry/stream/session_directory.hpp"
#include "telemetry/trace/output_file.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Throws ScenarioError if the requested clock cannot show the scenario's faults.
void check_clock(const Scenario& scenario, const RunRequest& request) {
  if (scenario.fault.slow_rank >= 0 && request.clock == ClockChoice::wall && computes(request.device))
    throw ScenarioError(
        fmt::format("--clock wall: fault.slow_rank = {} is slow on the device clock, where its measured costs are "
                    "multiplied, and in runs of --device sleep; use --clock device",
                    scenario.fault.slow_rank));
}

/// On standard error; or on the launcher's, which forwards no more output once it ends its processes.
void print_at_end(const std::string& line, const LaunchedJob& job) {
  if (stop_was_asked() && job.launcher_errors >= 0 &&
      write(job.launcher_errors, line.data(), line.size()) == static_cast<ssize_t>(line.size()))
    return;
  std::cerr << line << std::flush;
}

/// Waits until each rank has reported its end, or the limit has elapsed: a killed rank reports none.
void wait_for_ends(const SessionWatch& watch, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (watch.unended() > 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
}

/// A run's progress: its steps, by rank 0.
class Steps {
 public:
  Steps(const Scenario& scenario, const RunRequest& request, const Progress& progress)
      : first_(request.resume.empty() ? 0 : Checkpoint(request.resume).steps_done()),
        last_(scenario.train.steps),
        progress_(progress) {}
  /// Other output may be written.
  void make_room() const {
    if (progress_) progress_({}, share_not_known);
  }
  void show(std::int64_t last_step) const {
    if (!progress_) return;
    const std::int64_t done = std::max<std::int64_t>(last_step + 1, first_);
    if (last_step < 0)
      progress_("starting the ranks and measuring their ops", share_not_known);
    else
      progress_(fmt::format("step {} of {}", done, last_),
                static_cast<double>(done - first_) / static_cast<double>(last_ - first_));
  }

 private:
  const std::int64_t first_, last_;
  const Progress& progress_;
};

/// Says once each, when it happens: that the loss is not finite, and that the recording is not complete.
class RunNotices {
 public:
  RunNotices(const SessionWatch& watch, Recorder& recorder, const RunRequest& request, const Steps& progress)
      : watch_(watch), recorder_(recorder), request_(request), progress_(progress) {}

  /// True when the run has to end for its loss: once.
  bool next() {
    if (const std::string trouble = has_trouble_ ? "" : recorder_.trouble(); !trouble.empty()) {
      has_trouble_ = true;
      say("--record " + trouble + "; the recording has gaps from now on, and the run goes on");
    }
    const auto since = has_no_loss_ ? std::nullopt : watch_.loss_not_finite_since();
    if (!since) return false;
    has_no_loss_ = true;
    say(fmt::format("the loss is not finite since step {}", *since) +
        (request_.stops_on_nan() ? "" : "; the run goes on (--stop-on nan would end it)"));
    return request_.stops_on_nan();
  }

 private:
  void say(const std::string& line) const {
    progress_.make_room();
    std::cerr << "rankscope-engine: " << line << std::endl;
  }

  const SessionWatch& watch_;
  Recorder& recorder_;
  const RunRequest& request_;
  const Steps& progress_;
  bool has_no_loss_ = false, has_trouble_ = false;
};

/// How the child ended, why this process ended it, and which ranks were silent then, with their times.
struct ChildEnd {
  ChildExit exit;
  std::string not_saved;       ///< why it was ended before it had written the last checkpoint; empty: it was not
  bool launcher_hung = false;  ///< after its ranks had ended: `exit` is not theirs
  std::optional<SilentEnd> silence;
  std::map<std::int32_t, std::string> silent;
};

RankPlaces places_of(const RunRequest& request, pid_t child, const fs::path& directory) {
  const char* job = request.launched ? std::getenv("PMIX_NAMESPACE") : nullptr;
  return {child, request.communicator == CommunicatorKind::loopback, may_span_hosts(request), job ? job : "",
          directory};
}

/// Whether mpirun's local processes show that the job has ended: of ranks on other hosts mpirun keeps no process here,
/// so all ranks must have reported their ends.
bool local_processes_decide(const SessionWatch& watch, const RankPlaces& places) {
  if (places.one_process || !places.launched_namespace.empty()) return false;
  return !places.other_hosts || (watch.greatest_step() >= 0 && watch.unended() == 0);
}

/// The signals that reach every process of a terminal or a job must not end a run that is to save its last step.
ChildProcess::Signals signals_of(const RunRequest& request) {
  const bool by_mpirun = request.launched && request.launched->launcher == Launcher::mpirun;
  if (request.checkpoint.empty() || by_mpirun) return {SIGTERM, {}};
  const bool is_mpirun = request.communicator != CommunicatorKind::loopback && !request.launched;
  return {SIGUSR2, is_mpirun ? std::vector<int>{SIGINT, SIGTERM, SIGHUP} : std::vector<int>{}};
}

/// Decides when a child that is to stop is asked, and when it is ended.
class Stopping {
 public:
  enum class Act { none, ask, end };
  explicit Stopping(const RunRequest& request) : request_(request) {}

  Act next() {
    const int requests = stop_requests();
    const auto now = std::chrono::steady_clock::now();
    if (requests == 0 || has_ended_) return Act::none;
    const bool asks = !request_.checkpoint.empty() && requests == 1;
    if (asks && !until_) {
      until_ = now + std::chrono::seconds(request_.grace);
      return Act::ask;
    }
    if (asks && now < *until_) return Act::none;
    has_ended_ = true;
    if (!request_.checkpoint.empty())
      not_saved_ = asks ? fmt::format("--grace {} was over", request_.grace) : "a second signal ended the run";
    return Act::end;
  }
  const std::string& not_saved() const { return not_saved_; }

 private:
  const RunRequest& request_;
  std::optional<std::chrono::steady_clock::time_point> until_;
  bool has_ended_ = false;
  std::string not_saved_;
};

void report_hung_launcher(pid_t launcher) {
  std::cerr << fmt::format(
                   "rankscope-engine: mpirun (process {}) did not end although all its processes had ended, and was "
                   "killed; it can hang if it could not make a thread{}",
                   launcher, thread_limits())
            << std::endl;
}

/// Runs the child to its end, or ends it on request. Its output is passed to the watch and to `last_output`;
/// ranks that become silent are reported on standard error meanwhile.
ChildEnd run_child(ChildProcess& child, SessionWatch& watch, const RankPlaces& places, const RunRequest& request,
                   RunNotices& notices, std::deque<std::string>& last_output, const Steps& progress) {
  constexpr std::size_t kept_lines = 40;
  Stopping stopping(request);
  auto patience = std::chrono::steady_clock::time_point::max();
  SilenceLimits limits;
  limits.peers_wait = CommOptions{}.time_limit;
  SilenceReport silence(watch, places, limits);
  LauncherEnd launcher(child.pid());
  ChildEnd end;
  std::set<std::string> noted;
  for (;;) {
    const auto status = child.wait(50ms, [&](const std::string& line) {
      const bool is_note = line.starts_with(worker_note);
      if (is_note && !noted.insert(line).second) return;  // another process has printed it
      if (is_note || line.starts_with(not_admitted)) {
        progress.make_room();
        std::cerr << line << std::endl;
        return;
      }
      watch.read_launcher_line(line);
      last_output.push_back(line);
      if (last_output.size() > kept_lines) last_output.pop_front();
    });
    if (status) {
      end.exit = child_exit(*status);
      end.silent = silence.silent();
      end.not_saved = stopping.not_saved();
      return end;
    }
    progress.show(watch.last_step(0));
    if (!stop_was_asked())
      silence.poll([&](const std::string& line) {
        progress.make_room();
        std::cerr << "rankscope-engine: " << line << std::endl;
      });
    const bool was_silent = end.silence.has_value();
    if (!stop_was_asked() && !was_silent && (end.silence = silence.over()))
      for (const pid_t process : end.silence->processes) kill(process, SIGKILL);
    const bool gives_up = end.silence && !was_silent;
    const Stopping::Act act = stopping.next();
    if (act == Stopping::Act::ask) {
      progress.make_room();
      std::cerr << fmt::format(
                       "rankscope-engine: stopping with a checkpoint after the current step, within {} s; a second "
                       "signal ends the run at once",
                       request.grace)
                << std::endl;
      child.signal(SIGUSR1);
    }
    const bool ends = notices.next() || act == Stopping::Act::end;
    if (ends || (gives_up && end.silence->processes.empty())) child.end();
    if (ends || gives_up) patience = std::chrono::steady_clock::now() + 3s;
    if (std::chrono::steady_clock::now() > patience) child.signal(SIGKILL);
    if (!end.launcher_hung && local_processes_decide(watch, places) && launcher.is_overdue()) {
      progress.make_room();
      report_hung_launcher(child.pid());
      end.launcher_hung = true;
      child.signal(SIGKILL);
    }
  }
}

/// The line in which a process that ended by itself printed the reason, without its name. Empty: there is none.
std::string reason_in(const std::deque<std::string>& last_output) {
  constexpr std::string_view name = "rankscope-engine: ";
  for (const std::string& line : last_output)
    if (line.starts_with(name)) return line.substr(name.size());
  return {};
}

/// ZeroMQ ends the process if it cannot start a thread.
void check_own_threads(const Scenario& scenario, const RunRequest& request) {
  constexpr int own_threads = 4, of_launcher = 4, most_ranks = 64;
  const bool launches = request.communicator != CommunicatorKind::loopback && !request.launched;
  const auto here = ranks_here(scenario, request);
  check_threads(own_threads + (launches ? of_launcher + std::min(here ? here->count() : 0, most_ranks) : 0),
                launches ? "the run's supervisor and the processes that it starts" : "the run's supervisor");
}

/// The outcome of the run, as text.
struct Conclusion {
  Verdict verdict;
  int status = status::done;
  bool has_reason = false;  ///< a process has printed on standard error why it could not begin, or why it ended
};
/// What is saved of a run that was stopped after that step.
std::string saved_of(const RunRequest& request, const ChildEnd& ended, std::int64_t last_step) {
  if (request.checkpoint.empty()) return "";
  const std::vector<std::string> all = checkpoints_in(request.checkpoint);
  if (!all.empty() && fs::path(all.back()).filename() == checkpoint_name(last_step + 1))
    return ", saved in " + all.back();
  return "; not saved" + (ended.not_saved.empty() ? "" : ", because " + ended.not_saved) +
         (all.empty() ? "" : "; the newest checkpoint is " + all.back());
}

Conclusion conclude(const SessionWatch& watch, const ChildEnd& ended, const std::deque<std::string>& last_output,
                    const RunRequest& request, const Scenario& scenario) {
  Verdict verdict = watch.verdict(ended.launcher_hung ? ChildExit{} : ended.exit);
  if (!verdict.ok && ended.launcher_hung) verdict = watch.verdict({EXIT_FAILURE});
  const std::string when =
      verdict.last_step < 0 ? " before it finished a step" : fmt::format(" after step {}", verdict.last_step);
  if (!verdict.ok && ended.silence)
    verdict.message = (ended.silence->rank < 0 ? "the run" : fmt::format("rank {}", ended.silence->rank)) + " ended" +
                      when + ": " + ended.silence->why;
  if (const auto silent = ended.silent.find(verdict.rank); silent != ended.silent.end() && !verdict.explained)
    verdict.message += ": it had been silent since " + silent->second;
  const std::string reason = verdict.ok || verdict.explained ? "" : reason_in(last_output);
  if (!reason.empty()) verdict.message = verdict.rank < 0 ? reason : verdict.message + ": " + reason;
  const bool lost = (verdict.died && reason.empty()) || ended.silence ||
                    (verdict.rank >= 0 && verdict.rank == scenario.fault.kill_rank);
  int status = verdict.ok ? status::done : lost ? status::rank_lost : status::failed;
  const bool is_finished = verdict.ok && !verdict.stopped;
  // A launcher ends all its processes when one is lost, and when it receives a request to stop.
  const bool may_be_lost = request.launched && verdict.died && ended.not_saved.empty();
  if ((stop_was_asked() || verdict.stopped) && !is_finished && !may_be_lost) {
    const bool by_launcher = request.launched && !verdict.ok && ended.not_saved.empty();
    verdict.message =
        (by_launcher ? "stopped by " + name_of(request.launched->launcher) : std::string(stopped_by_request)) + when +
        saved_of(request, ended, verdict.last_step);
    verdict.ok = false;
    status = status::stopped;
  }
  if (const auto since = watch.loss_not_finite_since(); since && request.stops_on_nan() && !stop_was_asked()) {
    verdict.message = fmt::format("ended by --stop-on nan{}: the loss is not finite since step {}", when, *since);
    verdict.ok = false;
    status = status::loss_not_finite;
  }
  if (status == status::stopped || status == status::loss_not_finite) verdict.rank = -1;
  return {verdict, status, !reason.empty()};
}

/// "trace.mcap" and 2: "trace.2.mcap".
std::string numbered(const std::string& path, int number) {
  const fs::path p(path);
  return (p.parent_path() / (fmt::format("{}.{}{}", p.stem().string(), number, p.extension().string()))).string();
}

void show(const SessionOutcome& attempt) {
  for (const std::string& line : attempt.last_output) std::cerr << line << "\n";
  if (!attempt.message.empty()) std::cerr << "rankscope-engine: " << attempt.message << std::endl;
}

}  // namespace

void check_nccl(const RunRequest& request) {
  if (request.device != DeviceKind::cuda)
    throw ScenarioError("--comm nccl: it needs data on GPUs; add --device cuda, or use --comm loopback");
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
  if (request.clock == ClockChoice::device && !computes(request.device))
    throw ScenarioError("--clock device: it uses the CPU time of ops, and with --device " + request.device.name() +
                        " ops use none; use --clock wall");
  if (request.communicator == CommunicatorKind::nccl) check_nccl(request);
  if (request.publish.empty()) return;
  if (may_span_hosts(request) && is_this_machine(request.publish))
    throw ScenarioError("--publish " + request.publish +
                        ": only this machine can reach it, and ranks may be on others; give a network address, "
                        "such as tcp://0.0.0.0:7447, with --join-file FILE");
  check_publishable(request.publish, !request.join_files.empty());
}

Scenario with_absolute_data(Scenario scenario) {
  if (const std::string file = data_file(scenario); !file.empty())
    scenario.data.source =
        scenario.data.source.substr(0, scenario.data.source.find(':') + 1) + fs::absolute(file).string();
  return scenario;
}

SessionOutcome run_session(const Scenario& scenario, const RunRequest& request, const Progress& progress) {
  check_clock(scenario, request);
  need_descriptors(scenario.plan.ranks(), request.communicator);
  check_own_threads(scenario, request);
  const SessionDirectory directory;
  const SessionId session = new_session_id();
  fs::create_directory(directory.path() / "spool");
  fs::permissions(directory.path() / "spool", fs::perms::owner_all);
  std::ofstream(directory.path() / scenario_file_name) << to_toml(scenario);

  RunDigest digest;
  SessionWatch watch;
  Recorder recorder;
  RelaySetup setup = make_relay_setup(request, directory.path(), session);
  setup.relay.alive = [&watch](std::int32_t rank) { watch.alive(rank); };
  Relay relay(setup.relay, {&digest, &watch, &recorder});

  const WorkerJob job = worker_job(scenario, request, directory.path(), session, setup, relay);
  for (std::size_t i = 0; i < request.join_files.size(); ++i)
    write_join_file(request.join_files[i], relay.join(setup.keys.viewers[i]));
  // After all other checks, because it replaces a recording of that name.
  if (!request.record.empty()) recorder.open(request.record, *parse_keep(request.keep), directory.path());
  if (!request.publish.empty()) std::cerr << "viewers: " << relay.endpoint() << std::endl;

  const CoreTicks before = CoreTicks::now();
  ChildProcess child(worker_command(scenario, request), environment_of_child(job, scenario), signals_of(request));
  std::deque<std::string> last_output;
  const Steps steps(scenario, request, progress);
  RunNotices notices(watch, recorder, request, steps);
  const ChildEnd ended =
      run_child(child, watch, places_of(request, child.pid(), directory.path()), request, notices, last_output, steps);
  const double others_share = before.taken_since();
  if (ended.silence && ended.silence->rank >= 0) watch.lost(ended.silence->rank);
  if (request.launched && ended.exit.signal != 0 && !stop_was_asked()) watch.lost(0);
  // A launcher gives its processes a second when it ends them, and forwards no output afterwards.
  const bool has_time = ended.exit.ok() && (!stop_was_asked() || !request.checkpoint.empty());
  const bool is_hurried = request.launched && !has_time;
  if (is_hurried) wait_for_ends(watch, 300ms);
  relay.finish(is_hurried ? 100ms : 5s);
  notices.next();  // of the last steps
  const std::vector<std::int64_t> marks = read_step_marks(directory.path(), scenario.plan.ranks());
  bool any_step = false;  // a step was reported, not only its number
  for (std::int32_t rank = 0; rank < scenario.plan.ranks(); ++rank) {
    any_step = any_step || watch.last_step(rank) >= 0;
    watch.finished(rank, marks[rank]);
  }
  // In a job that was already launched, no launcher's line names the rank that died by itself: all the others were
  // dismissed.
  if (request.launched && !ended.exit.ok())
    if (const auto others = read_not_dismissed(directory.path(), scenario.plan.ranks()); others.size() == 1)
      watch.lost(others.front());
  const auto [verdict, ended_as, has_reason] = conclude(watch, ended, last_output, request, scenario);
  if (request.launched) {
    if (!verdict.ok) print_at_end("rankscope-engine: " + verdict.message + "\n", *request.launched);
    relay.finish(5s);
  }
  relay.publish(verdict.end());
  // A short run can end before a viewer that was started with it has connected.
  const bool must_wait = request.await_viewers > 0 && !stop_was_asked() && !is_hurried;
  relay.finish(must_wait ? 10s : 2s, must_wait ? request.await_viewers : 0);
  if (const std::int64_t forged = relay.status().forged; forged > 0)
    std::cerr << "rankscope-engine: " << forged
              << " messages were ignored: their senders did not prove to be workers of this run" << std::endl;
  const Recorder::Missing missing = recorder.close(relay.status().forged);

  SessionOutcome attempt;
  const auto view = digest.view();
  if (view->hello() && any_step) {
    attempt.facts = facts_of_run(*view, context_of(*view));
    attempt.facts->others_share = others_share;
    attempt.facts->forged_messages = relay.status().forged;
    attempt.facts->unrecorded_messages = missing.messages;
    attempt.facts->unrecorded_reason = missing.reason;
  }
  if (!missing.reason.empty())
    std::cerr << fmt::format("rankscope-engine: --record {}; {} {} not in the recording", missing.reason,
                             counted(missing.messages, "message"), agreeing(missing.messages, "is", "are"))
              << std::endl;
  attempt.status = verdict.ok && !missing.reason.empty() ? status::failed : ended_as;
  attempt.lost_a_rank = ended_as == status::rank_lost || ended_as == status::failed;
  if (verdict.ok) return attempt;
  if (!request.launched) attempt.message = verdict.message;
  if (verdict.rank < 0 && attempt.lost_a_rank && !has_reason && !ended.silence)
    attempt.last_output.assign(last_output.begin(), last_output.end());
  return attempt;
}

int run_supervised(const Scenario& given, const RunRequest& asked) {
  check_launch(given, asked);
  check_request(asked);
  Scenario scenario = with_absolute_data(given);
  if (!asked.record.empty()) check_output(asked.record, {scenario.file, data_file(scenario)});
  FileLock checkpoints;
  RunRequest request = with_checkpoints(scenario, asked, checkpoints);
  // From here on there is a directory to remove.
  stop_on_signals(request.launched && request.launched->launcher == Launcher::mpirun);

  for (int number = 1;; ++number) {
    if (!request.checkpoint.empty()) remove_partial_checkpoints(request.checkpoint);
    const SessionOutcome attempt = [&] {
      ProgressLine line("run");
      return run_session(scenario, request, line.progress());
    }();
    show(attempt);
    const bool again = attempt.lost_a_rank && !stop_was_asked() && number <= request.restarts;
    const WholeCheckpoint newest = again ? newest_whole_checkpoint(request.checkpoint) : WholeCheckpoint{};
    if (again && !newest.checkpoint)
      std::cerr << "rankscope-engine: no checkpoint to continue from: "
                << no_whole_checkpoint(request.checkpoint, newest) << std::endl;
    if (!newest.checkpoint) {
      if (attempt.facts) print(make_report(*attempt.facts), request.json);
      return attempt.status;
    }
    report_choice(newest);
    request.resume = newest.checkpoint->directory();
    if (!request.record.empty()) request.record = numbered(asked.record, number + 1);
    scenario.fault.kill_rank = scenario.fault.kill_step = -1;  // the fault has happened
    std::cerr << "rankscope-engine: continuing from " << request.resume
              << (request.record.empty() ? "" : ", recording to " + request.record) << std::endl;
  }
}

}  // namespace rankscope
