#include "engine/prove/verify/judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/prove/verify/parity.hpp"

namespace rankscope::parity {
namespace {

/// Judges one run step by step while it trains.
class Judgement {
 public:
  Judgement(ParityRun& run, const ParityErrors& twin) : run_(run), twin_(twin) {}

  void decide() {
    run_.outcome = Outcome::equal;
    run_.reason.clear();
    run_.growth.clear();
    run_.judged_steps = 0;
    for (std::size_t s = 0; s < steps; ++s) {
      const StepErrors& now = run_.errors.steps[s];
      grow(std::isnan(twin_.steps[s].loss) ? twin_.steps[s].loss
                                           : std::max(twin_.steps[s].loss, twin_.steps[s].gradient));
      run_.growth.push_back(growth_);
      check(now.loss, fmt::format("the loss of step {}", s), s == 0);
      check(now.gradient, "the gradient of " + now.where, s == 0);
      if ((shows() || (is_within(now.loss) && is_within(now.gradient))) && run_.judged_steps == static_cast<int>(s))
        ++run_.judged_steps;
      if (s == 0 && run_.judges_parameters) first_update();
    }
    if (run_.judges_parameters) last_update();
    if (run_.outcome == Outcome::equal && run_.judged_steps < 2)
      not_shown(
          fmt::format("rounding each weight once changes this training by {:.1e} within two steps, which may "
                      "hide an effect of the plan; fp64 shows more of it than other precisions",
                      run_.growth[1]));
  }

 private:
  void grow(double error) {
    if (is_worse(error, growth_)) growth_ = error;
  }
  /// Infinite where the reference or its twin has a NaN.
  double bound() const {
    return std::isnan(growth_) ? std::numeric_limits<double>::infinity()
                               : std::max(run_.tolerance, ParityRun::over_twin * growth_);
  }
  bool shows() const { return bound() <= ParityRun::still_shows; }
  bool is_within(double error) const { return !is_worse(error, run_.tolerance); }

  /// If bounds prove nothing any more, values are not compared with them, except those of the first step, before which
  /// both had the same weights.
  void check(double error, const std::string& what, bool of_first_step) {
    if (!std::isfinite(bound()) || (!shows() && !of_first_step)) return;
    if (!is_worse(error, bound()) || run_.outcome == Outcome::different) return;
    run_.outcome = Outcome::different;
    run_.reason = fmt::format("{} differs by {:.1e}, and {:.1e} is allowed", what, error, bound());
  }
  void not_shown(std::string reason) {
    if (run_.outcome != Outcome::equal) return;
    run_.outcome = Outcome::not_shown;
    run_.reason = std::move(reason);
  }
  void moved(const UpdateErrors& update) {
    if (update.unmoved > 0)
      not_shown(fmt::format("{} of {} tensors changed too little to show a difference, such as {}", update.unmoved,
                            update.tensors, update.unmoved_one));
  }

  void first_update() {
    if (twin_.first_update.tensors == 0) return;  // there is no twin, or no first update
    const double before = growth_;
    grow(twin_.first_update.worst);
    check(run_.errors.first_update.worst, "after the first update " + run_.errors.first_update.where, true);
    first_shows_ = shows() || is_within(run_.errors.first_update.worst);
    growth_ = before;
  }
  void last_update() {
    grow(twin_.parameters.worst);
    check(run_.errors.parameters.worst, "after the last update " + run_.errors.parameters.where, false);
    if (shows() || is_within(run_.errors.parameters.worst))
      moved(run_.errors.parameters);
    else if (first_shows_)
      moved(run_.errors.first_update);
    else
      run_.judged_steps = std::min(run_.judged_steps, 1);
  }

  ParityRun& run_;
  const ParityErrors& twin_;
  double growth_ = 0;
  bool first_shows_ = false;
};

}  // namespace

bool is_within_tolerance(const ParityRun& run) {
  return !is_worse(run.errors.losses, run.tolerance) && !is_worse(run.errors.gradients, run.tolerance) &&
         !(run.judges_parameters && is_worse(run.errors.parameters.worst, run.tolerance));
}

void judge(ParityRun& run, const std::optional<ParityErrors>& twin) {
  ParityErrors none;
  none.steps.resize(steps);
  Judgement(run, twin ? *twin : none).decide();
  if (!twin) run.growth.clear();
  run.passed = run.outcome == Outcome::equal;
}

Outcome outcome_of(const std::vector<ParityRun>& runs) {
  Outcome worst = Outcome::equal;
  for (const ParityRun& run : runs)
    if (run.outcome == Outcome::different || worst == Outcome::equal) worst = run.outcome;
  return worst;
}

}  // namespace rankscope::parity
