#include "engine/prove/calibrate/machine.hpp"

#include <fmt/format.h>

#include <fstream>

#include "engine/base/host/provenance.hpp"
#include "engine/op/words.hpp"

namespace rankscope {

Machine this_machine() {
  Machine machine;
  machine.host = host_name();
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    machine.cores += line.starts_with("processor");
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) machine.cpu = line.substr(colon + 2);
  }
  while (!machine.cpu.empty() && machine.cpu.back() == ' ') machine.cpu.pop_back();
  if (machine.cpu.empty()) machine.cpu = "unknown processor";
  return machine;
}

std::string describe(const Machine& machine) {
  return fmt::format("{}, {}", machine.cpu, counted(machine.cores, "core"));
}

}  // namespace rankscope
