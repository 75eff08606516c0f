#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/base/host/threads.hpp"
#include "engine/execute/comm/mpi.hpp"
#include "engine/execute/comm/nccl.hpp"
#include "engine/execute/run/clock.hpp"
#include "engine/execute/run/clock_fit.hpp"
#include "engine/execute/run/emulated_clock.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/execute/run/scratch.hpp"
#include "engine/execute/run/trace_gather.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "engine/prove/calibrate/calibrate.hpp"
#include "engine/prove/calibrate/stored_peak.hpp"
#include "engine/worker/last_words.hpp"
#include "engine/worker/provenance.hpp"
#include "engine/worker/reach.hpp"
#include "engine/worker/run_energy.hpp"
#include "engine/worker/telemetry_observer.hpp"
#include "engine/worker/worker.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/stream/publisher.hpp"
#include "telemetry/stream/session_directory.hpp"

namespace rankscope {
namespace {

/// `who` reports: "rank 2".
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

/// What a process tells before the first step.
class Narrator {
 public:
  Narrator(Publisher& publisher, const WorkerJob& job, const StepProgram& step,
           const std::vector<RankProgram>& programs)
      : publisher_(publisher), job_(job), step_(step), programs_(programs) {}

  /// `platform`: null where ops sleep.
  void hello(const Platform* platform, const std::string& energy_unknown) const {
    const Scenario& scenario = step_.scenario;
    Hello hello;
    hello.title = scenario.title;
    hello.scenario_toml = to_toml(scenario);
    hello.ranks = step_.grid.size();
    hello.communicator = job_.request.communicator;
    hello.device = job_.request.device;
    hello.host = host_name();
    hello.started_utc = utc_now();
    hello.steps = scenario.train.steps;
    hello.energy_unknown = energy_unknown;
    hello.headline = job_.request.clock == "device" ? ClockDomain::device : ClockDomain::wall;
    if (platform != nullptr) {
      if (const auto dataset = open_dataset(scenario)) hello.entropy_nats = dataset->entropy_nats();
      const MachinePeak peak =
          peak_of_machine(scenario.compute_type(), *platform, PeakStore(peak_file()), false, utc_now());
      hello.peak_flops = peak.peak.measured.best.on(hello.headline);
    }
    publisher_.control(0, hello);
  }

  void program(int rank) const {
    const std::string text = to_text(programs_[static_cast<std::size_t>(rank)]);
    publisher_.control(rank, ProgramRecord{rank, hash_of(text), text});
  }

  /// Steps of the plan on this machine as predicted, before anything of it has run.
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

/// Everything a process tells while it runs.
struct Telling {
  explicit Telling(PublisherOptions options) : publisher(std::move(options)) {}
  Publisher publisher;
  std::unique_ptr<EmulatedClock> device_clock;  ///< where this process keeps it: rank 0's
  std::unique_ptr<TraceGather> gather;          ///< where ranks are processes
  std::vector<std::unique_ptr<TelemetryObserver>> observers;
  std::mutex mutex;

  /// Publishes the steps that are complete, and ends.
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

/// Threads that this process will have: its ranks' lanes, with those that compute for them, and the telemetry's.
int threads_of(const WorkerJob& job, const std::vector<RankProgram>& programs) {
  constexpr int telemetry = 6;  // ZeroMQ's two, the publisher, the device clock, what gathers for it, the launcher's
  const bool is_process = job.request.communicator != "loopback";
  int most = 0, sum = 0;
  for (const RankProgram& program : programs) {
    const auto lanes = program.lanes();
    const auto used =
        static_cast<int>(std::count_if(lanes.begin(), lanes.end(), [](const auto& l) { return !l.empty(); }));
    const int threads = 1 + used + job.request.threads - 1;
    most = std::max(most, threads);
    sum += threads;
  }
  return telemetry + (is_process ? most : sum);
}

/// At most as many as a process of one rank has: before its program is known, for MPI needs its threads before that.
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

/// The job of rank 0, which all ranks do, with what they find out together. Collective.
WorkerJob common_job(World& world, const WorkerJob& mine, ClockRecord& clock) {
  WorkerJob job = parse_job(world.exchange(world.rank() == 0 ? to_text(mine) : std::string()).front());
  if (job.refused) return job;
  const CommonStart start = fit_clock(world);  // by messages of the hosts, which NCCL has not
  job.start_ns = start.start_ns;
  clock = {world.rank(), monotonic_ns() - start.start_ns, 0, start.uncertainty_ns};
  if (job.request.clock == "auto") job.request.clock = shares_cores(world, job.request.threads) ? "device" : "wall";
  return job;
}

/// All of it; `process_world` is where ranks are processes, and outlives a failure.
int run_ranks(const WorkerJob& job, std::unique_ptr<World>& process_world,
              const std::optional<ClockRecord>& fitted_clock, LastWords* last_words) {
  const Scenario scenario = read_job_scenario(job);
  const StepProgram step = compile(scenario);
  std::vector<RankProgram> programs = step.all_programs();
  // Libraries that get no thread end the process or wait for ever.
  check_threads(threads_of(job, programs), job.request.communicator == "loopback" ? "the run" : "each rank of the run");
  RunSettings settings;
  settings.comm.record_phases = true;
  int gpu = 0;
  if (process_world && process_world->size() != step.grid.size())
    throw std::runtime_error("MPI connects " + counted(process_world->size(), "process", ending_es) +
                             ", but the plan has " + counted(step.grid.size(), "rank"));
  if (process_world && job.request.device == "cuda")
    gpu = job.request.communicator == "nccl" ? gpu_of_rank(*process_world, gpus_here())
                                             : shared_gpu_of_rank(*process_world, gpus_here());
  std::shared_ptr<const Platform> platform =
      is_platform(job.request.device) ? open_platform(job.request.device, job.request.threads, gpu) : nullptr;
  if (process_world && job.request.device == "cuda" &&
      shares_gpu(*process_world, gpus_here().at(static_cast<std::size_t>(gpu)))) {
    const auto shared = std::make_shared<Platform>(*platform);
    shared->is_alone = false;
    platform = shared;
  }
  if (platform) set_scratch(step, programs, *platform);
  const std::vector<std::string> gpus = job.request.device == "cuda" ? gpus_here() : std::vector<std::string>{};
  const RunEnergy energy = open_run_energy(
      job.request.device, gpus.empty() ? std::string() : gpus[static_cast<std::size_t>(gpu)], process_world.get());
  if (job.request.communicator == "nccl") {
    platform->device->use();
    process_world = nccl_world(std::move(process_world), settings.comm);
  }

  settings.communicator = job.request.communicator;
  settings.device = job.request.device;
  settings.platform = platform;
  settings.threads_per_rank = job.request.threads;
  settings.steps = static_cast<std::uint32_t>(scenario.train.steps);
  settings.start_ns = job.start_ns;
  settings.energy_of = energy.of;

  settings.checkpoint_folder = job.request.checkpoint;
  std::optional<Checkpoint> resume;
  if (!job.request.resume.empty()) {
    resume.emplace(job.request.resume);
    settings.resume = &*resume;
    settings.first_step = static_cast<std::uint32_t>(resume->steps_done());
  }

  Costs costs = settings.device == "sleep" ? modelled_costs(scenario, step.model) : Costs{};
  settings.sleep_cost_ns = costs.compute_ns;
  // The supervisor's directory is on its host; on others this process has its own.
  std::optional<SessionDirectory> own_directory;
  if (!std::filesystem::exists(job.directory)) own_directory.emplace();
  Telling telling(publisher_options(job, own_directory ? own_directory->path() : std::filesystem::path(job.directory),
                                    process_world ? "rank " + std::to_string(process_world->rank()) : "the ranks"));
  const Narrator narrator(telling.publisher, job, step, programs);
  if (!process_world || process_world->rank() == 0) {
    narrator.hello(platform.get(), energy.unknown);
    if (platform) costs = slowed_costs(predict_costs(step, platform), scenario.fault);
    narrator.prediction(costs);
  }
  for (int rank = 0; rank < step.grid.size(); ++rank)
    if (!process_world || process_world->rank() == rank) narrator.program(rank);
  for (int rank = 0; rank < step.grid.size(); ++rank)  // threads of one process have one clock
    if (!process_world)
      telling.publisher.control(rank, ClockRecord{rank, monotonic_ns() - job.start_ns, 0,
                                                  platform ? platform->device->clock_uncertainty_ns() : 0});
  if (fitted_clock) telling.publisher.control(process_world->rank(), *fitted_clock);
  if (platform && (!process_world || process_world->rank() == 0))
    telling.device_clock = std::make_unique<EmulatedClock>(
        programs, step.grid, costs, scenario.fault,
        [&telling](const std::vector<Span>& spans, const std::vector<MemorySample>& memory) {
          telling.publisher.detail(0, SpanBatch{Obtained::emulated, ClockDomain::device, spans});
          telling.publisher.detail(0, MemoryBatch{Obtained::emulated, ClockDomain::device, memory});
        });
  const auto to_device_clock = [clock = telling.device_clock.get()](int rank, std::uint32_t s, const StepTrace& trace) {
    clock->step_done(rank, s, trace);
  };
  TelemetryObserver::TraceTo trace_to;
  if (platform && process_world) {
    telling.gather =
        std::make_unique<TraceGather>(*process_world, settings.steps - settings.first_step, to_device_clock);
    trace_to = [&telling](int, std::uint32_t s, const StepTrace& trace) { telling.gather->step_done(s, trace); };
  } else if (platform) {
    trace_to = to_device_clock;
  }
  StepMarks marks(job.directory, step.grid.size());
  const auto observer = [&](int rank) -> RankObserver* {
    const std::lock_guard lock(telling.mutex);
    return telling.observers.emplace_back(std::make_unique<TelemetryObserver>(telling.publisher, marks, trace_to, rank))
        .get();
  };
  const auto end = [&](int rank, bool ok, const std::string& message, bool in_communication = false) {
    telling.publisher.control(rank, End{rank, ok, -1, message, in_communication});
  };
  if (last_words)
    last_words->set([&] {
      end(process_world->rank(), false, "its launcher ended it", true);
      telling.publisher.close(std::chrono::milliseconds(600));
    });
  try {
    if (process_world) {
      run_process_rank(step, settings, *process_world, observer);
      telling.end_emulation();  // the last steps' spans go out before the end
      if (last_words) last_words->set({});
      end(process_world->rank(), true, "");
    } else {
      run_loopback(step, settings, observer);
      telling.end_emulation();
      for (int rank = 0; rank < step.grid.size(); ++rank) end(rank, true, "");
    }
    return 0;
  } catch (const RunFailure& failure) {
    if (last_words) last_words->set({});
    end(failure.rank, false, failure.what(), failure.in_communication);
    // Where a launcher started the ranks, each one's errors are shown; the supervisor names the first that failed.
    if (!last_words) std::cerr << failure.what() << std::endl;
    telling.end_emulation();
    telling.publisher.close(std::chrono::seconds(2));  // what was told until now reaches the relay and the disk
    own_directory.reset();
    if (process_world) mpi_abort(1);
    return 1;
  }
}

}  // namespace

int run_worker(const WorkerJob& mine) {
  std::unique_ptr<World> world;
  if (mine.request.communicator == "loopback" && !mine.refused) return run_ranks(mine, world, std::nullopt, nullptr);
  std::optional<LastWords> last_words;
  if (mine.request.launched) last_words.emplace();
  if (mine.request.communicator == "nccl") hear_nccl_phases();
  check_threads(threads_of_rank(mine.request), "each rank of the run");
  CommOptions options;
  options.record_phases = true;
  world = mpi_world(options);
  try {
    ClockRecord clock;
    const WorkerJob job = common_job(*world, mine, clock);
    if (job.refused) return 2;  // rank 0's supervisor said why
    if (std::filesystem::exists(job.directory)) note_shared_memory(job.directory);
    return run_ranks(job, world, clock, last_words ? &*last_words : nullptr);
  } catch (const std::exception& e) {
    // Nobody need wait for this rank any more, neither its peers nor it for them.
    const std::string why = "rank " + std::to_string(world->rank()) + ": " + e.what();
    std::cerr << "rankscope-engine: " << why << std::endl;
    world->abort(why);
    mpi_abort(1);
  }
}

}  // namespace rankscope
