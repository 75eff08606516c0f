// How much of the cores a hypervisor gave to other machines while something was measured: wall-clock figures of such a
// time are of no use.
#pragma once
#include <fstream>
#include <string>

namespace rankscope {

/// A wall-clock figure beside which more of the cores than this was stolen says too much of the host to be judged.
inline constexpr double disturbing_share = 0.02;

/// Clock ticks of all cores together, and those of them that a hypervisor gave to other machines; both 0 where Linux
/// does not count them, and every measure passes for a quiet one.
struct CoreTicks {
  long long all = 0, stolen = 0;

  static CoreTicks now() {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    stat >> cpu;
    CoreTicks ticks;
    long long value = 0;
    for (int field = 0; field < 8 && stat >> value; ++field) {
      ticks.all += value;
      if (field == 7) ticks.stolen = value;
    }
    return ticks;
  }
  /// The share of the cores that was stolen since.
  double stolen_since() const {
    const CoreTicks later = now();
    return later.all > all ? static_cast<double>(later.stolen - stolen) / static_cast<double>(later.all - all) : 0;
  }
};

}  // namespace rankscope
