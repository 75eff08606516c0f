// Which energy counter each rank of this process reports: a device's first rank that of the device, the others that
// share it none.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/power/power.hpp"
#include "engine/plan/scenario/run_choices.hpp"

namespace rankscope {

struct RunEnergy {
  std::function<std::shared_ptr<StepEnergy>(int rank)> of;
  std::string unknown;  ///< why the counter of this process's device cannot be read; empty if it can
};

/// `gpu`: PCI bus id of the one that this process computes on, if any. `processes`:
/// null if the ranks are threads of this process on one device; else collective over it. The counters of processors
/// are searched below RANKSCOPE_POWERCAP, if set: containers have the host's under another path, or not at
/// all.
RunEnergy open_run_energy(DeviceKind device, const std::string& gpu, World* processes);

}  // namespace rankscope
