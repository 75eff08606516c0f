// Energy from a counter to the report: the real programs, on a host with emulated processor counters.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

constexpr double watts = 50;

/// A powercap tree with one package of this power.
class PretendedProcessors {
 public:
  explicit PretendedProcessors(const Folder& folder) : root_(folder / "powercap") {
    const auto zone = root_ / "intel-rapl:0";
    std::filesystem::create_directories(zone);
    std::ofstream(zone / "name") << "package-0\n";
    std::ofstream(zone / "max_energy_range_uj") << "262143328850\n";
    energy_ = open((zone / "energy_uj").c_str(), O_WRONLY | O_CREAT, 0600);
    count();
    counting_ = std::thread([this] {
      for (Clock::time_point last = begin_; !ending_;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        count();
        const Clock::time_point now = Clock::now();
        longest_gap_ = std::max(longest_gap_.load(), std::chrono::duration<double>(now - last).count());
        last = now;
      }
    });
  }
  ~PretendedProcessors() {
    ending_ = true;
    counting_.join();
    close(energy_);
  }
  double joules() const { return watts * std::chrono::duration<double>(Clock::now() - begin_).count(); }
  /// Seconds between two counts.
  double longest_gap() const { return longest_gap_; }
  std::string environment() const { return "RANKSCOPE_POWERCAP=" + root_.string(); }

 private:
  using Clock = std::chrono::steady_clock;
  // In place and with constant length, so that a reader finds a complete number at any time.
  void count() const {
    char text[24];
    const int length = std::snprintf(text, sizeof text, "%015lld\n", static_cast<long long>(joules() * 1e6));
    if (pwrite(energy_, text, static_cast<std::size_t>(length), 0) != length) std::perror("energy_uj");
  }
  std::filesystem::path root_;
  int energy_ = -1;
  Clock::time_point begin_ = Clock::now();
  std::atomic<bool> ending_{false};
  std::atomic<double> longest_gap_{0};
  std::thread counting_;
};

}  // namespace

TEST_CASE("a run on processors that count their energy reports joules per step and token, and so does its recording") {
  const std::string communicator = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (communicator == "mpi" && !can_use_mpi()) return;
  INFO(communicator);
  const Folder folder;
  const PretendedProcessors processors(folder);
  const std::string recording = (folder / "run.mcap").string();
  const Ended ended = engine(folder,
                             with_small_model({"run", lab("data-parallel"), "--steps", "60", "--json", "--comm",
                                               communicator, "--record", recording}),
                             {{processors.environment()}, {}});
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  const json report = parse_json(ended.out), energy = report["energy"];
  INFO(to_text(energy));
  CHECK(energy["source"] == "rapl");
  CHECK(energy["counters"] == 1);  // four ranks on one host
  CHECK(energy["unknown"].is_null());
  double sum = 0, seconds = 0;
  for (const json& step : report["steps"]) {
    CHECK(step["joules"].get<double>() >= 0);
    sum += step["joules"].get<double>();
    seconds += step["seconds"].get<double>();
  }
  // The tolerance is a fifth of the run's time, and the longest pause of the counter on a busy machine.
  const double late = processors.longest_gap() / seconds;
  INFO("the counter stood still for up to " << processors.longest_gap() << " s of " << seconds);
  CHECK(energy["watts"].get<double>() == Approx(watts).epsilon(0.2 + late));
  CHECK(sum > 0);
  CHECK(sum < processors.joules());
  const json& step = report["steps"][5];
  const double tokens = step["tokens_per_s"].get<double>() * step["seconds"].get<double>();
  CHECK(energy["joules_per_token"].get<double>() == Approx(energy["joules_per_step"].get<double>() / tokens));
  const Ended stats = trace_tool(folder, {"stats", recording, "--json"});
  REQUIRE(stats.status == 0);
  const json recorded = parse_json(stats.out);
  CHECK(recorded["energy"] == energy);
  CHECK(recorded["steps"] == report["steps"]);
  const Ended text = trace_tool(folder, {"stats", recording});
  CHECK_THAT(text.out, ContainsText("J per step") && ContainsText("counted by rapl on 1 host"));
}

TEST_CASE("a run without counters says why its energy is not known, and so does its recording") {
  const Folder folder;
  const std::string recording = (folder / "run.mcap").string();
  const Ended ended =
      engine(folder, with_small_model({"run", lab("data-parallel"), "--steps", "3", "--json", "--record", recording}),
             {{"RANKSCOPE_POWERCAP=/nowhere"}, {}});
  REQUIRE(ended.status == 0);
  const json energy = parse_json(ended.out)["energy"];
  CHECK(energy["source"].is_null());
  CHECK(energy["joules_per_step"].is_null());
  CHECK(energy["watts"].is_null());
  CHECK(energy["unknown"] == "the processors' energy is unknown: /nowhere has no counters (RAPL)");
  CHECK(parse_json(trace_tool(folder, {"stats", recording, "--json"}).out)["energy"] == energy);
}
