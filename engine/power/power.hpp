// Energy that devices use, where something counts it: GPUs by NVML, which is loaded when it is asked for, and CPUs by
// RAPL's counters as Linux shows them. Both may be missing, or not be for this user to read; then it is unknown.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace rankscope {

enum class PowerSource : std::uint8_t {
  none,  ///< unknown
  nvml,  ///< one GPU, its memory and board
  rapl,  ///< the host's processors, and their memory where that is counted: of all that runs there
};
std::string_view name_of(PowerSource source);

class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  virtual PowerSource source() const = 0;
  /// Joules used since some moment before, never less than when asked before; NaN where it cannot be read any more.
  virtual double joules() = 0;
};

/// The GPU with that PCI bus id ("0000:3b:00.0"). Null where NVML or its counter is not there (GPUs before Volta have
/// none); `why`, if given, then says so. `library` empty: NVIDIA's own.
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
  PowerSource source() const { return meter_ ? meter_->source() : PowerSource::none; }
  /// Joules since it was made or asked before; NaN where that is unknown.
  double take();

 private:
  std::unique_ptr<EnergyMeter> meter_;
  double before_;
};

}  // namespace rankscope
