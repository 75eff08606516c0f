#include "engine/analyse/report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/analyse/traffic.hpp"

namespace rankscope {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

using SummariesByStep = std::map<std::uint32_t, std::vector<StepSummary>>;

/// The lower middle of what is known; NaN of nothing.
double median_known(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return std::isnan(v); }), values.end());
  if (values.empty()) return unknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The latest fit of each rank's clock to rank 0's.
std::map<std::int32_t, ClockRecord> latest_clocks(const std::vector<ClockRecord>& clocks) {
  std::map<std::int32_t, ClockRecord> latest;
  for (const ClockRecord& record : clocks) {
    const auto [found, made] = latest.try_emplace(record.rank, record);
    if (!made && record.at_ns >= found->second.at_ns) found->second = record;
  }
  return latest;
}

/// Each rank's summary of each step once, its times on rank 0's clock.
std::vector<StepSummary> aligned_summaries(const RunFacts& facts) {
  const auto clocks = latest_clocks(facts.clocks);
  std::set<std::pair<std::uint32_t, std::int32_t>> seen;
  std::vector<StepSummary> summaries;
  for (const StepSummary& summary : facts.summaries) {
    if (!seen.insert({summary.step, summary.rank}).second) continue;  // telemetry may arrive twice
    summaries.push_back(summary);
    if (const auto clock = clocks.find(summary.rank); clock != clocks.end()) {
      summaries.back().begin_ns += clock->second.offset_ns;
      summaries.back().end_ns += clock->second.offset_ns;
    }
  }
  return summaries;
}

/// Wall seconds of a step by its summaries: to the begin of the next step, or to its own last end.
double summary_seconds(const SummariesByStep& steps, SummariesByStep::const_iterator step, int ranks) {
  const auto complete = [&](const std::vector<StepSummary>& s) { return static_cast<int>(s.size()) == ranks; };
  const auto begin = [](const std::vector<StepSummary>& s) {
    return std::min_element(s.begin(), s.end(), [](auto& a, auto& b) { return a.begin_ns < b.begin_ns; })->begin_ns;
  };
  if (!complete(step->second)) return unknown;
  const auto next = std::next(step);
  std::int64_t end = 0;
  if (next != steps.end() && next->first == step->first + 1 && complete(next->second)) {
    end = begin(next->second);
  } else {
    end = step->second.front().end_ns;
    for (const StepSummary& s : step->second) end = std::max(end, s.end_ns);
  }
  return static_cast<double>(end - begin(step->second)) * 1e-9;
}

bool is_headline(const RunFacts& facts, const ObservedStep& step) {
  return step.obtained == facts.obtained && step.clock == facts.clock;
}

std::map<std::uint32_t, const ObservedStep*> headline_steps(const RunFacts& facts) {
  std::map<std::uint32_t, const ObservedStep*> steps;
  for (const ObservedStep& step : facts.observed)
    if (is_headline(facts, step)) steps[step.step] = &step;
  return steps;
}

/// The spans of a step and of those beside it, since a step is not a barrier.
std::vector<Span> spans_around(const std::map<std::uint32_t, const ObservedStep*>& steps, std::uint32_t step,
                               int apart) {
  std::vector<Span> spans;
  for (std::int64_t s = std::int64_t{step} - apart; s <= std::int64_t{step} + apart; ++s)
    if (const auto found = steps.find(static_cast<std::uint32_t>(s)); s >= 0 && found != steps.end())
      spans.insert(spans.end(), found->second->spans.begin(), found->second->spans.end());
  return spans;
}

TimeRange range_of(const std::map<std::uint32_t, const ObservedStep*>& steps, std::uint32_t step) {
  const ObservedStep& observed = *steps.at(step);
  return observed.range.empty() ? step_range(spans_around(steps, step, 1), step) : observed.range;
}

void add_steps(Report& report, const RunFacts& facts, const SummariesByStep& summaries) {
  const auto observed = headline_steps(facts);
  std::map<std::uint32_t, StepRow> rows;
  for (auto step = summaries.begin(); step != summaries.end(); ++step) {
    StepRow& row = rows[step->first];
    row.loss = global_loss(step->second);
    if (static_cast<int>(step->second.size()) == report.ranks) row.grad_norm = global_gradient_norm(step->second);
    for (const StepSummary& s : step->second) row.loss_scale = std::max(row.loss_scale, s.loss_scale);
    row.skipped = row.loss_scale > 0 && skips_update(step->second);
    if (facts.obtained == Obtained::measured) row.seconds = summary_seconds(summaries, step, report.ranks);
  }
  for (const auto& [number, step] : observed) {
    StepRow& row = rows[number];
    if (!std::isnan(row.seconds)) continue;
    const TimeRange range = range_of(observed, number);
    if (!range.empty()) row.seconds = static_cast<double>(range.length()) * 1e-9;
  }
  std::vector<double> seconds;
  for (auto& [number, row] : rows) {
    row.step = number;
    std::int64_t tokens = 0;
    if (const auto found = summaries.find(number); found != summaries.end())
      for (const StepSummary& s : found->second) tokens += s.tokens;
    if (tokens == 0) tokens = facts.tokens_per_step;
    if (tokens > 0) row.tokens_per_s = static_cast<double>(tokens) / row.seconds;
    seconds.push_back(row.seconds);
    report.steps.push_back(row);
  }
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  report.step_seconds = median_known(std::move(seconds));
}

/// The analysed steps of the run, without its very first one (which pays for start-up) unless there is no other.
std::vector<StepAnalysis> steady_steps(const RunFacts& facts) {
  const auto observed = headline_steps(facts);
  std::uint32_t first = observed.empty() ? 0 : observed.begin()->first;
  for (const StepSummary& summary : facts.summaries) first = std::min(first, summary.step);
  const int apart = steps_apart(facts.programs);
  std::vector<StepAnalysis> steady;
  for (const auto& [number, step] : observed) {
    if (step->spans.empty() || (number == first && observed.size() > 1)) continue;
    if (const TimeRange range = range_of(observed, number); !range.empty())
      steady.push_back(analyse_step(facts.programs, facts.grid, spans_around(observed, number, apart), range, number));
  }
  return steady;
}

void add_bubbles(Report& report, const RunFacts& facts) {
  report.time.share.fill(unknown);
  report.time.unknown = unknown;
  if (facts.programs.empty()) return;
  const auto analyse = [&](const std::optional<Simulation>& simulation) -> std::optional<StepAnalysis> {
    if (!simulation || simulation->spans.empty()) return std::nullopt;
    return analyse_simulation(facts.programs, facts.grid, *simulation);
  };
  if (const auto ideal = analyse(facts.ideal)) {
    report.bubble.ideal = ideal->bubble;
    report.bubble_span.ideal = ideal->bubble_span;
  }
  report.predicted = analyse(facts.predicted);

  std::vector<StepAnalysis> steady = steady_steps(facts);
  if (!steady.empty()) {
    const auto middle = steady.begin() + static_cast<std::ptrdiff_t>((steady.size() - 1) / 2);
    std::nth_element(steady.begin(), middle, steady.end(),
                     [](const StepAnalysis& a, const StepAnalysis& b) { return a.bubble < b.bubble; });
    report.steady_steps = static_cast<int>(steady.size());
    report.representative = std::move(*middle);
  }
  // What was only simulated is a prediction, and nothing has been measured.
  if (facts.obtained == Obtained::simulated) {
    if (!report.predicted) report.predicted = report.representative;
    if (!report.representative) report.representative = report.predicted;
  } else if (report.representative) {
    report.bubble.measured = report.representative->bubble;
    report.bubble_span.measured = report.representative->bubble_span;
  }
  if (report.predicted) {
    report.bubble.predicted = report.predicted->bubble;
    report.bubble_span.predicted = report.predicted->bubble_span;
    report.predicted_step_seconds = report.predicted->seconds();
  }
  if (report.representative) report.time = report.representative->average;
  if (std::isnan(report.step_seconds) && facts.obtained == Obtained::simulated)
    report.step_seconds = report.predicted_step_seconds;
}

/// Rates relative to the step's time. FLOPs are the same in every step; the first complete one says them.
void add_rates(Report& report, const RunFacts& facts, const SummariesByStep& summaries) {
  double model = facts.model_flops, hardware = facts.hardware_flops;
  for (const auto& [number, of_step] : summaries) {
    if (static_cast<int>(of_step.size()) != report.ranks) continue;
    double said_model = 0, said_hardware = 0;
    for (const StepSummary& s : of_step) {
      said_model += s.model_flops;
      said_hardware += s.hardware_flops;
    }
    if (said_model > 0) model = said_model;
    if (said_hardware > 0) hardware = said_hardware;
    break;
  }
  const double device_seconds = report.step_seconds * report.ranks;
  if (!(device_seconds > 0)) return;
  report.tflops_per_device = model / device_seconds * 1e-12;
  if (facts.peak_flops > 0) {
    report.mfu = model / device_seconds / facts.peak_flops;
    report.hfu = hardware / device_seconds / facts.peak_flops;
  }
}

void add_memory(Report& report, const RunFacts& facts, const std::vector<StepSummary>& summaries) {
  for (std::int32_t rank = 0; rank < report.ranks; ++rank) {
    MemoryRow row{rank, std::nullopt, std::nullopt};
    for (const StepSummary& s : summaries) {
      if (s.rank != rank) continue;
      if (!row.measured) row.measured.emplace();
      for (std::size_t c = 0; c < memory_class_count; ++c)
        row.measured->by_class[c] = std::max(row.measured->by_class[c], s.peak_bytes[c]);
      row.measured->peak = std::max(row.measured->peak, s.peak_total_bytes);
    }
    if (static_cast<std::size_t>(rank) < facts.programs.size()) {
      const MemoryProfile profile = memory_profile(facts.programs[static_cast<std::size_t>(rank)]);
      row.predicted = MemoryBytes{profile.peak_by_class, profile.peak, std::nullopt};
      const auto greatest = std::find_if(profile.at.begin(), profile.at.end(),
                                         [&](const ClassBytes& bytes) { return device_sum(bytes) == profile.peak; });
      if (greatest != profile.at.end()) row.predicted->at_peak = *greatest;
    }
    if (row.measured || row.predicted) report.memory.push_back(row);
  }
}

void add_telemetry(Report& report, const RunFacts& facts, const std::vector<StepSummary>& summaries) {
  report.telemetry = {facts.events, facts.dropped, facts.telemetry_overhead};
  std::int64_t emitted = 0, dropped = 0;
  for (const StepSummary& s : summaries) {
    emitted += s.spans_emitted;
    dropped += s.spans_dropped;
  }
  if (!summaries.empty() && report.telemetry.events < 0) report.telemetry.events = emitted;
  if (!summaries.empty() && report.telemetry.dropped < 0) report.telemetry.dropped = dropped;
  for (const auto& [rank, record] : latest_clocks(facts.clocks))
    report.clock_uncertainty_s =
        std::fmax(report.clock_uncertainty_s, static_cast<double>(record.uncertainty_ns) * 1e-9);
}

}  // namespace

double global_loss(const std::vector<StepSummary>& of_one_step) {
  double sum = 0, tokens = 0;
  for (const StepSummary& s : of_one_step) {
    if (std::isnan(s.loss) && s.tokens == 0) continue;  // no head here; a NaN of a head that diverged shows
    sum += s.loss * static_cast<double>(s.tokens);
    tokens += static_cast<double>(s.tokens);
  }
  return tokens > 0 ? sum / tokens : unknown;
}

double global_gradient_norm(const std::vector<StepSummary>& of_one_step) {
  if (of_one_step.empty()) return unknown;
  double square = 0;
  for (const StepSummary& s : of_one_step) square += s.gradient_square_norm;
  return std::sqrt(square);
}

bool skips_update(const std::vector<StepSummary>& of_one_step) {
  return std::any_of(of_one_step.begin(), of_one_step.end(),
                     [](const StepSummary& s) { return !std::isfinite(s.gradient_square_norm); });
}

Report make_report(const RunFacts& facts) {
  Report report;
  report.title = facts.title;
  report.plan = facts.plan;
  report.ranks = facts.grid.size();
  report.clock = facts.clock;
  report.obtained = facts.obtained;
  const std::vector<StepSummary> summaries = aligned_summaries(facts);
  SummariesByStep by_step;
  for (const StepSummary& summary : summaries) by_step[summary.step].push_back(summary);
  add_steps(report, facts, by_step);
  add_bubbles(report, facts);
  add_rates(report, facts, by_step);
  add_memory(report, facts, summaries);
  report.traffic = analysis::traffic_of(facts, summaries);
  report.links = analysis::links_of(facts, summaries);
  add_telemetry(report, facts, summaries);
  return report;
}

}  // namespace rankscope
