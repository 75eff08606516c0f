#include <cmath>

#include "engine/execute/power/power.hpp"

namespace rankscope {

StepEnergy::StepEnergy(std::unique_ptr<EnergyMeter> meter)
    : meter_(std::move(meter)), before_(meter_ ? meter_->joules() : 0) {}

StepEnergy StepEnergy::reported_by_another() {
  StepEnergy energy(nullptr);
  energy.by_another_ = true;
  return energy;
}

std::optional<double> StepEnergy::take() {
  if (by_another_) return 0;
  if (!meter_) return std::nullopt;
  const double now = meter_->joules(), used = now - before_;
  before_ = now;
  if (std::isnan(used)) return std::nullopt;
  return used;
}

}  // namespace rankscope
