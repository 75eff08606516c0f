#include "engine/lesson/descent/surface.hpp"

#include <cmath>

#include "engine/plan/optimizer_rule/rule.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// Central differences; their error is of order h².
Point by_differences(const Surface& surface, Point at) {
  const double hx = 1e-5 * std::max(1.0, std::abs(at.x)), hy = 1e-5 * std::max(1.0, std::abs(at.y));
  return {(surface.value({at.x + hx, at.y}) - surface.value({at.x - hx, at.y})) / (2 * hx),
          (surface.value({at.x, at.y + hy}) - surface.value({at.x, at.y - hy})) / (2 * hy)};
}

double length(Point p) { return std::hypot(p.x, p.y); }

}  // namespace

TEST_CASE("a surface's gradient is its slope by finite differences, all over its window") {
  const std::string name = GENERATE(from_range(surface_names()));
  const Surface surface = make_surface(name, GENERATE(1.0, 20.0, 300.0));
  const SurfaceWindow& w = surface.window;
  for (int i = 0; i <= 10; ++i)
    for (int j = 0; j <= 10; ++j) {
      const Point at{w.x_low + (w.x_high - w.x_low) * i / 10, w.y_low + (w.y_high - w.y_low) * j / 10};
      const Point stated = surface.gradient(at), found = by_differences(surface, at);
      INFO(name << " at " << at.x << ", " << at.y);
      CHECK(length({stated.x - found.x, stated.y - found.y}) <= 1e-6 * (1 + length(stated)));
    }
}

TEST_CASE("minima are where the loss is least and the slope zero, and nothing in the window is lower") {
  const Surface surface = make_surface(GENERATE(from_range(surface_names())));
  INFO(surface.name);
  for (const Point& minimum : surface.minima) {
    CHECK(surface.value(minimum) == Approx(surface.least).margin(1e-14));
    CHECK(length(surface.gradient(minimum)) < 1e-12);
    CHECK(surface.distance(minimum) == 0);
    CHECK(surface.window.holds(minimum));
  }
  const SurfaceWindow& w = surface.window;
  for (int i = 0; i <= 400; ++i)
    for (int j = 0; j <= 400; ++j)
      REQUIRE(surface.value({w.x_low + (w.x_high - w.x_low) * i / 400, w.y_low + (w.y_high - w.y_low) * j / 400}) >=
              surface.least - 1e-12);
  CHECK(surface.window.holds(surface.start));
  CHECK(surface.value(surface.start) > surface.least);
}

TEST_CASE("a shallow minimum has no slope, rises to all sides, and is higher than the least loss") {
  const Surface surface = make_surface("two-minima");
  REQUIRE(surface.shallow_minima.size() == 1);
  const Point shallow = surface.shallow_minima.front();
  CHECK(length(surface.gradient(shallow)) == 0);
  CHECK(surface.value(shallow) == Approx(-5.0 / 12));
  CHECK(surface.value(shallow) > surface.least + 2);
  for (int i = 0; i < 360; ++i) {
    const double angle = i * 3.14159265358979 / 180;
    CHECK(surface.value({shallow.x + 1e-3 * std::cos(angle), shallow.y + 1e-3 * std::sin(angle)}) >
          surface.value(shallow));
  }
  // The path to the deep minimum goes over the saddle, which is higher than both minima.
  CHECK(surface.value(surface.saddles.front()) == 0);
  CHECK(surface.distance(shallow) == 3);
}

TEST_CASE("a saddle has no slope, falls to two sides and rises to the two others") {
  int saddles = 0;
  for (const std::string& name : surface_names()) {
    const Surface surface = make_surface(name);
    for (const Point& saddle : surface.saddles) {
      ++saddles;
      INFO(name);
      CHECK(length(surface.gradient(saddle)) < 1e-12);
      int lower = 0, higher = 0;
      for (int i = 0; i < 360; ++i) {
        const double angle = i * 3.14159265358979 / 180;
        const double there = surface.value({saddle.x + 1e-3 * std::cos(angle), saddle.y + 1e-3 * std::sin(angle)});
        (there < surface.value(saddle) ? lower : higher) += 1;
      }
      CHECK(lower > 0);
      CHECK(higher > 0);
    }
  }
  CHECK(saddles == 3);
  // The saddle's path begins next to the ridge, where the slope along y is nearly zero.
  const Surface saddle = make_surface("saddle");
  CHECK(std::abs(saddle.gradient(saddle.start).y) < 0.01 * std::abs(saddle.gradient(saddle.start).x));
}

TEST_CASE("a ravine's condition number is the ratio of its curvatures") {
  const Surface ravine = make_surface("ravine", 50);
  CHECK(ravine.gradient({1, 1}).y == 50 * ravine.gradient({1, 1}).x);
  CHECK(ravine.formula.find("50") != std::string::npos);
  CHECK_THROWS_WITH(make_surface("ravine", 0.5), "a ravine's condition number is from 1 to 1e+06, not 0.5");
  CHECK_THROWS_WITH(make_surface("hill"),
                    "unknown surface 'hill'; known: ravine, saddle, two-minima, rosenbrock, beale");
}

TEST_CASE("every surface has a rate for every optimizer") {
  for (const std::string& name : surface_names())
    for (const std::string& optimizer : walking_optimizers()) {
      INFO(name << " " << optimizer);
      const Surface surface = make_surface(name);
      REQUIRE(surface.rates.count(optimizer) == 1);
      CHECK(surface.rates.at(optimizer) > 0);
    }
}
