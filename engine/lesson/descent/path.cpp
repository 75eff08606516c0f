#include "engine/lesson/descent/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"

namespace rankscope {
namespace {

constexpr std::array<std::string_view, 8> values_of_path = {
    "rate", "loss", "above_least", "distance", "first_step", "last_step", "reached", "bytes_per_parameter",
};

/// The shortest text that parses to the same value.
std::string exact(double value) {
  std::string text;
  for (int digits = 6; digits <= 17; ++digits) {
    text = fmt::format("{:.{}g}", value, digits);  // with a point in every locale, unlike printf
    if (number_in<double>(text) == value) break;
  }
  return text;
}

}  // namespace

std::vector<std::string> arguments_of(const PathRequest& request) {
  std::vector<std::string> arguments{request.surface};
  const auto add = [&](const char* option, const std::string& value) {
    arguments.emplace_back(option);
    arguments.push_back(value);
  };
  if (request.condition != usual_condition) add("--condition", exact(request.condition));
  if (!request.optimizers.empty()) add("--optimizer", fmt::format("{}", fmt::join(request.optimizers, ",")));
  std::vector<std::string> rates;
  for (const auto& [optimizer, rate] : request.rates) rates.push_back(optimizer + "=" + exact(rate));
  if (!rates.empty()) add("--rate", fmt::format("{}", fmt::join(rates, ",")));
  if (request.steps > 0) add("--steps", std::to_string(request.steps));
  if (request.noise > 0) add("--noise", exact(request.noise));
  if (request.noise > 0 && request.seed != 1) add("--seed", std::to_string(request.seed));
  // With "=", since a number may begin with a minus.
  if (request.start) arguments.push_back("--start=" + exact(request.start->x) + "," + exact(request.start->y));
  for (const std::string& setting : request.settings) add("--set", setting);
  return arguments;
}

double OptimizerPath::step_length(int t) const {
  if (t < 1 || t > steps()) return std::nan("");
  const Point &from = points[t - 1], &to = points[t];
  return std::hypot(to.x - from.x, to.y - from.y);
}

const OptimizerPath* Paths::of(const std::string& optimizer) const {
  const auto found = std::ranges::find_if(each, [&](const OptimizerPath& path) { return path.optimizer == optimizer; });
  return found == each.end() ? nullptr : &*found;
}

bool add_point(OptimizerPath& path, const Surface& surface, Point point) {
  const double loss = surface.value(point);
  const bool finite = std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(loss);
  const bool stays = finite && surface.window.holds(point, diverged_windows);
  if (!stays) path.diverged = static_cast<int>(path.points.size());
  if (finite) {
    path.points.push_back(point);
    path.losses.push_back(loss);
  }
  return stays;
}

void judge(OptimizerPath& path, const Surface& surface) {
  path.reached.reset();
  if (path.diverged || path.losses.empty()) return;
  const double near = surface.least + reached_share * (path.losses.front() - surface.least);
  for (std::size_t t = path.losses.size(); t > 0 && path.losses[t - 1] <= near; --t)
    path.reached = static_cast<int>(t) - 1;
}

bool is_path_value(const std::string& path) {
  const std::size_t first = path.find('.'), last = path.rfind('.');
  if (first == std::string::npos || first == last || path.substr(0, first) != "paths") return false;
  const std::vector<std::string> names = walking_optimizers();
  return contains(names, path.substr(first + 1, last - first - 1)) && contains(values_of_path, path.substr(last + 1));
}

}  // namespace rankscope
