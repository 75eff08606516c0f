#include "engine/predict/cost/goodput.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace {

/// Expected seconds of an interval of training with its checkpoint and with the time lost by failures.
double expected(double interval, const Failures& f) {
  if (f.between <= 0) return interval + f.checkpoint;
  return (f.between + f.restart) * std::expm1((interval + f.checkpoint) / f.between);
}

double best_interval(double training, const Failures& f) {
  if (f.between <= 0) return training;
  const double young = std::sqrt(2 * std::max(f.checkpoint, 1e-3) * f.between);
  double best = young;
  for (double factor = 0.25; factor <= 4; factor *= 1.02)
    if (expected(young * factor, f) / (young * factor) < expected(best, f) / best) best = young * factor;
  return std::min(best, training);
}

}  // namespace

Goodput goodput(double training, double interval, const Failures& failures) {
  Goodput result;
  if (!(training > 0)) return result;
  result.interval = interval > 0 ? std::min(interval, training) : best_interval(training, failures);
  const double stretch = expected(result.interval, failures) / result.interval;
  result.share = 1 / stretch;
  if (failures.between > 0) result.failures = training * stretch / failures.between;
  return result;
}

}  // namespace rankscope
