// Energy that devices use, if there is a counter: GPUs by NVML, which is loaded when needed, and CPUs by RAPL's
// counters in Linux. Both may be missing, or not readable by this user; then the energy is unknown.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "telemetry/event/event.hpp"

namespace rankscope {

class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  virtual PowerSource source() const = 0;
  /// Joules used since some earlier time, never less than in an earlier call; NaN if it can no longer be read.
  virtual double joules() = 0;
};

/// The GPU with that PCI bus id ("0000:3b:00.0"). Null if NVML or its counter does not exist (GPUs before Volta have
/// none); `why`, if given, then contains the reason. The counter is updated every few tens of milliseconds: a shorter
/// interval reports 0, and a later one the energy of several. `library` empty: NVIDIA's own.
std::unique_ptr<EnergyMeter> open_nvml_meter(const std::string& pci_bus_id, std::string* why = nullptr,
                                             const std::string& library = {});

/// All packages of this host. Null if none can be read. The counters wrap around after minutes at full load: read them
/// more often than that.
std::unique_ptr<EnergyMeter> open_rapl_meter(std::string* why = nullptr,
                                             const std::string& root = "/sys/class/powercap");

/// The energy that a meter counts from one step to the next.
class StepEnergy {
 public:
  /// `meter` may be null: the energy is unknown.
  explicit StepEnergy(std::unique_ptr<EnergyMeter> meter);
  /// For a rank whose device is reported by another rank: 0 joules, no counter.
  static StepEnergy reported_by_another();
  PowerSource source() const { return meter_ ? meter_->source() : PowerSource::none; }
  /// Joules since construction or the previous call; empty if unknown.
  std::optional<double> take();

 private:
  std::unique_ptr<EnergyMeter> meter_;
  double before_ = 0;
  bool by_another_ = false;
};

}  // namespace rankscope
