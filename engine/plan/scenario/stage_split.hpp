// How plan.stages cuts a model into chunks: by one of three rules, or by a list of numbers.
#pragma once
#include <cstdint>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

enum class StageSplit : std::uint8_t {
  even,      ///< the same number of layers in each chunk, as near as possible
  cost,      ///< by FLOPs
  measured,  ///< by measured costs: becomes a list before anything is compiled
  listed,    ///< "3 2 2 1", or text that is no list: see listed_layers()
};
inline StageSplit stage_split(const PlanSpec& plan) {
  if (plan.stages == "even") return StageSplit::even;
  if (plan.stages == "cost") return StageSplit::cost;
  return plan.stages == "measured" ? StageSplit::measured : StageSplit::listed;
}

}  // namespace rankscope
