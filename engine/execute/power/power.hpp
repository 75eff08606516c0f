// Energy that devices use, where something counts it: GPUs by NVML, which is loaded when it is asked for, and CPUs by
// RAPL's counters as Linux shows them. Both may be missing, or not be for this user to read; then it is unknown.
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
  /// Joules used since some moment before, never less than when asked before; NaN where it cannot be read any more.
  virtual double joules() = 0;
};

/// The GPU with that PCI bus id ("0000:3b:00.0"). Null where NVML or its counter is not there (GPUs before Volta have
/// none); `why`, if given, then says so. Its counter is renewed every some tens of milliseconds: what shorter stretches
/// have used is told as 0, and then for several of them at once. `library` empty: NVIDIA's own.
std::unique_ptr<EnergyMeter> open_nvml_meter(const std::string& pci_bus_id, std::string* why = nullptr,
                                             const std::string& library = {});

/// All packages of this host. Null where there is none that may be read. Its counters turn over after minutes at full
/// load: it must be asked more often than that.
std::unique_ptr<EnergyMeter> open_rapl_meter(std::string* why = nullptr,
                                             const std::string& root = "/sys/class/powercap");

/// What a meter counts from one step to the next.
class StepEnergy {
 public:
  /// `meter` may be null: nothing is known.
  explicit StepEnergy(std::unique_ptr<EnergyMeter> meter);
  /// Of a rank whose device another rank tells of: 0 joules, counted by nothing.
  static StepEnergy told_by_another();
  PowerSource source() const { return meter_ ? meter_->source() : PowerSource::none; }
  /// Joules since it was made or asked before; empty where that is unknown.
  std::optional<double> take();

 private:
  std::unique_ptr<EnergyMeter> meter_;
  double before_ = 0;
  bool by_another_ = false;
};

}  // namespace rankscope
