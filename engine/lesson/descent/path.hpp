// Optimizer paths on a surface: the request, the points, and their statistics. Pure; the optimizers run in
// engine/execute/optimizer/walk.hpp.
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
/// A path outside the surface's window enlarged by this factor has diverged, and ends.
inline constexpr double diverged_windows = 10;
/// A loss counts as minimal if its distance to the minimum is at most this share of the start's.
inline constexpr double reached_share = 0.01;

/// The request of `rankscope-engine paths`.
struct PathRequest {
  std::string surface = "ravine";
  double condition = usual_condition;     ///< of the ravine
  std::vector<std::string> optimizers{};  ///< empty: all
  std::map<std::string, double> rates{};  ///< by optimizer; those that are missing are the surface's
  int steps = 0;                          ///< 0: the surface's
  double noise = 0;                       ///< standard deviation of what is added to each component of a gradient
  std::uint64_t seed = 1;                 ///< of that; the noise of a step is the same for all optimizers
  std::optional<Point> start{};           ///< the surface's where it is missing
  std::vector<std::string> settings{};    ///< keys of [train] that optimizers take, as "momentum=0.5"
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
  std::optional<int> reached{};    ///< from this step on the loss stays within reached_share of the least
  std::optional<int> diverged{};   ///< at this step it diverged: the path has no further points
  double bytes_per_parameter = 0;  ///< of states, as training keeps them of a large fp32 matrix
  /// Steps that were made.
  int steps() const { return static_cast<int>(points.size()) - 1; }
  /// Length of step t, counted from 1.
  double step_length(int t) const;
};

struct Paths {
  PathRequest request;  ///< all values are set, none is a default of the surface
  std::vector<OptimizerPath> each{};
  const OptimizerPath* of(const std::string& optimizer) const;
};

/// The next point of a path; false if it is so far away that the path ends. A point that is not finite is not stored.
bool add_point(OptimizerPath& path, const Surface& surface, Point point);
/// Fills in `reached`, once all points are there.
void judge(OptimizerPath& path, const Surface& surface);

/// What --json prints. paths[]: optimizer, rate, loss, above_least, distance, first_step, last_step, reached, diverged,
/// bytes_per_parameter, and by step x, y and losses.
nlohmann::json to_json(const Paths& paths);
/// Reads it back. Throws std::invalid_argument for anything else.
Paths paths_from_json(const std::string& text);
/// A table of the optimizers, for a terminal.
std::string to_text(const Paths& paths);

/// The numeric fields of an entry of paths[], which a lesson may use as "paths.OPTIMIZER.FIELD".
bool is_path_value(const std::string& path);

}  // namespace rankscope
