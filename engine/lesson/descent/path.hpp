// Optimizer paths on a surface: the request, the points, and their statistics. Pure; engine/execute/optimizer/walk.hpp
// runs the optimizers.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/lesson/descent/surface.hpp"

namespace rankscope {

inline constexpr int most_path_steps = 100'000;
/// A path that leaves the surface's window enlarged by this factor has diverged, and ends.
inline constexpr double diverged_windows = 10;
/// A loss counts as minimal if its distance to the minimum is at most this share of the start's.
inline constexpr double reached_share = 0.01;

/// The request of `rankscope-engine paths`.
struct PathRequest {
  std::string surface = "ravine";
  double condition = usual_condition;     ///< of the ravine
  std::vector<std::string> optimizers{};  ///< empty: all
  std::map<std::string, double> rates{};  ///< by optimizer; missing ones are the surface's
  int steps = 0;                          ///< 0: the surface's
  double noise = 0;                       ///< standard deviation of the noise added to each component of a gradient
  std::uint64_t seed = 1;                 ///< of the noise, which in each step is the same for all optimizers
  std::optional<Point> start{};           ///< if missing, the surface's
  std::vector<std::string> settings{};    ///< keys of [train] for optimizers, as "momentum=0.5"
  bool operator==(const PathRequest&) const = default;
};

/// The command's arguments after "paths"; defaults are omitted.
std::vector<std::string> arguments_of(const PathRequest& request);

/// The path of one optimizer. points[t] is its position after t steps, losses[t] the surface's value there, without
/// noise.
struct OptimizerPath {
  std::string optimizer;
  double rate = 0;
  std::vector<Point> points{};
  std::vector<double> losses{};
  std::optional<int> reached{};    ///< from this step on the loss stays within reached_share of the minimum
  std::optional<int> diverged{};   ///< it diverged at this step: the path has no further points
  double bytes_per_parameter = 0;  ///< of optimizer states, as in training for a large fp32 matrix
  /// The number of steps.
  int steps() const { return static_cast<int>(points.size()) - 1; }
  /// Length of step t, counted from 1.
  double step_length(int t) const;
};

struct Paths {
  PathRequest request;  ///< all values are set, none is a default of the surface
  std::vector<OptimizerPath> each{};
  const OptimizerPath* of(const std::string& optimizer) const;
};

/// Adds the next point; false if it is so far away that the path ends. A point that is not finite is not stored.
bool add_point(OptimizerPath& path, const Surface& surface, Point point);
/// Sets `reached`; call it after the last point.
void judge(OptimizerPath& path, const Surface& surface);

/// The output of --json. paths[]: optimizer, rate, loss, above_least, distance, first_step, last_step, reached,
/// diverged, bytes_per_parameter, and by step x, y and losses.
nlohmann::json to_json(const Paths& paths);
/// The inverse. Throws std::invalid_argument for invalid text.
Paths paths_from_json(const std::string& text);
/// A table of the optimizers, for a terminal.
std::string to_text(const Paths& paths);

/// The numeric fields of an entry of paths[], which a lesson may use as "paths.OPTIMIZER.FIELD".
bool is_path_value(const std::string& path);

}  // namespace rankscope
