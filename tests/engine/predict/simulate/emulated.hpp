// Executed steps that are all there, laid out one after the other.
#pragma once
#include "engine/predict/layout/emulate.hpp"

namespace rankscope {

inline Simulation emulate(const std::vector<RankProgram>& programs, const RankGrid& grid,
                          const std::vector<ExecutedStep>& steps, const Costs& costs) {
  Emulator emulator(programs, grid, costs);
  Simulation result;
  for (const ExecutedStep& step : steps) {
    Simulation one = emulator.lay_out(step);
    result.spans.insert(result.spans.end(), one.spans.begin(), one.spans.end());
    result.end_ns = one.end_ns;
  }
  return result;
}

}  // namespace rankscope
