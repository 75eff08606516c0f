// Speed of simulation and analysis of steps: 64 ranks of 1F1B, about 10⁵ ops for the simulator, 10⁴ for the analysis.
#include <chrono>
#include <cstdio>

#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/engine/predict/simulate/pipelines.hpp"

using namespace rankscope;

namespace {

constexpr int ranks = 64;

template <class Work>
double seconds(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::size_t op_count(const std::vector<RankProgram>& programs) {
  std::size_t ops = 0;
  for (const RankProgram& program : programs) ops += program.ops.size();
  return ops;
}

}  // namespace

int main() {
  const RankGrid grid{1, 1, ranks};
  const Costs costs{
      [](const RankProgram&, const Op& op) -> std::int64_t { return op.id.kind() == OpKind::forward ? 1000 : 2000; },
      [](int, int) {
        return Link{100, 1.0};
      },
      {}};
  const auto large = pipeline_programs(make_schedule("1f1b", {ranks, 1, 1250}), 1000, 38);
  std::printf("simulate   %9zu ops on %d ranks:", op_count(large), ranks);
  for (int round = 0; round < 3; ++round) {
    const double s = seconds([&] { simulate(large, grid, costs); });
    std::printf("  %.3f s (%.1f M ops/s)", s, static_cast<double>(op_count(large)) / s * 1e-6);
  }
  const auto middle = pipeline_programs(make_schedule("1f1b", {ranks, 1, 256}), 1000, 18);
  const Simulation simulation = simulate(middle, grid, costs, 3);
  std::printf("\nanalyse    %9zu ops on %d ranks:", op_count(middle), ranks);
  for (int round = 0; round < 3; ++round)
    std::printf("  %.3f s", seconds([&] { analyse_simulation(middle, grid, simulation, 1); }));
  std::printf("\n");
}
