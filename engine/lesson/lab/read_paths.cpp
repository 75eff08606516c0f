#include "engine/lesson/lab/read_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/lesson/lab/fields.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope {
namespace {

using document::Item;
using document::refuse;
using document::Table;

void check_optimizer(const std::string& name, const std::string& at) {
  const std::vector<std::string> known = walking_optimizers();
  if (contains(known, name)) return;
  refuse(at, fmt::format("unknown optimizer '{}'; {}", name, nearest_or(name, known, "known: " + listed(known))));
}

/// Learning rates, a number for each optimizer.
std::map<std::string, double> rates_of(const Item& item) {
  const Table& table = document::as<Table>(item, "write it as { sgd = 0.1, adam = 0.01 }");
  std::map<std::string, double> rates;
  Fields fields(table, "rates");
  for (const Item& rate : table) {
    check_optimizer(rate.key, rate.at);
    rates[rate.key] = fields.number(rate.key, 0);
    if (!(rates[rate.key] > 0)) refuse(rate.at, rate.key + " has a rate that is not positive; give one greater than 0");
  }
  return rates;
}

}  // namespace

PathRequest read_path_request(const Item& item, const std::string& answer_from) {
  Fields fields(document::as<Table>(item, "write it as { surface = \"ravine\", rates = { sgd = 0.1 } }"), "paths");
  PathRequest request;
  request.surface = fields.text("surface", item.at, true);
  request.condition = fields.number("condition", usual_condition);
  request.steps = static_cast<int>(fields.number("steps", 0));
  request.noise = fields.number("noise", 0);
  if (const Item* rates = fields.take("rates")) request.rates = rates_of(*rates);
  fields.refuse_others();
  try {
    make_surface(request.surface, request.condition);
  } catch (const std::invalid_argument& error) {
    refuse(fields.at("surface"), error.what());
  }
  if (request.steps < 0 || request.steps > most_path_steps || request.noise < 0)
    refuse(item.at, fmt::format("steps are from 0, which is the surface's own, to {}, and noise is not negative",
                                most_path_steps));
  const std::size_t dot = answer_from.find('.') + 1, last = answer_from.rfind('.');
  const std::string asked = last > dot && last != std::string::npos ? answer_from.substr(dot, last - dot) : "";
  for (const std::string& optimizer : walking_optimizers())
    if (optimizer == asked || request.rates.count(optimizer) > 0) request.optimizers.push_back(optimizer);
  return request;
}

}  // namespace rankscope
