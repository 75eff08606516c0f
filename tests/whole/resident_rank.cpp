// One rank of a world made by mpirun, which trains some steps and prints its memory as a line of JSON: the greatest
// sum in the rank's ledger, of the device's classes and the host's together; the memory reserved for
// it; and the growth of this process's resident memory since before the rank was bound: after two steps, and
// after two more.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "engine/execute/comm/mpi.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/engine/execute/run/summaries.hpp"

using namespace rankscope;
using rankscope::testing::Summaries;

namespace {

std::int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return 1024 * std::stoll(line.substr(6));
  throw std::runtime_error("/proc/self/status has no VmRSS");
}

/// The greatest sum in the ledger.
std::int64_t peak_of(const Summaries& ledger) {
  std::int64_t peak = 0;
  for (const StepSummary& step : ledger.all)
    peak = std::max(peak, step.peak_total_bytes + step.peak_bytes[static_cast<std::size_t>(MemoryClass::host)]);
  return peak;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: mpirun -n RANKS resident_rank SCENARIO [KEY=VALUE …]" << std::endl;
    return 2;
  }
  std::vector<Override> overrides;
  for (int i = 2; i < argc; ++i) overrides.push_back(parse_override(argv[i]));
  const StepProgram step = compile(read_scenario(argv[1], overrides));
  RunSettings settings;
  const std::unique_ptr<World> world = mpi_world(settings.comm);

  Summaries ledger;
  const std::int64_t before = resident_bytes();
  const auto observer = [&](int) { return &ledger; };
  run_process_rank(step, settings, *world, observer, [&](RankRun& run, int rank) {
    run.run(0, 2);
    const std::int64_t two = resident_bytes() - before;
    run.run(2, 2);
    const std::int64_t four = resident_bytes() - before;
    // One write per line, so that the ranks' lines do not mix.
    std::cout << "{\"rank\": " + std::to_string(rank) + ", \"ledger\": " + std::to_string(peak_of(ledger)) +
                     ", \"reserved\": " + std::to_string(run.reserved_bytes()) +
                     ", \"two_steps\": " + std::to_string(two) + ", \"four_steps\": " + std::to_string(four) + "}\n"
              << std::flush;
  });
  return 0;
}
