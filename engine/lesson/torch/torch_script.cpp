#include "engine/lesson/torch/torch_script.hpp"

#include <stdexcept>

#include "engine/lesson/torch/pieces.hpp"
#include "engine/plan/program/compile.hpp"

namespace rankscope {
namespace {

std::vector<int> layers_of_chunks(const StepProgram& step) {
  std::vector<int> layers(step.first_segment.size() - 1, 0);
  for (std::size_t chunk = 0; chunk < layers.size(); ++chunk) {
    int last = -1;
    for (int s = step.first_segment[chunk]; s < step.first_segment[chunk + 1]; ++s) {
      const int block = step.model.segments[s].block;
      layers[chunk] += block >= 0 && block != last;
      last = block;
    }
  }
  return layers;
}

}  // namespace

std::string torch_script(const Scenario& scenario) {
  if (const std::string why = why_no_torch(scenario); !why.empty()) throw PlanError(why);
  const python::Subject subject{scenario, layers_of_chunks(compile(scenario))};
  return python::head(subject) + python::ranks(subject) + python::random_numbers() + python::language() +
         python::tensor_layers(subject) + python::model(subject) + python::weights(subject) + python::plan(subject) +
         python::optimizer(subject) + python::train_steps(subject);
}

}  // namespace rankscope
