#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/lesson/descent/path.hpp"

namespace rankscope {
namespace {

using nlohmann::json;

json known(std::optional<int> step) { return step ? json(*step) : json(nullptr); }
json known(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
std::optional<int> step_of(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<int>());
}

json to_json(const OptimizerPath& path, const Surface& surface) {
  json x = json::array(), y = json::array();
  for (const Point& point : path.points) {
    x.push_back(point.x);
    y.push_back(point.y);
  }
  const double loss = path.losses.back();
  return {{"optimizer", path.optimizer},
          {"rate", path.rate},
          {"loss", loss},
          {"above_least", loss - surface.least},
          {"distance", surface.distance(path.points.back())},
          {"first_step", known(path.step_length(1))},
          {"last_step", known(path.step_length(path.steps()))},
          {"reached", known(path.reached)},
          {"diverged", known(path.diverged)},
          {"bytes_per_parameter", path.bytes_per_parameter},
          {"x", x},
          {"y", y},
          {"losses", path.losses}};
}

OptimizerPath path_of(const json& entry) {
  OptimizerPath path;
  path.optimizer = entry.at("optimizer").get<std::string>();
  path.rate = entry.at("rate").get<double>();
  path.losses = entry.at("losses").get<std::vector<double>>();
  path.reached = step_of(entry.at("reached"));
  path.diverged = step_of(entry.at("diverged"));
  path.bytes_per_parameter = entry.at("bytes_per_parameter").get<double>();
  const auto x = entry.at("x").get<std::vector<double>>(), y = entry.at("y").get<std::vector<double>>();
  if (x.empty() || x.size() != y.size() || x.size() != path.losses.size())
    throw std::invalid_argument("a path has as many x as y and losses, and at least its start");
  for (std::size_t t = 0; t < x.size(); ++t) path.points.push_back({x[t], y[t]});
  return path;
}

}  // namespace

json to_json(const Paths& paths) {
  const PathRequest& request = paths.request;
  const Surface surface = make_surface(request.surface, request.condition);
  const Point start = request.start.value_or(surface.start);
  json each = json::array();
  for (const OptimizerPath& path : paths.each) each.push_back(to_json(path, surface));
  return {{"surface", request.surface}, {"condition", request.condition},
          {"least", surface.least},     {"start", {start.x, start.y}},
          {"steps", request.steps},     {"noise", request.noise},
          {"seed", request.seed},       {"settings", request.settings},
          {"precision", "fp64"},        {"paths", each}};
}

Paths paths_from_json(const std::string& text) {
  try {
    const json root = json::parse(text);
    Paths paths;
    PathRequest& request = paths.request;
    request.surface = root.at("surface").get<std::string>();
    request.condition = root.at("condition").get<double>();
    make_surface(request.surface, request.condition);  // throws if there is no such surface
    const auto start = root.at("start").get<std::vector<double>>();
    if (start.size() != 2) throw std::invalid_argument("a start has two numbers");
    request.start = Point{start[0], start[1]};
    request.steps = root.at("steps").get<int>();
    request.noise = root.at("noise").get<double>();
    request.seed = root.at("seed").get<std::uint64_t>();
    request.settings = root.at("settings").get<std::vector<std::string>>();
    for (const json& entry : root.at("paths")) {
      const OptimizerPath& path = paths.each.emplace_back(path_of(entry));
      request.optimizers.push_back(path.optimizer);
      request.rates[path.optimizer] = path.rate;
    }
    return paths;
  } catch (const json::exception& error) {
    throw std::invalid_argument(std::string("these are no paths: ") + error.what());
  }
}

}  // namespace rankscope
