#include "engine/predict/search/plan_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

int whole_number_of(const std::string& text) {
  if (const auto value = number_in<int>(text)) return *value;
  throw std::invalid_argument("'" + text + "' is no whole number");
}

/// A key of the plan that a search chooses: a number, or a name of a set.
struct PlanKnob {
  const char* name;
  bool ordered;
  std::string (*get)(const PlanSpec&);
  void (*set)(PlanSpec&, const std::string&);
};

template <int PlanSpec::*member>
constexpr PlanKnob number(const char* name) {
  return {name, true, [](const PlanSpec& plan) { return std::to_string(plan.*member); },
          [](PlanSpec& plan, const std::string& value) { plan.*member = whole_number_of(value); }};
}

const PlanKnob plan_knobs[] = {
    number<&PlanSpec::data>("data"),
    number<&PlanSpec::tensor>("tensor"),
    number<&PlanSpec::pipeline>("pipeline"),
    number<&PlanSpec::virtual_stages>("virtual"),
    {"schedule", false, [](const PlanSpec& plan) { return plan.schedule.name(); },
     [](PlanSpec& plan, const std::string& value) { plan.schedule = Choice<ScheduleKind>(value); }},
    {"stages", false, [](const PlanSpec& plan) { return plan.stages; },
     [](PlanSpec& plan, const std::string& value) { plan.stages = value; }},
    number<&PlanSpec::micro_batches>("micro_batches"),
    number<&PlanSpec::zero>("zero"),
    {"recompute", false, [](const PlanSpec& plan) { return plan.recompute.name(); },
     [](PlanSpec& plan, const std::string& value) { plan.recompute = Choice<Recompute>(value); }},
    number<&PlanSpec::recompute_blocks>("recompute_blocks"),
    {"sequence_parallel", false,
     [](const PlanSpec& plan) { return std::string(plan.sequence_parallel ? "true" : "false"); },
     [](PlanSpec& plan, const std::string& value) {
       if (value != "true" && value != "false")
         throw std::invalid_argument("'" + value + "' is neither true nor false");
       plan.sequence_parallel = value == "true";
     }},
};

}  // namespace

Space plan_space(const std::vector<PlanSpec>& plans) {
  std::vector<Knob> knobs;
  std::vector<std::map<std::string, int>> index_of;
  for (const PlanKnob& knob : plan_knobs) {
    std::map<std::string, int> index;
    for (const PlanSpec& plan : plans) index.emplace(knob.get(plan), 0);
    std::vector<std::string> values;
    for (const auto& [value, unused] : index) values.push_back(value);
    if (knob.ordered)
      std::sort(values.begin(), values.end(),
                [](const std::string& a, const std::string& b) { return whole_number_of(a) < whole_number_of(b); });
    for (std::size_t i = 0; i < values.size(); ++i) index[values[i]] = static_cast<int>(i);
    knobs.push_back({knob.name, std::move(values), knob.ordered});
    index_of.push_back(std::move(index));
  }
  Space space(std::move(knobs));
  std::vector<int> point(std::size(plan_knobs));
  for (const PlanSpec& plan : plans) {
    for (std::size_t k = 0; k < point.size(); ++k) point[k] = index_of[k].at(plan_knobs[k].get(plan));
    space.add(point);
  }
  return space;
}

PlanSpec with_values(PlanSpec plan, const std::vector<Knob>& knobs, std::span<const int> values) {
  if (knobs.size() != values.size()) throw std::invalid_argument("a plan needs one value of each knob");
  plan.order.clear();
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    const auto known = std::find_if(std::begin(plan_knobs), std::end(plan_knobs),
                                    [&](const PlanKnob& knob) { return knobs[k].name == knob.name; });
    if (known == std::end(plan_knobs)) throw std::invalid_argument("a plan has no knob '" + knobs[k].name + "'");
    if (values[k] < 0 || values[k] >= static_cast<int>(knobs[k].values.size()))
      throw std::invalid_argument(fmt::format("knob '{}' has no value number {}", knobs[k].name, values[k]));
    known->set(plan, knobs[k].values[values[k]]);
  }
  return plan;
}

}  // namespace rankscope
