// Ranks as processes with a GPU each, over NCCL, started by mpirun as on a machine with GPUs: the real engine on
// emulated GPUs, and an emulated libnccl whose transfers cross processes.
#include <signal.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

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

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr int channels = 2;  // of each of the emulated library's works

/// A folder with the emulated library in place of the system's, and a small scenario.
class Place {
 public:
  Place()
      : scenario(folder.file("small.toml", R"(title = "over NCCL"
[model]
kind = "gpt"
layers = 2
width = 16
heads = 2
context = 8
vocabulary = 32
[plan]
micro_batches = 2
collective = "auto"
[train]
global_batch = 4
steps = 4
optimizer = "sgd"
)")) {
    fs::create_symlink(program("librankscope_emulated_nccl.so"), folder / "libnccl.so.2");
    const char* const others = std::getenv("LD_LIBRARY_PATH");
    options.environment = {
        "LD_LIBRARY_PATH=" + folder.path().string() + (others != nullptr ? std::string(":") + others : ""),
        "EMULATED_NCCL_NOTES=" + (folder / "misuse").string()};
  }

  Arguments command(Arguments arguments) const {
    arguments.insert(arguments.begin() + 1, {scenario, "--device", "cuda", "--json"});
    if (!measures) arguments.insert(arguments.end(), {"--without", "measured"});
    arguments.insert(arguments.begin(), program("rankscope-engine-on-emulated-gpus"));
    return arguments;
  }
  Ended run(const Arguments& arguments) const {
    return Process(folder, command(arguments), options).wait(2 * a_minute);
  }

  /// Violations of the emulated library's rules that it has noted, in any process.
  std::string misuse() const {
    std::ifstream file(folder / "misuse");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Folder folder;
  std::string scenario;
  StartOptions options;
  bool measures = false;  ///< products at the start: slow on a host that emulates a GPU
};

struct NcclPlan {
  int data, pipeline;
  int ranks() const { return data * pipeline; }
  Arguments with(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--set", "plan.data=" + std::to_string(data), "--set",
                                       "plan.pipeline=" + std::to_string(pipeline)});
    return arguments;
  }
};

std::vector<double> step_losses(const Ended& ended) {
  std::vector<double> losses;
  const json report = parse_json(ended.out);
  for (const auto& step : report["steps"]) losses.push_back(step["loss"]);
  return losses;
}

constexpr const char* note = "rankscope-engine: note: ";

/// The worker processes of the run, by rank.
std::map<int, pid_t> ranks_of(const Folder& folder) {
  std::map<int, pid_t> ranks;
  for (const pid_t process : folder.processes())
    if (const std::string rank = environment_of(process, "OMPI_COMM_WORLD_RANK");
        !rank.empty() && arguments_of(process).ends_with(" worker"))
      ranks[std::stoi(rank)] = process;
  return ranks;
}

}  // namespace

TEST_CASE("ranks as processes over NCCL have the losses of ranks as threads that share a GPU") {
  if (!can_use_mpi()) return;
  const NcclPlan plan = GENERATE(NcclPlan{2, 1}, NcclPlan{1, 2}, NcclPlan{2, 2});
  INFO("data " << plan.data << ", pipeline " << plan.pipeline);
  Place place;
  place.measures = plan.pipeline == 1;  // and rank 0 sends its choices to the others
  const std::string file = (place.folder / "run.mcap").string();
  const Ended shared = place.run(plan.with({"run", "--comm", "loopback"}));
  INFO(shared.err);
  REQUIRE(shared.status == 0);
  const Ended own = place.run(plan.with({"run", "--comm", "nccl", "--record", file}));
  INFO(own.err);
  REQUIRE(own.status == 0);
  // Standard error has nothing but the run's line about its GPUs, once for all ranks.
  CHECK(own.err == std::string(note) +
                       "emulated, cuBLASLt 13.0.2 (emulated), fast paths: attention, gelu, bias-gradient, " +
                       (place.measures ? "norm, measured; without: cudnn\n" : "norm; without: cudnn, measured\n"));
  const std::vector<double> expected = step_losses(shared), losses = step_losses(own);
  REQUIRE(expected.size() == 4);
  REQUIRE(losses.size() == 4);
  for (std::size_t step = 0; step < 4; ++step) CHECK(losses[step] == Approx(expected[step]).epsilon(1e-5));
  CHECK(losses[3] != losses[0]);
  CHECK(place.misuse() == "");
  CHECK(place.folder.processes().empty());

  // NCCL's internal events are in the recording, with the op that they belong to.
  RunStore store;
  REQUIRE(read_trace(file, store));
  const auto view = store.view();
  REQUIRE(view->hello());
  CHECK(view->hello()->communicator == "nccl");
  CHECK(view->hello()->ranks == plan.ranks());
  int messages = 0, collectives = 0;
  for (std::uint32_t step = 0; step < 4; ++step)
    for (const Span& span : view->step_spans(Obtained::measured, step)) {
      if (!is_communication(span.op.kind())) continue;
      const bool is_message = !is_collective(span.op.kind());
      const auto phases = view->phases(span.rank, step, span.op);
      INFO(to_token(span.op) << " of rank " << span.rank << " in step " << step);
      if (phases.empty() && !is_message) continue;  // a group of one
      ++(is_message ? messages : collectives);
      CHECK(phases.size() == channels);
      for (const PhaseSpan& phase : phases) {
        CHECK((phase.from >= 0) == is_message);
        CHECK((phase.to >= 0) == is_message);
        CHECK(phase.end_ns >= phase.begin_ns);
      }
    }
  CHECK((messages > 0) == (plan.pipeline > 1));
  CHECK(collectives > 0);  // gradients' of data-parallel ranks, or of the embedding at a pipeline's two ends
}

TEST_CASE(
    "CUDA keeps the queues of ranks separate, on a shared GPU and on separate ones, unless the environment forbids "
    "it") {
  Place place;
  const fs::path notes = place.folder / "notes";
  place.options.environment.push_back("EMULATED_GPU_NOTES=" + notes.string());
  std::string expected = "connections 32";
  Arguments arguments;
  SECTION("a run whose ranks share one") { arguments = {"run", "--steps", "1"}; }
  SECTION("a sweep") { arguments = {"sweep", "--over", "train.seed=1,2", "--steps", "1"}; }
  SECTION("verify") { arguments = {"verify"}; }
  SECTION("verify over NCCL") { arguments = {"verify", "--comm", "nccl"}; }
  SECTION("it is told not to") {
    arguments = {"run", "--steps", "1"};
    place.options.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS=16");
    expected = "connections 16";
  }
  const Ended ended = place.run(NcclPlan{2, 1}.with(arguments));
  INFO(ended.err);
  CHECK(ended.status == 0);
  std::ifstream file(notes);
  int processes = 0;
  for (std::string line; std::getline(file, line); ++processes) CHECK(line == expected);
  CHECK(processes > 0);
}

TEST_CASE(
    "a run on a GPU says which fast paths it has, trains the same without them, and says what a library refuses") {
  Place place;
  place.measures = true;
  const auto run = [&](Arguments arguments, int width = 32) {
    arguments.insert(arguments.end(), {"--set", "model.width=" + std::to_string(width), "--set", "model.context=16",
                                       "--set", "plan.precision=\"bf16\"", "--comm", "loopback"});
    return place.run(arguments);
  };
  const Ended fast = run({"run"}), slow = run({"run", "--without", "attention,gelu,bias-gradient,norm,measured"});
  INFO(fast.err << slow.err);
  REQUIRE(fast.status == 0);
  REQUIRE(slow.status == 0);
  CHECK_THAT(fast.err, ContainsText("fast paths: attention, gelu, bias-gradient, norm, measured; without: cudnn\n"));
  CHECK_THAT(slow.err, ContainsText(", without: attention, cudnn, gelu, bias-gradient, norm, measured\n"));
  CHECK_THAT(slow.err, !ContainsText("no algorithm"));
  const std::vector<double> expected = step_losses(fast), losses = step_losses(slow);
  REQUIRE(losses.size() == expected.size());
  for (std::size_t step = 0; step < losses.size(); ++step) CHECK(losses[step] == Approx(expected[step]).epsilon(1e-2));
  place.measures = false;
  const Ended verified = run({"verify", "--without", "gelu"});
  INFO(verified.err);
  CHECK(verified.status == 0);
  CHECK_THAT(verified.err,
             ContainsText("fast paths: attention, bias-gradient, norm; without: cudnn, gelu, measured\n"));
  // Rows that are not complete packs: the emulated library has few kernels for them.
  const Ended ragged = run({"run"}, 18);
  INFO(ragged.err);
  CHECK(ragged.status == 0);
  CHECK_THAT(ragged.err, ContainsText(std::string(note) + "cuBLASLt has no algorithm for the product of "));
}

TEST_CASE("verify over NCCL, with ranks as threads that have a GPU each, proves the same plans") {
  const NcclPlan plan = GENERATE(NcclPlan{2, 1}, NcclPlan{1, 2}, NcclPlan{2, 2});
  INFO("data " << plan.data << ", pipeline " << plan.pipeline);
  const Place place;
  const Ended proven = place.run(plan.with({"verify", "--comm", "nccl"}));
  INFO(proven.err);
  REQUIRE(proven.status == 0);
  CHECK(parse_json(proven.out)["verify"]["passed"] == true);
  CHECK(place.misuse() == "");
  const Ended refuted = place.run(plan.with({"verify", "--comm", "nccl", "--set", "fault.plant=gradient_scale"}));
  INFO(refuted.err);
  CHECK(refuted.status == 1);
}

TEST_CASE("a rank's process that dies over NCCL ends the run within seconds, with its name") {
  if (!can_use_mpi()) return;
  const NcclPlan plan = GENERATE(NcclPlan{2, 1}, NcclPlan{2, 2});
  const Place place;
  const auto check_end = [&](const Ended& ended, int victim) {
    INFO(ended.err);
    CHECK(ended.status == status::rank_lost);
    CHECK_THAT(ended.err, ContainsText("rankscope-engine: rank " + std::to_string(victim) + " "));
    CHECK(place.folder.processes_after(some_seconds).empty());
  };
  SECTION("at the step that the scenario says") {
    const Ended ended = place.run(plan.with(
        {"run", "--comm", "nccl", "--steps", "1000", "--set", "fault.kill_rank=1", "--set", "fault.kill_step=3"}));
    check_end(ended, 1);
    CHECK_THAT(ended.err, !ContainsText(" waited "));  // no rank reached its time limit, which is a minute
    CHECK(ended.seconds < 120);
  }
  SECTION("from outside, in the midst of its steps") {
    const std::string file = (place.folder / "run.mcap").string();
    Process run(place.folder,
                place.command(plan.with({"run", "--comm", "nccl", "--steps", "100000", "--record", file})),
                place.options);
    const bool is_under_way = wait_until(2 * a_minute, [&] {
      std::error_code none;
      const auto size = fs::file_size(file, none);
      return !none && size > 20'000;
    });
    REQUIRE(is_under_way);
    const auto ranks = ranks_of(place.folder);
    REQUIRE(ranks.size() == static_cast<std::size_t>(plan.ranks()));
    const int victim = plan.ranks() - 1;
    REQUIRE(kill(ranks.at(victim), SIGKILL) == 0);
    const auto begin = std::chrono::steady_clock::now();
    const Ended ended = run.wait(a_minute);
    CHECK(std::chrono::steady_clock::now() - begin < 5 * some_seconds);  // the ranks' time limit is a minute
    check_end(ended, victim);
  }
}

TEST_CASE("ranks that have no GPU left end the run at once, with the first of them named") {
  if (!can_use_mpi()) return;
  const Place place;
  const Ended many = place.run(
      {"run", "--comm", "nccl", "--set", "plan.data=4", "--set", "plan.pipeline=2", "--set", "train.global_batch=8"});
  INFO(many.err);
  CHECK(many.status == 1);
  CHECK(many.seconds < 50);  // the ranks' time limit is a minute
  CHECK_THAT(many.err, ContainsText("the communicator 'nccl' needs a GPU for each rank"));
}
