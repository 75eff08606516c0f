// Where optimizers went on a surface: what was asked for, the points, and what there is to say of them. Pure; who
// walks: engine/execute/optimizer/walk.hpp.
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
/// A path that is farther out than the surface's window so many times as large has diverged, and ends.
inline constexpr double diverged_windows = 10;
/// A loss is as good as the least when it is nearer to it by this than the start's.
inline constexpr double reached_share = 0.01;

/// What `rankscope-engine paths` is asked.
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

/// The command's arguments, behind "paths"; what is as usual is left out.
std::vector<std::string> arguments_of(const PathRequest& request);

/// How one optimizer went. points[t] is where it stood after t steps, losses[t] the surface's value there, noise or
/// not.
struct OptimizerPath {
  std::string optimizer;
  double rate = 0;
  std::vector<Point> points{};
  std::vector<double> losses{};
  std::optional<int> reached{};    ///< from this step on the loss stays within reached_share of the least
  std::optional<int> diverged{};   ///< at this step it left: the path has no further points
  double bytes_per_parameter = 0;  ///< of states, as training keeps them of a large fp32 matrix
  /// Steps that were made.
  int steps() const { return static_cast<int>(points.size()) - 1; }
  /// Length of step t, counted from 1.
  double step_length(int t) const;
};

struct Paths {
  PathRequest request;  ///< nothing in it is left to the surface
  std::vector<OptimizerPath> each{};
  const OptimizerPath* of(const std::string& optimizer) const;
};

/// The next point of a path; false when it is so far out that the path ends there. One that is not finite is not kept.
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

/// The fields of an entry of paths[] that are one number each: what a lesson may ask for as "paths.OPTIMIZER.FIELD".
bool is_path_value(const std::string& path);

}  // namespace rankscope
