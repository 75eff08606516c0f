#include "engine/worker/run_energy.hpp"
#include "engine/base/host/provenance.hpp"

#include <algorithm>
#include <cstdlib>

namespace rankscope {
namespace {

std::unique_ptr<EnergyMeter> open_meter(DeviceKind device, const std::string& gpu, std::string& why) {
  if (device == DeviceKind::cuda) return open_nvml_meter(gpu, &why);
  if (device == DeviceKind::cpu) {
    const char* root = std::getenv("RANKSCOPE_POWERCAP");
    return root != nullptr && *root != 0 ? open_rapl_meter(&why, root) : open_rapl_meter(&why);
  }
  why = "the energy is unknown: ops sleep and compute nothing";
  return nullptr;
}

}  // namespace

RunEnergy open_run_energy(DeviceKind device, const std::string& gpu, World* processes) {
  RunEnergy energy;
  int first = 0;
  if (processes != nullptr) {
    const std::string mine = host_name() + ' ' + gpu;
    const std::vector<std::string> all = processes->exchange(mine);
    first = static_cast<int>(std::find(all.begin(), all.end(), mine) - all.begin());
  }
  std::shared_ptr<StepEnergy> own;
  if (processes == nullptr || processes->rank() == first)
    own = std::make_shared<StepEnergy>(open_meter(device, gpu, energy.unknown));
  energy.of = [own, first](int rank) {
    return rank == first ? own : std::make_shared<StepEnergy>(StepEnergy::reported_by_another());
  };
  return energy;
}

}  // namespace rankscope
