#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/base/host/clock.hpp"
#include "engine/base/host/provenance.hpp"
#include "engine/base/host/threads.hpp"
#include "engine/execute/comm/mpi.hpp"
#include "engine/execute/comm/nccl.hpp"
#include "engine/execute/run/clock_fit.hpp"
#include "engine/execute/run/emulated_clock.hpp"
#include "engine/execute/run/fast_paths.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/execute/run/scratch.hpp"
#include "engine/execute/run/stop_agreement.hpp"
#include "engine/execute/run/trace_gather.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "engine/prove/calibrate/calibrate.hpp"
#include "engine/prove/calibrate/stored_peak.hpp"
#include "engine/worker/launched_job.hpp"
#include "engine/worker/reach.hpp"
#include "engine/worker/run_energy.hpp"
#include "engine/worker/telemetry_observer.hpp"
#include "engine/worker/worker.hpp"
#include "engine/worker/worker_signals.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/event/stopped.hpp"
#include "telemetry/stream/publisher.hpp"
#include "telemetry/stream/session_directory.hpp"

namespace rankscope {
namespace {

/// `who`: the reporting rank, "rank 2".
PublisherOptions publisher_options(const WorkerJob& job, const std::filesystem::path& directory,
                                   const std::string& who) {
  PublisherOptions options;
  parse_session(job.session, options.session);
  options.spool_directory = (directory / "spool").string();
  std::filesystem::create_directories(options.spool_directory);
  std::filesystem::permissions(options.spool_directory, std::filesystem::perms::owner_all);
  options.relay = reachable_relay(job);
  options.refused = [who, endpoint = options.relay.endpoint](const std::string& why) {
    std::cerr << not_admitted + who + " at the run's relay " + endpoint + ": " + why + "\n" << std::flush;
  };
  std::string error;
  const auto keep = parse_keep(job.request.keep, &error);
  if (!keep) throw std::invalid_argument("--keep: " + error);
  options.keep = *keep;
  return options;
}

Scenario read_job_scenario(const WorkerJob& job) {
  if (!job.scenario.empty()) return parse_recorded_scenario(job.scenario);
  const std::filesystem::path path = std::filesystem::path(job.directory) / scenario_file_name;
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error(host_name() + ": the scenario is too long for a process's environment, and " +
                             path.string() + " is not here; set TMPDIR to a folder that all hosts share");
  return parse_recorded_scenario(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// The messages of a process before the first step.
class Narrator {
 public:
  Narrator(Publisher& publisher, const WorkerJob& job, const StepProgram& step,
           const std::vector<RankProgram>& programs)
      : publisher_(publisher), job_(job), step_(step), programs_(programs) {}

  /// `platform`: null if ops sleep.
  void hello(const Platform* platform, const std::string& energy_unknown) const {
    const Scenario& scenario = step_.scenario;
    Hello hello;
    hello.title = scenario.title;
    hello.scenario_toml = to_toml(scenario);
    hello.ranks = step_.grid.size();
    hello.communicator = job_.request.communicator.name();
    hello.device = job_.request.device.name();
    hello.host = host_name();
    hello.started_utc = utc_now();
    hello.steps = scenario.train.steps;
    hello.energy_unknown = energy_unknown;
    hello.headline = job_.request.clock == ClockChoice::device ? ClockDomain::device : ClockDomain::wall;
    if (platform != nullptr) {
      if (const auto dataset = open_dataset(scenario)) hello.entropy_nats = dataset->entropy_nats();
      const MachinePeak peak =
          peak_of_machine(scenario.compute_type(), *platform, PeakStore(peak_file()), false, utc_now());
      hello.peak_flops = peak.peak.measured.best.on(hello.headline);
      hello.memory_bandwidth = peak.peak.memory_bandwidth;
      hello.peak_spread = peak.peak.measured.spread;
    }
    publisher_.control(0, hello);
  }

  void program(int rank) const {
    const std::string text = to_text(programs_[rank]);
    publisher_.control(rank, ProgramRecord{rank, hash_of(text), text});
  }

  /// Predicted steps of the plan on this machine, before any of it has run.
  void prediction(const Costs& costs) const {
    const Simulation predicted = simulate(programs_, step_.grid, costs, predicted_steps(programs_));
    publisher_.detail(0, SpanBatch{Obtained::simulated, ClockDomain::device, predicted.spans});
  }

 private:
  Publisher& publisher_;
  const WorkerJob& job_;
  const StepProgram& step_;
  const std::vector<RankProgram>& programs_;
};

/// The messages of a process while it runs.
struct TelemetryOutput {
  explicit TelemetryOutput(PublisherOptions options) : publisher(std::move(options)) {}
  Publisher publisher;
  std::unique_ptr<EmulatedClock> device_clock;  ///< only in rank 0's process
  std::unique_ptr<TraceGather> gather;          ///< if ranks are processes
  std::vector<std::unique_ptr<TelemetryObserver>> observers;
  std::mutex mutex;

  /// Publishes the complete steps, and ends.
  void end_emulation() {
    if (gather) gather->leave();
    gather.reset();
    device_clock.reset();
  }
};

/// Whether another rank of this host computes on that GPU. Collective.
bool shares_gpu(World& world, const std::string& bus_id) {
  const std::string mine = host_name() + " " + bus_id;
  const std::vector<std::string> all = world.exchange(mine);
  return std::count(all.begin(), all.end(), mine) > 1;
}

/// Threads that this process will have: its ranks' lanes, with their compute threads, and the telemetry's.
int threads_of(const WorkerJob& job, const std::vector<RankProgram>& programs) {
  constexpr int telemetry = 6;  // ZeroMQ's two, the publisher, the device clock, its gatherer, the launcher's
  const bool is_process = job.request.communicator != CommunicatorKind::loopback;
  int most = 0, sum = 0;
  for (const RankProgram& program : programs) {
    const auto lanes = program.lanes();
    const auto used = static_cast<int>(std::ranges::count_if(lanes, [](const auto& l) { return !l.empty(); }));
    const int threads = 1 + used + job.request.threads - 1;
    most = std::max(most, threads);
    sum += threads;
  }
  return telemetry + (is_process ? most : sum);
}

/// An upper bound for a process of one rank. It is needed before the program is known, because MPI starts its threads
/// earlier.
int threads_of_rank(const RunRequest& request) {
  constexpr int telemetry = 6;
  return telemetry + lane_count + request.threads;
}

/// Whether the ranks of a host compute on more threads than it has cores. Collective.
bool shares_cores(World& world, int threads) {
  const std::string mine = host_name();
  const std::vector<std::string> all = world.exchange(mine);
  const auto here = std::count(all.begin(), all.end(), mine) * threads;
  const bool too_many = here > static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::vector<std::string> verdicts = world.exchange(too_many ? "shared" : "");
  return std::count(verdicts.begin(), verdicts.end(), "shared") > 0;
}

/// Rank 0's job, which all ranks execute, with values that the ranks determine together. Collective.
WorkerJob common_job(World& world, const WorkerJob& mine, ClockRecord& clock) {
  WorkerJob job = parse_job(world.exchange(world.rank() == 0 ? to_text(mine) : std::string()).front());
  if (job.refused) return job;
  const CommonStart start = fit_clock(world);  // by messages between hosts, which NCCL does not offer
  job.start_ns = start.start_ns;
  clock = {world.rank(), monotonic_ns() - start.start_ns, 0, start.uncertainty_ns};
  if (job.request.clock == ClockChoice::automatic)
    job.request.clock = shares_cores(world, job.request.threads) ? ClockChoice::device : ClockChoice::wall;
  return job;
}

/// The platform of this process: none if ops sleep. `gpu`: PCI bus id, empty without one.
struct Equipment {
  std::shared_ptr<const Platform> platform;
  std::string gpu;
};

/// Writes a complete line at once, because other processes write to the same output.
void note(const std::string& line) { std::cerr << worker_note + line + "\n" << std::flush; }

/// `processes`: null if ranks are threads of one process, which share its device; else collective.
Equipment open_equipment(const RunRequest& request, World* processes) {
  Equipment mine;
  const bool on_gpu = request.device == DeviceKind::cuda;
  const std::vector<std::string> gpus = on_gpu ? gpus_here() : std::vector<std::string>{};
  int gpu = 0;
  if (processes && on_gpu)
    gpu = request.communicator == CommunicatorKind::nccl ? gpu_of_rank(*processes, gpus)
                                                         : shared_gpu_of_rank(*processes, gpus);
  if (!computes(request.device)) return mine;
  kernels::Options options = without_paths(request.without);
  options.notice = [](const std::string& line) { note(line); };
  mine.platform = open_platform(request.device, request.threads, gpu, options);
  if (on_gpu && !gpus.empty()) mine.gpu = gpus.at(static_cast<std::size_t>(gpu));
  if (processes && on_gpu && shares_gpu(*processes, mine.gpu)) {
    const auto shared = std::make_shared<Platform>(*mine.platform);
    shared->is_alone = false;
    mine.platform = shared;
  }
  return mine;
}

/// The ranks of this process, from the scenario to their last message.
class Ranks {
 public:
  /// `processes` is set if ranks are processes, and outlives a failure. Collective.
  Ranks(const WorkerJob& job, std::unique_ptr<World>& processes);

  /// The facts of the run before its first step. `fitted_clock`: for a rank that is a process.
  void announce(const std::optional<ClockRecord>& fitted_clock);
  /// If ranks compute: also publishes the spans of each completed step on the device clock.
  void emulate();
  /// All steps; the exit status. `signals`: null if no signal has a meaning here.
  int train(WorkerSignals* signals);

 private:
  bool reports() const { return !processes_ || processes_->rank() == 0; }
  void end(int rank, bool ok, const std::string& message, bool in_communication = false) {
    telemetry_->publisher.control(rank, End{rank, ok, -1, message, in_communication});
  }
  void run_steps(WorkerSignals* signals);
  /// If signals may ask the ranks to stop: their agreement about the last step, which ends the run's steps.
  std::unique_ptr<StopAgreement> agreement(const WorkerSignals* signals);
  /// Marks this process's rank as one that a launcher ended.
  std::function<void()> dismissal() {
    return [this] { marks_.dismissed(processes_->rank()); };
  }

  const WorkerJob& job_;
  std::unique_ptr<World>& processes_;
  const StepProgram step_;
  std::vector<RankProgram> programs_;
  RunSettings settings_;
  RunEnergy energy_;
  Costs costs_;
  std::optional<Checkpoint> resume_;
  std::unique_ptr<Communicator> group_to_stop_;
  std::optional<SessionDirectory> own_directory_;  ///< the supervisor's is on its host; elsewhere this process's own
  StepMarks marks_;
  std::optional<TelemetryOutput> telemetry_;
  TelemetryObserver::TraceTo trace_to_;
};

Ranks::Ranks(const WorkerJob& job, std::unique_ptr<World>& processes)
    : job_(job),
      processes_(processes),
      step_(compile(read_job_scenario(job))),
      programs_(step_.all_programs()),
      marks_(job.directory, step_.grid.size()) {
  const RunRequest& request = job.request;
  // Libraries that cannot start a thread end the process or wait forever.
  check_threads(threads_of(job, programs_),
                request.communicator == CommunicatorKind::loopback ? "the run" : "each rank of the run");
  if (processes && processes->size() != step_.grid.size())
    throw std::runtime_error("MPI connects " + counted(processes->size(), "process", ending_es) +
                             ", but the plan has " + counted(step_.grid.size(), "rank"));
  const Equipment mine = open_equipment(request, processes.get());
  settings_.comm.record_phases = true;
  if (mine.platform && processes)
    set_scratch_with_shared_choices(step_, programs_, *mine.platform, *processes);
  else if (mine.platform)
    set_scratch(step_, programs_, *mine.platform);
  energy_ = open_run_energy(request.device, mine.gpu, processes.get());
  if (processes && !request.checkpoint.empty()) group_to_stop_ = group_to_stop(*processes);
  if (request.communicator == CommunicatorKind::nccl) {
    mine.platform->device->use();
    processes = nccl_world(std::move(processes), settings_.comm);
  }
  settings_.device = request.device;
  settings_.platform = mine.platform;
  settings_.threads_per_rank = request.threads;
  settings_.steps = static_cast<std::uint32_t>(step_.scenario.train.steps);
  settings_.start_ns = job.start_ns;
  settings_.energy_of = energy_.of;
  settings_.checkpoint_folder = request.checkpoint;
  if (!request.resume.empty()) {
    resume_.emplace(request.resume);
    settings_.resume = &*resume_;
    settings_.first_step = static_cast<std::uint32_t>(resume_->steps_done());
  }
  if (!computes(request.device)) costs_ = modelled_costs(step_.scenario, step_.model);
  settings_.sleep_cost_ns = costs_.compute_ns;
  if (!std::filesystem::exists(job.directory)) own_directory_.emplace();
  telemetry_.emplace(publisher_options(job,
                                       own_directory_ ? own_directory_->path() : std::filesystem::path(job.directory),
                                       processes ? fmt::format("rank {}", processes->rank()) : "the ranks"));
}

void Ranks::announce(const std::optional<ClockRecord>& fitted_clock) {
  const Platform* platform = settings_.platform.get();
  const Narrator narrator(telemetry_->publisher, job_, step_, programs_);
  if (reports()) {
    narrator.hello(platform, energy_.unknown);
    if (platform && !platform->chip.empty()) note(gpu_line(*platform));
    if (platform) costs_ = slowed_costs(predict_costs(step_, settings_.platform), step_.scenario.fault);
    narrator.prediction(costs_);
  }
  for (int rank = 0; rank < step_.grid.size(); ++rank)
    if (!processes_ || processes_->rank() == rank) narrator.program(rank);
  for (int rank = 0; rank < step_.grid.size(); ++rank)  // threads of one process have one clock
    if (!processes_)
      telemetry_->publisher.control(rank, ClockRecord{rank, monotonic_ns() - job_.start_ns, 0,
                                                      platform ? platform->device->clock_uncertainty_ns() : 0});
  if (fitted_clock) telemetry_->publisher.control(processes_->rank(), *fitted_clock);
}

void Ranks::emulate() {
  if (!settings_.platform) return;
  if (reports())
    telemetry_->device_clock = std::make_unique<EmulatedClock>(
        programs_, step_.grid, costs_, step_.scenario.fault,
        [this](const std::vector<Span>& spans, const std::vector<MemorySample>& memory) {
          telemetry_->publisher.detail(0, SpanBatch{Obtained::emulated, ClockDomain::device, spans});
          telemetry_->publisher.detail(0, MemoryBatch{Obtained::emulated, ClockDomain::device, memory});
        });
  trace_to_ = [clock = telemetry_->device_clock.get()](int rank, std::uint32_t s, const StepTrace& trace) {
    clock->step_done(rank, s, trace);
  };
  if (!processes_) return;
  telemetry_->gather = std::make_unique<TraceGather>(*processes_, settings_.steps - settings_.first_step, trace_to_);
  trace_to_ = [this](int, std::uint32_t s, const StepTrace& trace) { telemetry_->gather->step_done(s, trace); };
}

std::unique_ptr<StopAgreement> Ranks::agreement(const WorkerSignals* signals) {
  if (signals == nullptr || job_.request.checkpoint.empty()) return nullptr;
  std::optional<StopPeers> peers;
  if (processes_) peers = StopPeers{processes_.get(), std::move(group_to_stop_)};
  return std::make_unique<StopAgreement>([signals] { return signals->is_asked_to_stop(); }, std::move(peers));
}

void Ranks::run_steps(WorkerSignals* signals) {
  const auto observer = [&](int rank) -> RankObserver* {
    const std::lock_guard lock(telemetry_->mutex);
    return telemetry_->observers
        .emplace_back(std::make_unique<TelemetryObserver>(telemetry_->publisher, marks_, trace_to_, rank))
        .get();
  };
  auto stop = agreement(signals);
  settings_.limit = stop ? &stop->limit() : nullptr;
  if (processes_)
    run_process_rank(step_, settings_, *processes_, observer);
  else
    run_loopback(step_, settings_, observer);
  const auto last = stop ? stop->limit().end() : std::nullopt;
  const bool is_stopped = last && *last < settings_.steps;
  stop.reset();
  telemetry_->end_emulation();  // the last steps' spans are sent before the end
  if (signals && job_.request.launched) signals->set_report(dismissal());
  for (int rank = 0; rank < step_.grid.size(); ++rank)
    if (!processes_ || processes_->rank() == rank) end(rank, true, is_stopped ? std::string(stopped_by_request) : "");
}

int Ranks::train(WorkerSignals* signals) {
  // They outlive the marks.
  const std::shared_ptr<void> at_end(nullptr, [&](void*) {
    if (signals) signals->set_report({});
  });
  const bool is_launched = job_.request.launched.has_value();
  if (is_launched)
    signals->set_report([this, mark = dismissal()] {
      mark();
      end(processes_->rank(), false, "its launcher ended it", true);
      telemetry_->publisher.close(std::chrono::milliseconds(600));
    });
  try {
    run_steps(signals);
    return 0;
  } catch (const RunFailure& failure) {
    if (is_launched) signals->set_report(dismissal());
    end(failure.rank, false, failure.what(), failure.in_communication);
    // If a launcher started the ranks, the errors of each are shown; the supervisor names the first that failed.
    // A line with the program's name is the reason that the supervisor reports if the message above does not arrive: a
    // peer that fails for the same reason may end the job before that.
    if (!is_launched)
      std::cerr << (failure.in_communication ? "" : "rankscope-engine: ") << failure.what() << std::endl;
    telemetry_->end_emulation();
    telemetry_->publisher.close(std::chrono::seconds(2));  // pending messages reach the relay and the disk
    own_directory_.reset();
    if (processes_) mpi_abort(1);
    return 1;
  }
}

int run_ranks(const WorkerJob& job, std::unique_ptr<World>& processes, const std::optional<ClockRecord>& fitted_clock,
              WorkerSignals* signals) {
  Ranks ranks(job, processes);
  ranks.announce(fitted_clock);
  ranks.emulate();
  return ranks.train(signals);
}

/// The signals of a process with ranks that write checkpoints, or that a launcher may end.
void expect_signals(std::optional<WorkerSignals>& signals, const RunRequest& request) {
  if (request.checkpoint.empty()) return;
  if (!signals) signals.emplace();
  const auto launched = launched_job();
  signals->expect_request(request.launched && launched && launched->launcher == Launcher::mpirun);
}

}  // namespace

int run_worker(const WorkerJob& mine) {
  std::unique_ptr<World> world;
  std::optional<WorkerSignals> signals;
  const auto used_signals = [&signals] { return signals ? &*signals : nullptr; };
  if (mine.request.communicator == CommunicatorKind::loopback && !mine.refused) {
    expect_signals(signals, mine.request);
    return run_ranks(mine, world, std::nullopt, used_signals());
  }
  if (mine.request.launched) signals.emplace();
  if (mine.request.communicator == CommunicatorKind::nccl) enable_nccl_profiler();
  check_threads(threads_of_rank(mine.request), "each rank of the run");
  CommOptions options;
  options.record_phases = true;
  world = mpi_world(options);
  try {
    ClockRecord clock;
    const WorkerJob job = common_job(*world, mine, clock);
    if (job.refused) return 2;  // rank 0's supervisor printed the reason
    expect_signals(signals, job.request);
    if (std::filesystem::exists(job.directory)) note_shared_memory(job.directory);
    return run_ranks(job, world, clock, used_signals());
  } catch (const std::exception& e) {
    // From now on this rank and its peers do not wait for each other.
    const std::string why = fmt::format("rank {}: {}", world->rank(), e.what());
    std::cerr << "rankscope-engine: " << why << std::endl;
    world->abort(why);
    mpi_abort(1);
  }
}

}  // namespace rankscope
