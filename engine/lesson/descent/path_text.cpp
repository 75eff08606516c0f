#include <fmt/format.h>

#include <cmath>

#include "engine/lesson/descent/path.hpp"

namespace rankscope {
namespace {

std::string point_text(Point point) { return fmt::format("({:.4g}, {:.4g})", point.x, point.y); }

std::string end_of(const OptimizerPath& path) {
  if (path.diverged) return fmt::format("diverged at step {}", *path.diverged);
  return path.reached ? fmt::format("from step {}", *path.reached) : std::string("not yet");
}

}  // namespace

std::string to_text(const Paths& paths) {
  const PathRequest& request = paths.request;
  const Surface surface = make_surface(request.surface, request.condition);
  const Point start = request.start.value_or(surface.start);
  std::string minima;
  for (const Point& minimum : surface.minima) minima += (minima.empty() ? "" : " and ") + point_text(minimum);
  std::string text =
      fmt::format("{}: {}{}{}\n", surface.title, surface.formula, surface.source.empty() ? "" : ", ", surface.source);
  text += fmt::format("minimum {:g} at {}; start at {} with {:.4g}; {} steps", surface.least, minima, point_text(start),
                      surface.value(start), request.steps);
  if (request.noise > 0)
    text += fmt::format("; gradient noise with standard deviation {:g}, seed {}", request.noise, request.seed);
  for (const std::string& setting : request.settings) text += "; " + setting;
  text += "\ncomputed by the engine's optimizers in fp64 on two numbers; no model is trained\n\n";
  text += fmt::format("{:<11}{:>9}  {:<24}{:>11}{:>12}{:>12}  {:<22}{:>7}\n", "", "rate", "last point", "loss",
                      "first step", "last step", "within 1 %", "state");
  for (const OptimizerPath& path : paths.each)
    text += fmt::format("{:<11}{:>9.4g}  {:<24}{:>11.4g}{:>12.4g}{:>12.4g}  {:<22}{:>5.4g} B\n", path.optimizer,
                        path.rate, point_text(path.points.back()), path.losses.back(), path.step_length(1),
                        path.step_length(path.steps()), end_of(path), path.bytes_per_parameter);
  text += "\nstate: bytes of optimizer state per parameter of a large fp32 matrix in training\n";
  return text;
}

}  // namespace rankscope
