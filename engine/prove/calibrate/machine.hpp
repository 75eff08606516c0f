// The description of the measuring machine that is stored with measurements.
#pragma once
#include <string>

namespace rankscope {

struct Machine {
  std::string host;
  std::string cpu;  ///< as in /proc/cpuinfo
  int cores = 0;
  bool operator==(const Machine&) const = default;
};

Machine this_machine();
/// "AMD EPYC, 2 cores".
std::string describe(const Machine& machine);

}  // namespace rankscope
