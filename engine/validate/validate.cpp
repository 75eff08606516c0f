#include "engine/validate/validate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/analyse/step_analysis.hpp"
#include "engine/model/model.hpp"
#include "engine/program/compile.hpp"
#include "engine/simulate/costs.hpp"
#include "engine/simulate/folded.hpp"
#include "engine/simulate/library_lists.hpp"

namespace rankscope {
namespace {

double program_seconds(const Scenario& s) {
  const StepProgram step = compile(s);
  const std::vector<RankProgram> programs = step.all_programs();
  const int steps = predicted_steps(programs);
  const Simulation simulation = simulate(programs, step.grid, modelled_costs(s, step.model), steps);
  const TimeRange range =
      step_range(simulation.spans, static_cast<std::uint32_t>(steady_step(static_cast<std::size_t>(steps))));
  return static_cast<double>(range.end_ns - range.begin_ns) * 1e-9;
}

/// Of the fullest rank, by `of_stage`.
double device_bytes(const Scenario& s, std::int64_t (StageMemory::*of_stage)() const) {
  double most = 0;
  for (const StageMemory& stage : fold_step(s).memory) most = std::max(most, static_cast<double>((stage.*of_stage)()));
  return most * (1 + s.cluster.allocator_slack) + s.cluster.context_bytes;
}

/// Devices times the steps that a row's tokens take.
double devices_and_steps(const Scenario& s, const PublishedRow& row) {
  return s.plan.ranks() * row.tokens / (static_cast<double>(s.train.global_batch) * s.model.context);
}

void summarise(ValidatedTable& table) {
  std::vector<double> published, predicted;
  double sum = 0, worst = 0;
  for (const ValidatedRow& row : table.rows) {
    if (row.fitted) continue;
    published.push_back(row.published);
    predicted.push_back(row.predicted());
    sum += std::abs(row.error());
    worst = std::max(worst, std::abs(row.error()));
  }
  if (published.empty()) return;
  table.mean_error = sum / static_cast<double>(published.size());
  table.worst_error = worst;
  table.tau = kendalls_tau(published, predicted);
}

}  // namespace

double ValidatedRow::error() const {
  if (published < low) return low / published - 1;
  return published > high ? high / published - 1 : 0;
}

double predict(const Scenario& s, Quantity quantity, const PublishedRow& row) {
  switch (quantity) {
    case Quantity::step_seconds: return fold_step(s).seconds;
    case Quantity::span_seconds: return fold_step(s).longest_span;
    case Quantity::program_seconds: return program_seconds(s);
    case Quantity::block_forward_seconds: return fold_block(s).forward_seconds();
    case Quantity::block_backward_seconds: return fold_block(s).backward_seconds();
    case Quantity::all_reduce_seconds: {
      std::vector<int> ranks(static_cast<std::size_t>(s.plan.data));
      std::iota(ranks.begin(), ranks.end(), 0);
      // Transfer by transfer: so few ranks need no closed form.
      const auto by = [&](Route route) {
        return listed_seconds(s.cluster, s.plan.grid(), route, OpKind::all_reduce, ranks, row.bytes);
      };
      return std::min(by(Route::ring), by(Route::tree));
    }
    case Quantity::peak_bytes: return device_bytes(s, &StageMemory::peak);
    case Quantity::reserved_bytes: return device_bytes(s, &StageMemory::reserved);
    case Quantity::device_hours: return fold_step(s).seconds * devices_and_steps(s, row);
    case Quantity::device_joules: {
      const FoldedStep step = fold_step(s);
      return step.seconds * devices_and_steps(s, row) * s.cluster.average_watts(step.bubble / step.seconds);
    }
    case Quantity::hardware_share: return fold_step(s).hfu(s.cluster, s.compute_type(), s.plan.ranks());
  }
  return std::numeric_limits<double>::quiet_NaN();
}

ValidatedTable validate(const PublishedTable& published) {
  ValidatedTable table;
  table.file = published.file;
  table.title = published.title;
  table.source = published.source;
  table.constants = published.constants;
  table.unit = published.unit;
  table.judged = published.judged;
  table.held_out = published.held_out;
  for (const PublishedRow& row : published.rows) {
    ValidatedRow result;
    result.name = row.name;
    result.published = row.published;
    result.fitted = row.fitted;
    result.low = std::numeric_limits<double>::infinity();
    result.high = -result.low;
    for (const Scenario& choice : row.choices) {
      const double value = predict(choice, published.quantity, row) / unit_of(published.unit);
      result.low = std::min(result.low, value);
      result.high = std::max(result.high, value);
    }
    table.rows.push_back(result);
  }
  summarise(table);
  return table;
}

double kendalls_tau(std::span<const double> a, std::span<const double> b) {
  double alike = 0, pairs_a = 0, pairs_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = i + 1; k < a.size(); ++k) {
      const double x = (a[i] > a[k]) - (a[i] < a[k]), y = (b[i] > b[k]) - (b[i] < b[k]);
      alike += x * y;
      pairs_a += x * x;
      pairs_b += y * y;
    }
  const double pairs = std::sqrt(pairs_a * pairs_b);
  return pairs > 0 ? alike / pairs : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace rankscope
