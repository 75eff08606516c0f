#include "engine/explain/analyse/report.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "engine/explain/analyse/observed_step.hpp"
#include "engine/explain/analyse/scaling.hpp"
#include "engine/explain/analyse/traffic.hpp"
#include "engine/op/not_known.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/program/link.hpp"
#include "telemetry/event/stopped.hpp"

namespace rankscope {
namespace {

// Impossible figures: a share above 1, a time that is not positive. Each is a fault of the measurement. It is
// reported with the figures that it was computed from, and then becomes unknown.

/// The inputs of MFU and HFU, besides Report::step_seconds and Report::ranks.
struct RateInputs {
  double model_flops = not_known;     ///< of one step, on all ranks
  double hardware_flops = not_known;  ///< with recomputation
  double peak_flops = 0;              ///< of one device
};

constexpr double rounding = 1e-6;  ///< of sums of shares

bool is_share(double value) { return std::isnan(value) || (value >= -rounding && value <= 1 + rounding); }

/// `inputs`: the figures that the share was computed from.
void withdraw(Report& report, const std::string& name, double& share, const std::string& inputs) {
  if (is_share(share)) return;
  report.faults.push_back(fmt::format("{} of {:.3f} is impossible (a share is between 0 and 1): ", name, share) +
                          inputs);
  share = not_known;
}

std::string rate_inputs(const Report& report, double flops, double peak) {
  return fmt::format(
      "{:.4g} GFLOP in {} ({} clock) on {} with a peak of {:.4g} GFLOP/s each; measure the peak again: "
      "rankscope-engine peak --again",
      flops * 1e-9, figure::duration(report.step_seconds), std::string(name_of(report.clock)),
      counted(report.ranks, "device"), peak * 1e-9);
}

/// An analysed step, as text.
std::string step_inputs(const std::optional<StepAnalysis>& step) {
  if (!step) return "no step was analysed";
  return fmt::format("step {} of {} on {}, {} missing", step->step, figure::duration(step->seconds()),
                     counted(step->workers, "rank"), counted(step->missing_spans, "span"));
}

/// A step's time that is not positive becomes NaN, and a fault. Called before anything is computed from it.
void withdraw_impossible_time(Report& report, StepRow& row) {
  if (std::isnan(row.seconds) || row.seconds > 0) return;
  report.faults.push_back(fmt::format(
      "a time of {:.6f} ms for step {} is impossible: from the first begin to the last end of its ranks on the {} "
      "clock, whose ranks are fitted within {:.6f} ms",
      1e3 * row.seconds, row.step, std::string(name_of(report.clock)),
      1e3 * (std::isnan(report.clock_uncertainty_s) ? 0 : report.clock_uncertainty_s)));
  row.seconds = not_known;
}

/// The same for every share of the report: MFU, HFU, bubbles, the classes of `time`, the cost of telemetry.
void withdraw_impossible_shares(Report& report, const RateInputs& rates) {
  withdraw(report, "MFU", report.mfu, rate_inputs(report, rates.model_flops, rates.peak_flops));
  withdraw(report, "HFU", report.hfu, rate_inputs(report, rates.hardware_flops, rates.peak_flops));
  for (const auto& [name, bubble] :
       {std::pair("bubble", &report.bubble), std::pair("bubble_span", &report.bubble_span)}) {
    withdraw(report, std::string("ideal ") + name, bubble->ideal, "by unit costs and free communication");
    withdraw(report, std::string("predicted ") + name, bubble->predicted, step_inputs(report.predicted));
    withdraw(report, name, bubble->measured, step_inputs(report.representative));
  }
  for (int c = 0; c < time_class_count; ++c) {
    const auto which = static_cast<TimeClass>(c);
    withdraw(report, "time share '" + std::string(name_of(which)) + "'", report.time[which],
             step_inputs(report.representative));
  }
  withdraw(report, "telemetry overhead", report.telemetry.overhead, "time of reporting divided by the step time");
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

/// All ranks' reports of all steps, each rank's step once, on rank 0's clock.
RunTotals totals_of(const RunFacts& facts) {
  RunTotals totals = facts.totals ? *facts.totals : RunTotals{};
  const auto clocks = latest_clocks(facts.clocks);
  std::set<std::pair<std::uint32_t, std::int32_t>> seen;
  for (const StepSummary& summary : facts.summaries) {
    if (!seen.insert({summary.step, summary.rank}).second) continue;  // telemetry may arrive twice
    const auto clock = clocks.find(summary.rank);
    totals.add(summary, clock == clocks.end() ? 0 : clock->second.offset_ns);
  }
  return totals;
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

TimeRange range_of(const ObservedStep& step) {
  return step.range.empty() ? step_range(step.spans, step.step) : step.range;
}

void add_steps(Report& report, const RunFacts& facts, const RunTotals& totals) {
  const auto observed = headline_steps(facts);
  std::map<std::uint32_t, StepRow> rows;
  totals.steps.for_each([&](std::uint32_t number, const StepTotals& step) {
    StepRow& row = rows.emplace_hint(rows.end(), number, StepRow{})->second;
    row.loss = step.loss();
    if (step.ranks == report.ranks && !facts.is_imported) row.grad_norm = std::sqrt(step.square_norm);
    if (step.ranks == report.ranks) row.magnitudes = step.magnitudes;
    row.loss_scale = step.loss_scale;
    row.skipped = step.skips_update();
    // An imported run's steps are as the traces mark them, also where some ranks have none.
    if (facts.obtained == Obtained::measured && !facts.is_imported)
      row.seconds = wall_seconds(totals.steps, number, report.ranks);
  });
  for (const auto& [number, step] : observed) {
    StepRow& row = rows[number];
    if (!std::isnan(row.seconds)) continue;
    const TimeRange range = range_of(*step);
    if (!range.empty()) row.seconds = static_cast<double>(range.length()) * 1e-9;
  }
  std::vector<double> seconds;
  for (auto& [number, row] : rows) {
    row.step = number;
    withdraw_impossible_time(report, row);
    const StepTotals* step = totals.steps.find(number);
    const std::int64_t tokens = step != nullptr && step->tokens > 0 ? step->tokens : facts.tokens_per_step;
    if (tokens > 0) row.tokens_per_s = static_cast<double>(tokens) / row.seconds;
    seconds.push_back(row.seconds);
    report.steps.push_back(row);
  }
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  report.step_seconds = quartile(std::move(seconds), 2);
}

/// The analysed steps of the run, without the first one (which includes start-up) unless there is no other.
std::vector<StepAnalysis> steady_steps(const RunFacts& facts, const Step* linked, const RunTotals& totals) {
  const auto observed = headline_steps(facts);
  std::uint32_t first = observed.empty() ? 0 : observed.begin()->first;
  if (!totals.steps.empty()) first = std::min(first, totals.steps.first());
  std::vector<StepAnalysis> steady;
  for (const auto& [number, step] : observed) {
    if (step->spans.empty() || (number == first && observed.size() > 1)) continue;
    if (const TimeRange range = range_of(*step); !range.empty())
      steady.push_back(step->linked
                           ? analyse_step(*step->linked, step->spans, range, number)
                           : analyse_step(*linked, step->spans, range, number, Planned{&facts.programs, facts.grid}));
  }
  return steady;
}

/// In a step; nothing if no rank is a quarter slower than the others, or several are.
std::optional<SlowRank> slow_rank_of(const StepAnalysis& step) {
  constexpr double noticed = 1.25;
  std::optional<SlowRank> slow;
  for (std::size_t rank = 0; rank < step.slowness.size(); ++rank) {
    if (step.slowness[rank] < noticed) continue;
    if (slow) return std::nullopt;
    slow = SlowRank{static_cast<std::int32_t>(rank), step.slowness[rank]};
  }
  return slow;
}

/// Nothing if the others wait less than a hundredth of the step for every rank.
std::optional<AwaitedRank> awaited_rank_of(const RunFacts& facts, const StepAnalysis& analysis) {
  constexpr double noticed = 0.01;
  for (const ObservedStep& step : facts.observed) {
    if (step.step != analysis.step || !step.linked) continue;
    const std::vector<double> awaited = awaited_seconds(*step.linked, step.spans, step.step);
    const auto most = std::max_element(awaited.begin(), awaited.end());
    if (most == awaited.end() || *most < noticed * analysis.seconds()) return std::nullopt;
    return AwaitedRank{static_cast<std::int32_t>(most - awaited.begin()), *most, *most / analysis.seconds()};
  }
  return std::nullopt;
}

void add_bubbles(Report& report, const RunFacts& facts, const Step* linked, const RunTotals& totals) {
  report.time.share.fill(not_known);
  report.time.unknown = not_known;
  report.bubble.ideal = facts.ideal_bubble;
  if (linked == nullptr && !facts.is_imported) return;
  const auto analyse = [&](const std::optional<Simulation>& simulation) -> std::optional<StepAnalysis> {
    if (!simulation || simulation->spans.empty()) return std::nullopt;
    StepAnalysis analysis = analyse_simulation(*linked, Planned{&facts.programs, facts.grid}, *simulation);
    // A part of a recording may have spans of the prediction, but not those of its steady step.
    if (analysis.range.empty()) return std::nullopt;
    return analysis;
  };
  if (const auto ideal = analyse(facts.ideal)) report.bubble_span.ideal = ideal->bubble_span;
  report.predicted = analyse(facts.predicted);

  std::vector<StepAnalysis> steady = steady_steps(facts, linked, totals);
  if (!steady.empty()) {
    const auto middle = steady.begin() + static_cast<std::ptrdiff_t>((steady.size() - 1) / 2);
    // Without its collectives' members an imported run has no bubble: its typical step is the one of median length.
    std::nth_element(steady.begin(), middle, steady.end(), [&](const StepAnalysis& a, const StepAnalysis& b) {
      return facts.is_imported ? a.range.length() < b.range.length() : a.bubble < b.bubble;
    });
    report.steady_steps = static_cast<int>(steady.size());
    report.representative = std::move(*middle);
  }
  // Simulated data are a prediction; nothing has been measured.
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
  if (report.representative) report.slow = slow_rank_of(*report.representative);
  if (report.representative && facts.is_imported) report.awaited = awaited_rank_of(facts, *report.representative);
  if (std::isnan(report.step_seconds) && facts.obtained == Obtained::simulated)
    report.step_seconds = report.predicted_step_seconds;
  if (facts.tokens_per_step > 0) report.tokens_per_s = static_cast<double>(facts.tokens_per_step) / report.step_seconds;
}

bool knows_energy(const StepTotals& step, int ranks) {
  return step.energy_ranks == ranks && step.ranks == ranks && step.counters > 0;
}

/// A step's power is averaged over it and earlier steps with this total duration.
constexpr std::int64_t power_ns = 100'000'000;

void add_energy(Report& report, const RunFacts& facts, const RunTotals& totals) {
  struct Used {
    double joules = 0;
    std::int64_t ns = 0;
  };
  EnergyReport& energy = report.energy;
  std::deque<Used> latest;
  Used window, sum;
  double tokens = 0;
  int steps = 0;
  auto row = report.steps.begin();  // by step, like the totals
  const bool one = !totals.steps.empty() && report.steps.size() == 1;
  totals.steps.for_each([&](std::uint32_t number, const StepTotals& step) {
    const double seconds = wall_seconds(totals.steps, number, report.ranks);
    if (!knows_energy(step, report.ranks) || !(seconds > 0)) {
      latest.clear();
      window = {};
      return;
    }
    energy.source = step.energy_source;
    energy.counters = std::max(energy.counters, step.counters);
    const std::int64_t ns = std::llround(seconds * 1e9);
    latest.push_back({step.joules, ns});
    window.joules += step.joules;
    window.ns += ns;
    while (window.ns - latest.front().ns >= power_ns) {
      window.joules -= latest.front().joules;
      window.ns -= latest.front().ns;
      latest.pop_front();
    }
    while (row->step != number) ++row;
    row->joules = step.joules;
    row->watts = window.joules / (static_cast<double>(window.ns) * 1e-9);
    if (number == totals.steps.first() && !one) return;  // includes start-up
    ++steps;
    sum.joules += step.joules;
    sum.ns += ns;
    tokens += static_cast<double>(step.tokens);
  });
  if (steps > 0) {
    energy.joules_per_step = sum.joules / steps;
    energy.watts = sum.joules / (static_cast<double>(sum.ns) * 1e-9);
    if (tokens > 0) energy.joules_per_token = sum.joules / tokens;
    if (energy.counters == report.ranks && facts.cluster.power_watts > 0 && !std::isnan(report.bubble.predicted))
      energy.predicted_watts = facts.cluster.average_watts(report.bubble.predicted) * report.ranks;
  } else {
    energy.source = PowerSource::none;
    energy.unknown = facts.obtained == Obtained::simulated ? "the energy is unknown: nothing ran"
                     : facts.energy_unknown.empty()        ? "the energy is unknown: no rank reported a counter"
                                                           : facts.energy_unknown;
  }
}

/// Rates relative to the step's time. FLOPs are the same in every step; they are those of the first complete one.
RateInputs add_rates(Report& report, const RunFacts& facts, const RunTotals& totals) {
  double model = facts.model_flops, hardware = facts.hardware_flops;
  bool is_reported = false;
  totals.steps.for_each([&](std::uint32_t, const StepTotals& step) {
    if (is_reported || step.ranks != report.ranks) return;
    is_reported = true;
    if (step.model_flops > 0) model = step.model_flops;
    if (step.hardware_flops > 0) hardware = step.hardware_flops;
  });
  const double device_seconds = report.step_seconds * report.ranks;
  const RateInputs inputs{model, hardware, facts.peak_flops};
  // A single collective has no FLOPs, so no share of the peak is reported.
  if (!(device_seconds > 0) || !facts.task.empty()) return inputs;
  report.tflops_per_device = model / device_seconds * 1e-12;
  if (facts.peak_spread > 0) report.peak_spread = facts.peak_spread;
  if (facts.peak_flops > 0) {
    report.mfu = model / device_seconds / facts.peak_flops;
    report.hfu = hardware / device_seconds / facts.peak_flops;
  }
  return inputs;
}

void add_memory(Report& report, const RunFacts& facts, const RunTotals& totals) {
  for (std::int32_t rank = 0; rank < report.ranks; ++rank) {
    MemoryRow row{rank, std::nullopt, std::nullopt};
    if (const auto of_rank = totals.ranks.find(rank);
        of_rank != totals.ranks.end() && (!facts.is_imported || of_rank->second.peak_total_bytes > 0))
      row.measured = {of_rank->second.peak_bytes, of_rank->second.peak_total_bytes, std::nullopt};
    if (static_cast<std::size_t>(rank) < facts.programs.size()) {
      const MemoryProfile profile = memory_profile(facts.programs[rank]);
      row.predicted = MemoryBytes{profile.peak_by_class, profile.peak, std::nullopt};
      const auto greatest = std::find_if(profile.at.begin(), profile.at.end(),
                                         [&](const ClassBytes& bytes) { return device_sum(bytes) == profile.peak; });
      if (greatest != profile.at.end()) row.predicted->at_peak = *greatest;
    }
    if (row.measured || row.predicted) report.memory.push_back(row);
  }
}

void add_telemetry(Report& report, const RunFacts& facts, const RunTotals& totals) {
  report.telemetry = {facts.events, facts.dropped, facts.telemetry_overhead};
  std::int64_t emitted = 0, dropped = 0;
  for (const auto& [rank, of_rank] : totals.ranks) {
    emitted += of_rank.spans_emitted;
    dropped += of_rank.spans_dropped;
  }
  if (!totals.ranks.empty() && report.telemetry.events < 0) report.telemetry.events = emitted;
  if (!totals.ranks.empty() && report.telemetry.dropped < 0) report.telemetry.dropped = dropped;
}

}  // namespace

std::string to_text(const SlowRank& slow) {
  return fmt::format("rank {} takes {:.2f} times as long as the others for equal work", slow.rank, slow.factor);
}

std::string to_text(const AwaitedRank& awaited) {
  return fmt::format("the others wait {} for rank {} in collectives, {} of the step", figure::duration(awaited.seconds),
                     awaited.rank, figure::percent(awaited.share));
}

double sent_by_busiest(std::span<const LinkReport> links, bool predicted) {
  std::map<int, double> by_rank;
  for (const LinkReport& link : links) by_rank[link.from] += predicted ? link.predicted : link.bytes;
  double most = links.empty() ? not_known : 0;
  for (const auto& [rank, bytes] : by_rank)
    most = std::isnan(bytes) || std::isnan(most) ? not_known : std::max(most, bytes);
  return most;
}

double sent_by_purposes(std::span<const TrafficReport> traffic, bool predicted) {
  double sum = 0;
  for (const TrafficReport& row : traffic) sum += predicted ? row.predicted : row.bytes_per_rank;
  return sum;
}

namespace {

void add_end(Report& report, const RunFacts& facts, const RunTotals& totals) {
  report.loss_not_finite_since = totals.loss_not_finite_since;
  if (!facts.end || facts.end->ok || was_stopped(*facts.end)) return;
  report.failure = facts.end->message;
  if (facts.end->failed_rank >= 0)
    report.lost_rank = LostRank{facts.end->failed_rank, facts.end->last_step, facts.end->message};
}

}  // namespace

std::vector<std::string> all_faults(const Report& report) {
  std::vector<std::string> all;
  if (!report.failure.empty()) all.push_back(report.failure);
  if (report.loss_not_finite_since)
    all.push_back(fmt::format("the loss is not finite since step {}", *report.loss_not_finite_since));
  if (report.unrecorded_messages > 0)
    all.push_back(fmt::format("{} not in the recording: {}", counted(report.unrecorded_messages, "message"),
                              report.unrecorded_reason));
  all.insert(all.end(), report.faults.begin(), report.faults.end());
  return all;
}

Report make_report(const RunFacts& facts) {
  Report report;
  static_cast<RunDescription&>(report) = facts;
  report.ranks = facts.grid.size();
  for (const auto& [rank, record] : latest_clocks(facts.clocks))
    report.clock_uncertainty_s =
        std::fmax(report.clock_uncertainty_s, static_cast<double>(record.uncertainty_ns) * 1e-9);
  const RunTotals totals = totals_of(facts);
  add_steps(report, facts, totals);
  // An imported run's steps are each linked by themselves.
  std::optional<Step> linked;
  if (!facts.programs.empty()) linked = link(facts.programs, facts.grid);
  add_bubbles(report, facts, linked ? &*linked : nullptr, totals);
  const RateInputs rates = add_rates(report, facts, totals);
  add_memory(report, facts, totals);
  add_energy(report, facts, totals);
  report.traffic = analysis::traffic_of(facts, totals);
  if (linked) report.links = analysis::links_of(facts, *linked, totals);
  add_telemetry(report, facts, totals);
  add_end(report, facts, totals);
  withdraw_impossible_shares(report, rates);
  return report;
}

}  // namespace rankscope
