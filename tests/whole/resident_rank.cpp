// One rank of a world made by mpirun, which trains some steps and prints what its memory became: a line of JSON with
// the bytes that the rank's ledger has reserved, and by how much this process's resident memory has grown since before
// the rank was bound: after two steps, and after four more.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "engine/comm/mpi.hpp"
#include "engine/run/job.hpp"
#include "engine/scenario/read.hpp"

using namespace rankscope;

namespace {

std::int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return 1024 * std::stoll(line.substr(6));
  throw std::runtime_error("/proc/self/status has no VmRSS");
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
  settings.communicator = "mpi";
  const std::unique_ptr<World> world = mpi_world(settings.comm);

  const std::int64_t before = resident_bytes();
  run_process_rank(step, settings, *world, {}, [&](RankRun& run, int rank) {
    run.run(0, 2);
    const std::int64_t two = resident_bytes() - before;
    run.run(2, 4);
    const std::int64_t six = resident_bytes() - before;
    // One write a line, so that the ranks' lines do not mix.
    std::cout << "{\"rank\": " + std::to_string(rank) + ", \"ledger\": " + std::to_string(run.reserved_bytes()) +
                     ", \"two_steps\": " + std::to_string(two) + ", \"six_steps\": " + std::to_string(six) + "}\n"
              << std::flush;
  });
  return 0;
}
