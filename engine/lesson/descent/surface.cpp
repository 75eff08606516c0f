#include "engine/lesson/descent/surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace rankscope {
namespace {

using Rates = decltype(Surface::rates);

double square(double a) { return a * a; }

std::string short_text(double value) { return fmt::format("{:g}", value); }

// SGD's rate is 0.9 of its stability limit, so that it visibly oscillates; momentum's rate, a tenth of its effective
// rate, is about a tenth of its limit of 2(1 + μ)/κ. RAdam's first five steps are those of momentum. The other
// optimizers' steps do not depend on the curvature.
Surface ravine(double condition) {
  Surface s;
  s.title = "Ravine";
  s.formula = "½(x² + " + short_text(condition) + "·y²)";
  s.value = [condition](Point p) { return 0.5 * (square(p.x) + condition * square(p.y)); };
  s.gradient = [condition](Point p) { return Point{p.x, condition * p.y}; };
  s.minima = {{0, 0}};
  s.start = {-4, 1};
  s.window = {-4.6, 2.4, -1.5, 1.5};
  s.steps = 100;
  s.has_condition = true;
  s.rates = {{"sgd", 1.8 / condition}, {"momentum", 0.4 / condition},           {"adagrad", 0.5},   {"adam", 0.1},
             {"adamw", 0.1},           {"radam", std::min(0.1, 2 / condition)}, {"adafactor", 0.1}, {"adam8bit", 0.1},
             {"sophia", 0.03}};
  return s;
}

// The same rate for all: only the optimizers differ.
Surface saddle(double) {
  Surface s;
  s.title = "Saddle";
  s.formula = "x² − y² + ½y⁴";
  s.value = [](Point p) { return square(p.x) - square(p.y) + 0.5 * square(square(p.y)); };
  s.gradient = [](Point p) { return Point{2 * p.x, -2 * p.y + 2 * p.y * square(p.y)}; };
  s.least = -0.5;
  s.minima = {{0, -1}, {0, 1}};
  s.saddles = {{0, 0}};
  s.start = {1, 1e-3};
  s.window = {-1.3, 1.3, -1.3, 1.3};
  s.steps = 120;
  for (const char* optimizer :
       {"sgd", "momentum", "adagrad", "adam", "adamw", "radam", "adafactor", "adam8bit", "sophia"})
    s.rates[optimizer] = 0.02;
  return s;
}

// x's slope is x(x + 2)(x - 1), so that both minima and the ridge between them have integer x. The start is above the
// shallow minimum. Momentum is fast enough there to cross the ridge, SGD is not.
Surface two_minima(double) {
  Surface s;
  s.title = "Two minima";
  s.formula = "¼x⁴ + ⅓x³ − x² + y²";
  s.value = [](Point p) { return square(square(p.x)) / 4 + square(p.x) * p.x / 3 - square(p.x) + square(p.y); };
  s.gradient = [](Point p) { return Point{p.x * (p.x + 2) * (p.x - 1), 2 * p.y}; };
  s.least = -8.0 / 3;
  s.minima = {{-2, 0}};
  s.shallow_minima = {{1, 0}};
  s.saddles = {{0, 0}};
  s.start = {2, 1};
  s.window = {-3, 2.4, -1.4, 1.4};
  s.steps = 120;
  s.rates = {{"sgd", 0.05},   {"momentum", 0.05},  {"adagrad", 0.5},  {"adam", 0.1},   {"adamw", 0.1},
             {"radam", 0.05}, {"adafactor", 0.05}, {"adam8bit", 0.1}, {"sophia", 0.03}};
  return s;
}

Surface rosenbrock(double) {
  Surface s;
  s.title = "Rosenbrock's valley";
  s.formula = "(1 − x)² + 100(y − x²)²";
  s.source = "Rosenbrock 1960";
  s.value = [](Point p) { return square(1 - p.x) + 100 * square(p.y - square(p.x)); };
  s.gradient = [](Point p) {
    const double off = p.y - square(p.x);
    return Point{-2 * (1 - p.x) - 400 * p.x * off, 200 * off};
  };
  s.minima = {{1, 1}};
  s.start = {-1.2, 1};
  s.window = {-2, 2, -1, 3};
  s.steps = 500;
  s.rates = {{"sgd", 1.5e-3}, {"momentum", 1e-3},  {"adagrad", 0.5},  {"adam", 0.1},   {"adamw", 0.1},
             {"radam", 5e-3}, {"adafactor", 0.01}, {"adam8bit", 0.1}, {"sophia", 0.05}};
  return s;
}

constexpr std::array<double, 3> beale_numbers{1.5, 2.25, 2.625};

Surface beale(double) {
  Surface s;
  s.title = "Beale's function";
  s.formula = "(1.5 − x + xy)² + (2.25 − x + xy²)² + (2.625 − x + xy³)²";
  s.source = "Beale 1958";
  s.value = [](Point p) {
    double sum = 0, power = 1;
    for (const double number : beale_numbers) {
      power *= p.y;
      sum += square(number - p.x + p.x * power);
    }
    return sum;
  };
  s.gradient = [](Point p) {
    Point gradient;
    double power = 1, exponent = 0;
    for (const double number : beale_numbers) {
      const double slope = ++exponent * power;  // of y^exponent
      power *= p.y;
      const double rest = number - p.x + p.x * power;
      gradient.x += 2 * rest * (power - 1);
      gradient.y += 2 * rest * p.x * slope;
    }
    return gradient;
  };
  s.minima = {{3, 0.5}};
  s.saddles = {{0, 1}};
  s.start = {1, 1};
  s.window = {-1, 4.5, -1.6, 1.8};
  s.steps = 300;
  s.rates = {{"sgd", 1e-2},   {"momentum", 1e-2},  {"adagrad", 0.5},  {"adam", 0.1},   {"adamw", 0.1},
             {"radam", 0.02}, {"adafactor", 0.01}, {"adam8bit", 0.1}, {"sophia", 0.02}};
  return s;
}

struct Row {
  const char* name;
  Surface (*make)(double condition);
};
constexpr Row surfaces[] = {
    {"ravine", ravine}, {"saddle", saddle}, {"two-minima", two_minima}, {"rosenbrock", rosenbrock}, {"beale", beale},
};

}  // namespace

bool SurfaceWindow::holds(Point point, double times) const {
  const double wide = times * (x_high - x_low) / 2, high = times * (y_high - y_low) / 2;
  return std::abs(point.x - (x_low + x_high) / 2) <= wide && std::abs(point.y - (y_low + y_high) / 2) <= high;
}

double Surface::distance(Point point) const {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Point& minimum : minima) nearest = std::min(nearest, std::hypot(point.x - minimum.x, point.y - minimum.y));
  return nearest;
}

std::vector<std::string> surface_names() {
  std::vector<std::string> names;
  for (const Row& row : surfaces) names.emplace_back(row.name);
  return names;
}

Surface make_surface(std::string_view name, double condition) {
  if (!(condition >= least_condition && condition <= greatest_condition))
    throw std::invalid_argument("a ravine's condition number is from " + short_text(least_condition) + " to " +
                                short_text(greatest_condition) + ", not " + short_text(condition));
  for (const Row& row : surfaces)
    if (name == row.name) {
      Surface surface = row.make(condition);
      surface.name = name;
      return surface;
    }
  throw std::invalid_argument(fmt::format("unknown surface '{}'; known: {}", name, fmt::join(surface_names(), ", ")));
}

}  // namespace rankscope
