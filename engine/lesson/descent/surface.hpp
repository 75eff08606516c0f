// Loss surfaces of two parameters, which show how an optimizer moves: a ravine, a saddle, two minima of different
// depth, and two classic test functions. Pure arithmetic; engine/execute/optimizer/walk.hpp computes the paths.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Two parameters.
struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// The visible window of a surface.
struct SurfaceWindow {
  double x_low = -1, x_high = 1, y_low = -1, y_high = 1;
  /// Whether the window, enlarged by this factor about its centre, contains `point`. False for a non-finite point.
  bool holds(Point point, double times = 1) const;
};

struct Surface {
  std::string name;     ///< as typed by the user
  std::string title;    ///< as shown in a list
  std::string formula;  ///< f(x, y) = …
  std::string source;   ///< its author; empty: no particular one
  std::function<double(Point)> value;
  std::function<Point(Point)> gradient;
  double least = 0;                   ///< the loss at each of the minima
  std::vector<Point> minima;          ///< all global minima
  std::vector<Point> shallow_minima;  ///< all other minima: lowest in their neighbourhood, not on the surface
  std::vector<Point> saddles;         ///< where the gradient is zero and the loss decreases in two directions
  Point start;
  SurfaceWindow window;
  int steps = 100;             ///< enough to show the differences
  bool has_condition = false;  ///< its condition number can be chosen
  /// For each optimizer (engine/plan/optimizer_rule) a suitable rate on this surface.
  std::map<std::string, double, std::less<>> rates;
  /// From a point to the nearest global minimum.
  double distance(Point point) const;
};

/// Default of the ravine's λmax/λmin.
inline constexpr double usual_condition = 20;
inline constexpr double least_condition = 1, greatest_condition = 1e6;

/// "ravine", "saddle", "two-minima", "rosenbrock", "beale", in the order in which they are listed.
std::vector<std::string> surface_names();

///   ravine      ½(x² + κy²): curvatures 1 and κ, κ the condition number. SGD multiplies y by 1 - rate·κ in each step,
///               so y changes its sign in each step beyond a rate of 1/κ, and diverges beyond 2/κ
///   saddle      x² - y² + ½y⁴: a saddle at (0, 0), where y's curvature is -2, and minima at (0, ±1)
///   two-minima  ¼x⁴ + ⅓x³ - x² + y²: the least loss, -8/3, at (-2, 0); a shallow minimum of -5/12 at (1, 0); a saddle
///               between them at (0, 0), where the loss is 0
///   rosenbrock  (1 - x)² + 100(y - x²)² (Rosenbrock 1960, The Computer Journal 3(3), 175-184)
///   beale       (1.5 - x + xy)² + (2.25 - x + xy²)² + (2.625 - x + xy³)² (Beale 1958, Princeton STRG report 25; start
///               of both after Moré, Garbow and Hillstrom 1981, ACM TOMS 7(1), problems 1 and 5)
///
/// `condition` is used by the ravine only. Throws std::invalid_argument, with the valid values in the message, for an
/// unknown name or a condition number out of range.
Surface make_surface(std::string_view name, double condition = usual_condition);

}  // namespace rankscope
