// NVML's C interface (nvml.h), only the used part: its functions keep their names and meaning in all versions.
#include <dlfcn.h>

#include <vector>

#include "engine/execute/power/power.hpp"
#include "engine/op/not_known.hpp"

namespace rankscope {
namespace {

using NvmlDevice = struct NvmlDeviceOpaque*;
constexpr int nvml_success = 0;

struct Nvml {
  int (*init)() = nullptr;
  int (*shut_down)() = nullptr;
  const char* (*error)(int) = nullptr;
  int (*device_by_bus_id)(const char*, NvmlDevice*) = nullptr;
  int (*total_energy)(NvmlDevice, unsigned long long* millijoules) = nullptr;
};

template <class Function>
bool find(Function*& function, void* loaded, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(loaded, name));
  return function != nullptr;
}

class NvmlMeter final : public EnergyMeter {
 public:
  NvmlMeter(const Nvml& nvml, NvmlDevice device) : nvml_(nvml), device_(device) {}
  ~NvmlMeter() override { nvml_.shut_down(); }
  NvmlMeter(const NvmlMeter&) = delete;
  NvmlMeter& operator=(const NvmlMeter&) = delete;
  PowerSource source() const override { return PowerSource::nvml; }
  double joules() override {
    unsigned long long millijoules = 0;
    if (nvml_.total_energy(device_, &millijoules) != nvml_success) return not_known;
    return static_cast<double>(millijoules) * 1e-3;
  }

 private:
  Nvml nvml_;
  NvmlDevice device_;
};

}  // namespace

std::unique_ptr<EnergyMeter> open_nvml_meter(const std::string& pci_bus_id, std::string* why,
                                             const std::string& library) {
  const auto missing = [why](const std::string& what) {
    if (why != nullptr) *why = "the GPU's energy is unknown: " + what;
    return nullptr;
  };
  // Never closed: it may be open for another GPU.
  void* const loaded = dlopen(library.empty() ? "libnvidia-ml.so.1" : library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    const char* text = dlerror();
    return missing("NVML was not found (" + std::string(text != nullptr ? text : library) + ")");
  }
  Nvml nvml;
  if (!find(nvml.init, loaded, "nvmlInit_v2") || !find(nvml.shut_down, loaded, "nvmlShutdown") ||
      !find(nvml.error, loaded, "nvmlErrorString") ||
      !find(nvml.device_by_bus_id, loaded, "nvmlDeviceGetHandleByPciBusId_v2") ||
      !find(nvml.total_energy, loaded, "nvmlDeviceGetTotalEnergyConsumption"))
    return missing("NVML has no counter of energy");
  if (const int result = nvml.init(); result != nvml_success)
    return missing(std::string("NVML: ") + nvml.error(result));
  NvmlDevice device = nullptr;
  unsigned long long millijoules = 0;
  int result = nvml.device_by_bus_id(pci_bus_id.c_str(), &device);
  if (result == nvml_success) result = nvml.total_energy(device, &millijoules);
  if (result != nvml_success) {
    const std::string text = nvml.error(result);
    nvml.shut_down();
    return missing("NVML, of " + pci_bus_id + ": " + text);
  }
  return std::make_unique<NvmlMeter>(nvml, device);
}

}  // namespace rankscope
