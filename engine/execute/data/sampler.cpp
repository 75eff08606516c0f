#include "engine/execute/data/sampler.hpp"

namespace rankscope {

BatchShape batch_shape(const Scenario& scenario) {
  return {scenario.plan.data, scenario.plan.micro_batches, scenario.micro_batch_size()};
}

}  // namespace rankscope
