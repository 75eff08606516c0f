#include "engine/layers/initialise.hpp"

#include "engine/model/part.hpp"
#include "kernels/tensor/element.hpp"
#include "kernels/tensor/random.hpp"

namespace rankscope {
namespace {

double value_at(const ParameterSpec& spec, std::uint64_t seed, std::int64_t index) {
  switch (spec.init) {
    case Init::zeros: return 0;
    case Init::ones: return 1;
    case Init::normal:
      return spec.std_dev * normal(seed, random_stream(RandomPurpose::weights),
                                   static_cast<std::uint64_t>(spec.global_offset + index));
  }
  return 0;
}

}  // namespace

void initialise(View parameter, const ParameterSpec& spec, std::uint64_t seed, std::int64_t first, int tensor) {
  for (const ElementRun& run : element_runs(spec, tensor, first, parameter.elements()))
    for (std::int64_t i = 0; i < run.count; ++i)
      set_element(parameter, run.local + i, run.is_padding() ? 0 : value_at(spec, seed, run.global + i));
}

}  // namespace rankscope
