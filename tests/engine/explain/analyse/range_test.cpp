#include "engine/explain/analyse/range.hpp"

#include <cmath>
#include <numeric>

#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/timelines.hpp"

using namespace rankscope;

namespace {

struct Stages {
  std::vector<RankProgram> programs = pipeline_programs(one_f_one_b_schedule({3, 1, 4}));
  RankGrid grid{1, 1, 3};
  /// A step in which all costs are `times` as large.
  AnalysedStep step(std::int64_t times) const {
    const Simulation run = simulate(programs, grid, unit_costs(1000 * times));
    return {analyse_simulation(programs, grid, run), run.spans};
  }
};

double sum_of(const RangeTime& time) { return std::accumulate(time.seconds.begin(), time.seconds.end(), 0.0); }

}  // namespace

TEST_CASE("in any range each rank's classes fill it, and the shares of the whole step are the step's own") {
  const Stages stages;
  const AnalysedStep run = stages.step(3);
  const TimeRange all = run.analysis.range;
  for (const TimeRange range : {TimeRange{}, TimeRange{all.begin_ns + 2500, all.begin_ns + 9100},
                                TimeRange{all.begin_ns - 500, all.begin_ns + 4000}}) {
    const RangeAnalysis part = analyse_range(run, nullptr, nullptr, range);
    CHECK(part.range.begin_ns >= all.begin_ns);
    REQUIRE(part.ranks.size() == 3);
    for (const RangeRow& row : part.ranks) CHECK(sum_of(row.measured) == Approx(row.measured.length_s()));
    CHECK(part.gap.empty());
  }
  const RangeAnalysis whole = analyse_range(run, nullptr, nullptr, {});
  for (std::size_t r = 0; r < 3; ++r)
    for (int c = 0; c < time_class_count; ++c)
      CHECK(whole.ranks[r].measured.share(static_cast<TimeClass>(c)) ==
            Approx(run.analysis.ranks[r][static_cast<TimeClass>(c)]).margin(1e-12));
}

TEST_CASE("the range of an op corresponds to the same op in the prediction, whatever its duration") {
  const Stages stages;
  const AnalysedStep run = stages.step(3), predicted = stages.step(1);
  for (const Span& span : run.spans) {
    if (span.op.lane() != Lane::compute) continue;
    const TimeRange there = counterpart_of(run, predicted, span.rank, {span.begin_ns, span.end_ns});
    INFO(to_token(span.op) << " of rank " << span.rank);
    for (const Span& same : predicted.spans)
      if (same.rank == span.rank && same.op == span.op) {
        CHECK(there.begin_ns == same.begin_ns);
        CHECK(there.end_ns == same.end_ns);
      }
  }
}

TEST_CASE("a step three times as slow as predicted has a gap of 200 points, in any part of it") {
  const Stages stages;
  const AnalysedStep run = stages.step(3), predicted = stages.step(1);
  const TimeRange all = run.analysis.range;
  for (const TimeRange range : {TimeRange{}, TimeRange{all.begin_ns + 3000, all.begin_ns + 15000}}) {
    const RangeAnalysis part = analyse_range(run, &predicted, &predicted, range);
    CHECK(static_cast<double>(part.range.length()) * 1e-9 == Approx(3 * part.predicted_s).epsilon(1e-6));
    double points = 0;
    for (const GapItem& item : part.gap) points += item.points;
    CHECK(points == Approx(200).epsilon(1e-4));
    for (const RangeRow& row : part.ranks) {
      REQUIRE(row.predicted);
      REQUIRE(row.ideal);
      // The work is the same, so the shares are the same.
      for (int c = 0; c < time_class_count; ++c)
        CHECK(row.measured.share(static_cast<TimeClass>(c)) ==
              Approx(row.predicted->share(static_cast<TimeClass>(c))).margin(1e-6));
    }
  }
}

TEST_CASE(
    "the whole step corresponds to the whole prediction, also for a rank that begins one and waits in the other") {
  std::vector<RankProgram> programs(2);
  for (RankProgram& program : programs) add_op(program, "F:c0:m0");
  programs[1].rank = 1;
  const RankGrid grid{1, 2, 1};
  const auto step = [&](std::int64_t first, std::int64_t second) -> AnalysedStep {
    const std::vector<Span> spans = {span(0, "F:c0:m0", first, first + 40), span(1, "F:c0:m0", second, second + 40)};
    return {analyse_step(programs, grid, spans, {0, 100}, 0), spans};
  };
  const AnalysedStep run = step(0, 60), predicted = step(60, 0);
  const RangeAnalysis whole = analyse_range(run, &predicted, nullptr, {});
  for (const RangeRow& row : whole.ranks) {
    INFO("rank " << row.rank);
    REQUIRE(row.predicted);
    CHECK(row.predicted->length_s() == Approx(100e-9));
    CHECK(row.predicted->share(TimeClass::compute) == Approx(0.4));
  }
}
