#include "engine/layers/initialise.hpp"

#include <algorithm>
#include <thread>
#include <vector>

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

/// A billion draws take a minute: long stretches are drawn on several cores. Every element is on its own.
template <class Draw>
void on_cores(std::int64_t count, Draw draw) {
  constexpr std::int64_t worth_a_thread = std::int64_t{1} << 22;
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t threads = std::clamp<std::int64_t>(count / worth_a_thread, 1, cores);
  std::vector<std::jthread> others;
  for (std::int64_t t = 1; t < threads; ++t)
    others.emplace_back([=, &draw] { draw(count * t / threads, count * (t + 1) / threads); });
  draw(0, count / threads);
}

}  // namespace

void initialise(View parameter, const ParameterSpec& spec, std::uint64_t seed, std::int64_t first, int tensor) {
  for (const ElementRun& run : element_runs(spec, tensor, first, parameter.elements()))
    on_cores(run.count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        set_element(parameter, run.local + i, run.is_padding() ? 0 : value_at(spec, seed, run.global + i));
    });
}

}  // namespace rankscope
