#include "engine/worker/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/execute/optimizer/walk.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/worker/print.hpp"
#include "kernels/cpu/cpu.hpp"

namespace rankscope {
namespace {

double number_of(const std::string& text, const std::string& option) {
  const auto value = number_in<double>(text);
  if (!value || !std::isfinite(*value)) throw ScenarioError(option + ": '" + text + "' is no number");
  return *value;
}

void check_optimizer(const std::string& name, const std::string& option) {
  const std::vector<std::string> known = walking_optimizers();
  if (contains(known, name)) return;
  throw ScenarioError(option + ": unknown optimizer '" + name + "'; " +
                      nearest_or(name, known, "known: " + listed(known)));
}

void take_rate(const std::string& text, PathRequest& request) {
  const std::size_t equals = text.find('=');
  const std::string option = "--rate " + text, name = text.substr(0, equals == std::string::npos ? 0 : equals);
  const double rate = number_of(equals == std::string::npos ? text : text.substr(equals + 1), option);
  if (!(rate > 0)) throw ScenarioError(option + ": a rate must be greater than 0");
  if (name.empty()) {
    for (const std::string& optimizer : request.optimizers) request.rates[optimizer] = rate;
    return;
  }
  check_optimizer(name, option);
  if (!contains(request.optimizers, name))
    throw ScenarioError(option + ": " + name + " is not selected; add it to --optimizer " + listed(request.optimizers));
  request.rates[name] = rate;
}

Point start_of(const std::string& text) {
  const std::string option = "--start " + text;
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) throw ScenarioError(option + ": give two numbers as X,Y, such as --start=-4,1");
  return {number_of(text.substr(0, comma), option), number_of(text.substr(comma + 1), option)};
}

/// The keys of [train] that apply here: those of the learning-rate schedule, and those of any optimizer.
bool is_of_rate(const std::string& key) {
  static const std::set<std::string> keys{"train.warmup_steps", "train.decay", "train.min_learning_rate",
                                          "train.decay_steps"};
  return keys.count(key) > 0;
}

bool takes(const std::string& optimizer, const std::string& key) {
  Scenario taking;
  taking.train.hyper = optimizer_rule(optimizer).defaults;
  const Key* found = find_key(key);
  const Field field = found->field(taking);
  return (std::holds_alternative<std::optional<double>*>(field) || std::holds_alternative<std::optional<int>*>(field) ||
          std::holds_alternative<std::optional<bool>*>(field)) &&
         given(field);
}

/// The settings of one optimizer, selected from all: those that it does not use are for others.
TrainSpec train_of(const PathRequest& request, const std::string& optimizer, std::set<std::string>& taken) {
  std::vector<Override> overrides{{"train.optimizer", optimizer},
                                  {"train.learning_rate", plain(request.rates.at(optimizer))},
                                  {"train.steps", std::to_string(request.steps)}};
  for (const std::string& setting : request.settings) {
    Override given = parse_override(setting);
    given.key = full_key(given.key, "--set " + setting);
    if (!is_of_rate(given.key) && !takes(optimizer, given.key)) continue;
    taken.insert(setting);
    overrides.push_back(given);
  }
  return parse_scenario("title = \"paths\"\n", "paths", overrides).train;
}

}  // namespace

PathRequest path_request(const PathsInput& input) {
  PathRequest request;
  request.surface = input.surface;
  request.condition = input.condition;
  const std::vector<std::string> surfaces = surface_names();
  if (!contains(surfaces, input.surface))
    throw ScenarioError("paths: unknown surface '" + input.surface + "'; " +
                        nearest_or(input.surface, surfaces, "known: " + listed(surfaces)));
  if (!make_surface(input.surface).has_condition && input.condition != usual_condition)
    throw ScenarioError("--condition applies to the ravine only; " + input.surface + " has none: remove it");
  Surface surface;
  try {
    surface = make_surface(input.surface, input.condition);
  } catch (const std::invalid_argument& error) {
    throw ScenarioError(std::string("--condition: ") + error.what());
  }
  request.optimizers = input.optimizers.empty() ? walking_optimizers() : input.optimizers;
  for (const std::string& optimizer : request.optimizers) {
    check_optimizer(optimizer, "--optimizer");
    request.rates[optimizer] = surface.rates.at(optimizer);
  }
  for (const std::string& rate : input.rates) take_rate(rate, request);
  request.steps = input.steps > 0 ? input.steps : surface.steps;
  if (request.steps > most_path_steps)
    throw ScenarioError(fmt::format("--steps {}: at most {}", input.steps, most_path_steps));
  if (!(input.noise >= 0) || !std::isfinite(input.noise))
    throw ScenarioError("--noise: a standard deviation must be 0 or greater");
  request.noise = input.noise;
  request.seed = input.seed;
  request.start = input.start.empty() ? surface.start : start_of(input.start);
  if (!surface.window.holds(*request.start, diverged_windows))
    throw ScenarioError("--start " + input.start + ": too far away; the surface covers x from " +
                        plain(surface.window.x_low) + " to " + plain(surface.window.x_high) + " and y from " +
                        plain(surface.window.y_low) + " to " + plain(surface.window.y_high));
  request.settings = input.set;
  return request;
}

Paths walk_paths(PathRequest request) {
  const Surface surface = make_surface(request.surface, request.condition);
  const kernels::KernelSet kernels = kernels::cpu_kernels({.threads = 1});
  Paths paths;
  std::set<std::string> taken;
  for (const std::string& optimizer : request.optimizers)
    paths.each.push_back(
        walk(surface, *request.start, train_of(request, optimizer, taken), request.noise, request.seed, kernels));
  for (const std::string& setting : request.settings)
    if (taken.count(setting) == 0)
      throw ScenarioError(
          "--set " + setting + ": none of " + listed(request.optimizers) +
          " uses it; on a surface only keys of [train] for the learning-rate schedule count, or keys of an "
          "optimizer");
  paths.request = std::move(request);
  return paths;
}

int print_paths(const PathsInput& input) {
  print(walk_paths(path_request(input)), input.json);
  return 0;
}

}  // namespace rankscope
