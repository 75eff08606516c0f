#include "engine/execute/layers/initialise.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "engine/base/host/threads.hpp"
#include "engine/plan/model/part.hpp"
#include "kernels/tensor/element.hpp"
#include "kernels/tensor/random.hpp"

namespace rankscope {
namespace {

/// Normals of neighbouring indices, which are drawn in pairs: the second is kept for the next index.
class Normals {
 public:
  explicit Normals(std::uint64_t seed) : seed_(seed) {}
  /// Bit-identical to the normal of kernels/tensor/random.hpp.
  double at(std::uint64_t index) {
    if (index / 2 != pair_) both_ = normal_pair(seed_, random_stream(RandomPurpose::weights), pair_ = index / 2);
    return index % 2 == 0 ? both_.first : both_.second;
  }

 private:
  std::uint64_t seed_, pair_ = ~std::uint64_t{0};
  NormalPair both_{};
};

double value_at(const ParameterSpec& spec, Normals& normals, std::int64_t index) {
  switch (spec.init) {
    case Init::zeros: return 0;
    case Init::ones: return 1;
    case Init::constant: return spec.value;
    case Init::normal: return spec.std_dev * normals.at(static_cast<std::uint64_t>(spec.global_offset + index));
  }
  return 0;
}

/// A billion draws need half a minute: all but short ranges are drawn on several cores. A thread's share must be
/// milliseconds long, since starting a thread needs some ten µs.
template <class Draw>
void on_cores(std::int64_t count, Draw draw) {
  constexpr std::int64_t worth_a_thread = std::int64_t{1} << 18;
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t threads = std::clamp<std::int64_t>(count / worth_a_thread, 1, cores);
  std::atomic<std::int64_t> next{0};
  const auto draw_some = [&, count, threads] {
    for (std::int64_t t = next++; t < threads; t = next++) draw(count * t / threads, count * (t + 1) / threads);
  };
  const auto others = start_helpers(static_cast<std::size_t>(threads - 1), draw_some);
  draw_some();
}

}  // namespace

void initialise(View parameter, const ParameterSpec& spec, std::uint64_t seed, std::int64_t first, int tensor) {
  on_cores(parameter.elements(), [&](std::int64_t begin, std::int64_t end) {
    Normals normals(seed);
    for (const ElementRun& run : element_runs(spec, tensor, first + begin, end - begin))
      for (std::int64_t i = 0; i < run.count; ++i)
        set_element(parameter, begin + run.local + i, run.is_padding() ? 0 : value_at(spec, normals, run.global + i));
  });
}

}  // namespace rankscope
