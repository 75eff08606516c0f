// Compares a gradient with the slope of its function, by finite differences in fp64.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "kernels/tensor/random.hpp"
#include "kernels/tensor/view.hpp"
#include "tests/catch.hpp"

namespace rankscope::test {

/// Derivative of f at 0 by fourth-order differences with step `h`.
inline double slope_of(const std::function<double(double)>& f, double h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

/// Moves `view` along `direction`, measures, and restores it.
inline double along(View view, const std::vector<double>& direction, double distance,
                    const std::function<double()>& measure) {
  const std::vector<double> before(view.as<double>(), view.as<double>() + view.elements());
  for (std::int64_t i = 0; i < view.elements(); ++i)
    view.as<double>()[i] += distance * direction[static_cast<std::size_t>(i)];
  const double value = measure();
  std::copy(before.begin(), before.end(), view.as<double>());
  return value;
}

/// Compares <gradient, d> with the finite difference along d: for random directions, and for single elements.
/// `tolerance` is relative to the gradient's norm.
inline void check_gradient(View view, View gradient, const std::function<double()>& measure, double h = 1e-3,
                           double tolerance = 1e-8) {
  double norm = 0;
  for (std::int64_t i = 0; i < view.elements(); ++i) norm += std::pow(gradient.as<double>()[i], 2);
  norm = std::sqrt(norm);
  CHECK(norm > 1e-6);
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    std::vector<double> direction(static_cast<std::size_t>(view.elements()));
    const bool single = trial >= 2;
    if (single) direction[random_bits(7, trial, 0) % direction.size()] = 1;
    if (!single)
      for (std::size_t i = 0; i < direction.size(); ++i)
        direction[i] = normal(7, trial, i) / std::sqrt(static_cast<double>(direction.size()));
    double expected = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) expected += direction[i] * gradient.as<double>()[i];
    const double measured = slope_of([&](double distance) { return along(view, direction, distance, measure); }, h);
    INFO("trial " << trial << ": gradient says " << expected << ", differences say " << measured);
    CHECK(std::abs(measured - expected) < tolerance * norm);
  }
}

}  // namespace rankscope::test
