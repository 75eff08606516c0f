// The cost of telemetry in a step: on compared with off, in interleaved pairs, in one process that trains all the time.
//
// On: every lane writes its spans, the publisher drains, spools and sends, a relay in its own process feeds a store and
// a compressing recorder, and the device clock runs, as in `rankscope-engine run --record`. Off: no observer at all.
// Ranks keep all cores of the machine busy, so any work of telemetry takes time from the steps.
//
//   telemetry_share_bench [PAIRS=120] [STEPS=5] [SCENARIO] [DEVICE=cpu|cuda]
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "engine/base/host/clock.hpp"
#include "engine/execute/run/emulated_clock.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/network/link.hpp"
#include "engine/worker/step_marks.hpp"
#include "engine/worker/telemetry_observer.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/relay/relay.hpp"
#include "telemetry/store/run_digest.hpp"
#include "telemetry/stream/worker_proof.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace {

using namespace rankscope;
using namespace std::chrono_literals;

/// Forwards calls while it is on; while it is off, a run's telemetry does nothing.
class Switch : public RankObserver {
 public:
  Switch(Publisher& publisher, StepMarks& marks, EmulatedClock& clock, int rank)
      : inner_(
            publisher, marks,
            [&clock](int r, std::uint32_t step, const StepTrace& trace) { clock.step_done(r, step, trace); }, rank) {}
  bool observes() const override { return on; }
  void span(Lane lane, const Span& span) override {
    if (on) inner_.span(lane, span);
  }
  void memory(Lane lane, const MemorySample& sample) override {
    if (on) inner_.memory(lane, sample);
  }
  void phase(Lane lane, const PhaseSpan& phase) override {
    if (on) inner_.phase(lane, phase);
  }
  void step_done(const StepSummary& summary, const StepTrace& trace) override {
    if (!on) return;
    StepSummary counted = summary;
    counted.step = steps_reported;  // the device clock needs consecutive steps
    inner_.step_done(counted, trace);
    ++steps_reported;
  }
  bool on = false;
  std::uint32_t steps_reported = 0;

 private:
  TelemetryObserver inner_;
};

/// The receiving side as in a run: relay, digest and recorder, until the parent has ended.
[[noreturn]] void serve(const std::string& directory, const SessionId& session, const std::string& run_secret) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  RunDigest digest;
  TraceWriter trace(directory + "/trace.mcap");
  RelayOptions options;
  options.endpoint = "ipc://" + directory + "/relay";
  options.session = session;
  options.run_secret = run_secret;
  options.spool_directory = directory + "/spool";
  const Relay relay(options, {&digest, &trace});
  for (;;) pause();
}

double seconds_of_this_thread() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// CPU time of the threads that exist now, and how often they have slept.
struct Used {
  double seconds = 0;
  long sleeps = 0;
};

/// Of a process's threads, either those of ZeroMQ or all others.
Used used_by(pid_t process, bool zmq) {
  Used used;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::string name, word;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name.starts_with("ZMQbg") != zmq) continue;
    double ns = 0;
    std::ifstream(task.path() / "schedstat") >> ns;
    used.seconds += 1e-9 * ns;
    for (std::ifstream status(task.path() / "status"); status >> word;)
      if (word == "voluntary_ctxt_switches:") {
        long sleeps = 0;
        status >> sleeps;
        used.sleeps += sleeps;
      }
  }
  return used;
}

PublisherOptions options_of(const std::string& directory, const SessionId& session, const std::string& run_secret) {
  PublisherOptions options;
  options.session = session;
  options.spool_directory = directory + "/spool";
  options.relay.endpoint = "ipc://" + directory + "/relay";
  options.relay.run_secret = run_secret;
  return options;
}

/// Prints seconds of a step with and without telemetry, from the pairs.
void print_cost(const std::vector<double>& on_s, const std::vector<double>& off_s, std::uint32_t steps) {
  std::vector<double> cost;
  for (std::size_t i = 0; i < on_s.size(); ++i) cost.push_back(on_s[i] / off_s[i] - 1);
  double mean = 0, square = 0;
  for (const double c : cost) mean += c / static_cast<double>(cost.size());
  for (const double c : cost) square += (c - mean) * (c - mean);
  const double error = std::sqrt(square / static_cast<double>(cost.size() - 1) / static_cast<double>(cost.size()));
  std::sort(cost.begin(), cost.end());
  const auto median = [](std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  };
  fmt::print("{} pairs of {} steps: step {:.2f} ms with telemetry, {:.2f} ms without (medians)\n", cost.size(), steps,
             1e3 * median(on_s), 1e3 * median(off_s));
  fmt::print("cost of telemetry: mean {:+.2f} %, median {:+.2f} %, 95 % upper bound of the mean {:+.2f} % of a step\n",
             100 * mean, 100 * cost[cost.size() / 2], 100 * (mean + 1.645 * error));
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 120;
  const auto steps = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 5);
  const Scenario scenario =
      read_scenario(argc > 3 ? argv[3] : RANKSCOPE_SOURCE_DIR "/scenarios/labs/pipeline-1f1b.toml");
  const std::string directory = make_private_directory("rankscope-bench-");
  std::filesystem::create_directory(directory + "/spool");
  const SessionId session = new_session_id();
  const std::string run_secret = new_run_secret();
  const pid_t server = fork();
  if (server == 0) serve(directory, session, run_secret);
  const StepProgram step = compile(scenario);
  Publisher publisher(options_of(directory, session, run_secret));
  Costs links;
  links.link = [cluster = scenario.cluster](int from, int to) { return cluster_link(cluster, from, to); };
  std::atomic<double> clock_seconds = 0;
  EmulatedClock clock(step.all_programs(), step.grid, links, scenario.fault,
                      [&](const std::vector<Span>& spans, const std::vector<MemorySample>& memory) {
                        publisher.detail(0, SpanBatch{Obtained::emulated, ClockDomain::device, spans});
                        publisher.detail(0, MemoryBatch{Obtained::emulated, ClockDomain::device, memory});
                        clock_seconds = seconds_of_this_thread();
                      });
  StepMarks marks(directory, step.grid.size());
  std::vector<std::unique_ptr<Switch>> observers;
  for (int rank = 0; rank < step.grid.size(); ++rank)
    observers.push_back(std::make_unique<Switch>(publisher, marks, clock, rank));

  std::vector<double> on_s, off_s;
  std::mt19937 random(1);
  bool on = false, on_first = false;
  std::int64_t begin = 0;
  int block = -2;  // two blocks of warm-up
  std::barrier ready(step.grid.size(), [&]() noexcept {
    if (block % 2 == 0) on_first = random() % 2;
    on = (block % 2 == 0) == on_first;
    for (auto& observer : observers) observer->on = on;
    begin = monotonic_ns();
  });
  std::barrier done(step.grid.size(), [&]() noexcept {
    if (block >= 0) (on ? on_s : off_s).push_back(static_cast<double>(monotonic_ns() - begin) * 1e-9 / steps);
    ++block;
  });
  RunSettings settings;
  settings.start_ns = monotonic_ns();
  if (argc > 4) settings.device = argv[4];
  run_loopback(
      step, settings, [&](int rank) { return observers[static_cast<std::size_t>(rank)].get(); },
      [&](RankRun& run, int) {
        for (int b = 0; b < 2 * pairs + 2; ++b) {
          ready.arrive_and_wait();
          run.run(static_cast<std::uint32_t>(b) * steps, steps);
          done.arrive_and_wait();
        }
      });
  std::this_thread::sleep_for(500ms);  // until all reported events have arrived
  const PublisherStatus status = publisher.status();
  const Used sockets = used_by(getpid(), true), relay_sockets = used_by(server, true), relay = used_by(server, false);
  const auto recorded = std::filesystem::file_size(directory + "/trace.mcap");
  kill(server, SIGTERM);
  waitpid(server, nullptr, 0);
  std::filesystem::remove_all(directory);

  print_cost(on_s, off_s, steps);
  const double reported_steps = observers.front()->steps_reported, events = static_cast<double>(status.events);
  const auto a_step = [&](double seconds) { return 1e3 * seconds / reported_steps; };
  fmt::print("{:.0f} events a step, {} dropped; {:.1f} bytes an event, {:.1f} in the recording\n",
             events / reported_steps, status.dropped_events, static_cast<double>(status.bytes) / events,
             static_cast<double>(recorded) / events);
  fmt::print("processor time a step: publisher {:.3f} ms, relay, digest and recorder {:.3f} ms, together {:.3f} ms\n",
             a_step(status.thread_seconds), a_step(relay.seconds + relay_sockets.seconds),
             a_step(status.thread_seconds + relay.seconds + relay_sockets.seconds));
  fmt::print(
      "  of the relay's, ZeroMQ {:.3f} ms; beside these, the publisher's ZeroMQ {:.3f} ms, the device clock "
      "{:.3f} ms\n",
      a_step(relay_sockets.seconds), a_step(sockets.seconds), a_step(clock_seconds));
  const auto asleep = [&](const Used& used) { return static_cast<double>(used.sleeps) / reported_steps; };
  fmt::print("  times asleep a step: relay {:.1f}, its ZeroMQ {:.1f}, the publisher's ZeroMQ {:.1f}\n", asleep(relay),
             asleep(relay_sockets), asleep(sockets));
  return 0;
}
