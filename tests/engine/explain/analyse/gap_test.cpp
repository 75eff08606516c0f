// The gap between a measured and a predicted step, divided into items.
#include <cmath>

#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/report_facts.hpp"

using namespace rankscope;
using namespace rankscope::four_stages;

TEST_CASE("the gap's items sum to the whole difference and name what differs most") {
  const auto programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}), 1000);
  const RankGrid grid{1, 1, p};
  const StepAnalysis predicted = analyse_simulation(programs, grid, simulate(programs, grid, costs_of(1000), 2));
  Costs slow = costs_of(1000);
  slow.compute_ns = [of = slow.compute_ns](const RankProgram& program, const Op& op) {
    return of(program, op) * (program.rank == 1 ? 3 : 1);
  };
  const StepAnalysis measured = analyse_simulation(programs, grid, simulate(programs, grid, slow, 2));
  const std::vector<GapItem> items = explain_gap(predicted, measured);
  double points = 0;
  for (const GapItem& item : items) points += item.points;
  CHECK(points == Approx(100.0 * (measured.seconds() / predicted.seconds() - 1)).margin(1e-6));
  REQUIRE(items.size() > 2);
  for (std::size_t i = 1; i < items.size(); ++i) CHECK(std::abs(items[i - 1].seconds) >= std::abs(items[i].seconds));
  CHECK(items[0].rank == 1);
  CHECK(items[0].time == TimeClass::compute);
  CHECK(items[0].words.find("rank 1: compute ") == 0);
  bool straggler = false;
  for (const GapItem& item : items)
    straggler |= item.rank != 1 && item.cause == BubbleCause::straggler && item.points > 0;
  CHECK(straggler);
  CHECK(explain_gap(predicted, predicted).empty());
}

TEST_CASE("the gap is over the workers, and offloaded optimizer time counts once") {
  // Two workers and a server. Predicted: 100 ns of compute. Measured: the same, and 100 ns of offloaded updates.
  const auto analysis = [](std::int64_t offloaded_ns) {
    StepAnalysis step;
    step.range = {0, 100 + offloaded_ns};
    step.workers = 2;
    step.ranks.resize(3);
    const auto whole = static_cast<double>(step.range.length());
    for (int rank = 0; rank < 3; ++rank) {
      StepShares& shares = step.ranks[static_cast<std::size_t>(rank)];
      BubbleStretch stretch;
      stretch.rank = rank;
      stretch.begin_ns = rank < 2 ? 100 : 0;
      stretch.end_ns = step.range.end_ns;
      if (rank < 2) {
        shares[TimeClass::compute] = 100 / whole;
        shares[TimeClass::optimizer] = static_cast<double>(offloaded_ns) / whole;
        stretch.cause = BubbleCause::exposed_communication;
        stretch.time = TimeClass::optimizer;
        stretch.purpose = Purpose::offload;
      } else {
        shares[TimeClass::other] = 1;
        stretch.cause = BubbleCause::workers;
        stretch.time = TimeClass::other;
      }
      step.stretches.push_back(stretch);
    }
    return step;
  };
  double points = 0;
  for (const GapItem& item : explain_gap(analysis(0), analysis(100))) {
    CHECK(item.rank < 2);
    if (std::abs(item.points) > 1e-9) CHECK(item.time == TimeClass::optimizer);
    points += item.points;
  }
  CHECK(points == Approx(100));
}
