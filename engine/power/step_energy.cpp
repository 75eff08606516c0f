#include <limits>

#include "engine/power/power.hpp"

namespace rankscope {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::string_view name_of(PowerSource source) {
  switch (source) {
    case PowerSource::none: return "none";
    case PowerSource::nvml: return "nvml";
    case PowerSource::rapl: return "rapl";
  }
  return "?";
}

StepEnergy::StepEnergy(std::unique_ptr<EnergyMeter> meter)
    : meter_(std::move(meter)), before_(meter_ ? meter_->joules() : unknown) {}

double StepEnergy::take() {
  if (!meter_) return unknown;
  const double now = meter_->joules(), used = now - before_;
  before_ = now;
  return used;
}

}  // namespace rankscope
