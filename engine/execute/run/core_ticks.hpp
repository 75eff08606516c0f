// The share of the cores used by others during a measurement (other machines on this host, other programs on this
// machine): wall-clock figures of such a time are not valid.
#pragma once
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace rankscope {

/// Wall-clock figures are not judged if others had more than this share of the cores.
inline constexpr double disturbing_share = 0.02;

/// Clock ticks of all cores together; those in which something ran here, and those that a hypervisor gave to other
/// machines. All 0 if Linux does not count them; then every measurement counts as undisturbed.
struct CoreTicks {
  long long all = 0, busy = 0, stolen = 0;
  double own = 0;  ///< of `busy`: this process, and its children that have ended

  static CoreTicks now() {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    stat >> cpu;
    CoreTicks ticks;
    long long value = 0;
    enum Column { user, nice, system, idle, iowait, irq, softirq, steal, fields };
    for (int field = 0; field < fields && stat >> value; ++field) {
      ticks.all += value;
      if (field == user || field == nice || field == system) ticks.busy += value;
      if (field == steal) ticks.stolen = value;
    }
    for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage used{};
      getrusage(whose, &used);
      for (const timeval& time : {used.ru_utime, used.ru_stime})
        ticks.own += (static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6) *
                     static_cast<double>(sysconf(_SC_CLK_TCK));
    }
    return ticks;
  }
  /// The share of the cores used by other machines since then.
  double stolen_since() const { return share(now(), 0); }
  /// The share used by other machines and other processes since then.
  double taken_since() const {
    const CoreTicks later = now();
    return share(later, std::max(0.0, static_cast<double>(later.busy - busy) - (later.own - own)));
  }

 private:
  double share(const CoreTicks& later, double by_others) const {
    if (later.all <= all) return 0;
    return (static_cast<double>(later.stolen - stolen) + by_others) / static_cast<double>(later.all - all);
  }
};

}  // namespace rankscope
