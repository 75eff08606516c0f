#include "engine/worker/sweep.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/host/clock.hpp"
#include "engine/base/progress/progress_line.hpp"
#include "engine/explain/facts/sweep_file.hpp"
#include "engine/worker/exit_status.hpp"
#include "engine/worker/launch.hpp"
#include "engine/worker/print.hpp"
#include "engine/worker/run_size.hpp"
#include "engine/worker/stop_requests.hpp"
#include "engine/worker/supervise.hpp"
#include "telemetry/trace/output_file.hpp"

namespace rankscope {
namespace {

/// The steady steps' wall-clock seconds of a run with another headline clock.
std::vector<double> wall_seconds(const RunFacts& facts) {
  RunFacts wall;
  wall.grid = facts.grid;
  wall.totals = facts.totals;
  wall.clocks = facts.clocks;
  return sweep_run(make_report(wall), 0, 0).step_seconds;
}

SweepRun run_point(const SweepPlan& plan, const RunRequest& request, std::int32_t point, std::int32_t repeat,
                   const Progress& progress) {
  const Scenario& scenario = *plan.scenarios[point];
  const auto failed = [&](const std::string& why) {
    SweepRun run;
    run.point = point;
    run.repeat = repeat;
    run.failure = why;
    return run;
  };
  try {
    check_fits(compile(scenario), request);
    const SessionOutcome attempt = run_session(with_absolute_data(scenario), request, progress);
    if (attempt.status != 0)
      return failed(attempt.message + (attempt.last_output.empty() ? "" : "; last output: " + attempt.last_output.back()));
    if (!attempt.facts) return failed("it ended before it finished a step");
    SweepRun run = sweep_run(make_report(*attempt.facts), point, repeat);
    if (run.step_seconds.empty()) return failed("no step has a time");
    if (run.clock == ClockDomain::device && scenario.plan.ranks() * request.threads <= plan.sweep.cores)
      run.wall_step_seconds = wall_seconds(*attempt.facts);
    return run;
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

/// Reports progress on standard error: a line for each completed run, and the progress of the current one.
class Announcer {
 public:
  Announcer(const Sweep& sweep, bool shown) : sweep_(sweep), shown_(shown) {
    for (const SweepPoint& point : sweep.points) total_ += point.refused.empty() ? sweep.repeats : 0;
  }
  /// Of the next run; the share is of the complete sweep.
  Progress next(std::int32_t point) {
    return [this, show = line_.progress(), before = done_, words = sweep_.points[point].words()](std::string_view doing,
                                                                                                 double share) {
      show(fmt::format("run {} of {}, {}, {}", before + 1, total_, words, doing),
           (before + (std::isnan(share) ? 0 : share)) / total_);
    };
  }
  void done(const SweepRun& run) {
    ++done_;
    line_.clear();
    if (!shown_) return;
    std::cerr << fmt::format("{} of {}: {}: {}", done_, total_, sweep_.points[run.point].words(),
                             run.failure.empty() ? fmt::format("{:.3f} ms a step", 1e3 * quartile(run.step_seconds, 2))
                                                 : run.failure)
              << std::endl;
  }

 private:
  const Sweep& sweep_;
  bool shown_;
  int total_ = 0, done_ = 0;
  ProgressLine line_{"sweep"};
};

}  // namespace

int run_sweep(const SweepRequest& request, const ExtraCheck& extra_check) {
  check_request(request.run);
  SweepPlan plan = plan_sweep(request, extra_check);
  for (const std::optional<Scenario>& scenario : plan.scenarios)
    if (scenario) check_launch(*scenario, request.run);
  Sweep& sweep = plan.sweep;
  RunRequest each = request.run;
  each.clock = name_of(sweep.clock);
  const std::int64_t begun_ns = monotonic_ns();
  // After all other checks, because it replaces a recording of that name.
  std::optional<SweepRecorder> recorder;
  if (!request.record.empty()) check_output(request.record, {request.scenario});
  if (!request.record.empty()) recorder.emplace(request.record, sweep);
  stop_on_signals();
  std::optional<Announcer> announcer(std::in_place, sweep, !request.json || isatty(STDERR_FILENO));
  for (std::int32_t repeat = 0; repeat < sweep.repeats; ++repeat)
    for (std::size_t point = 0; point < sweep.points.size() && !stop_was_asked(); ++point) {
      if (!plan.scenarios[point]) continue;
      const auto number = static_cast<std::int32_t>(point);
      SweepRun run = run_point(plan, each, number, repeat, announcer->next(number));
      if (stop_was_asked()) break;  // an interrupted run is not a measurement
      announcer->done(run);
      if (recorder) recorder->add(run, monotonic_ns() - begun_ns);
      sweep.runs.push_back(std::move(run));
    }
  announcer.reset();
  const std::string not_recorded = recorder ? recorder->close() : "";
  if (!not_recorded.empty()) std::cerr << "rankscope-engine: --record " << not_recorded << std::endl;
  if (stop_was_asked())
    std::cerr << "rankscope-engine: stopped by request; the measurements so far are saved" << std::endl;
  const ScalingTable table = scaling_table(sweep);
  if (request.json)
    print_json(to_json(sweep, table));
  else
    std::cout << (sweep.runs.empty() ? "" : "\n") << to_text(sweep, table);
  if (stop_was_asked()) return status::stopped;
  return table.complete() && not_recorded.empty() ? status::done : status::failed;
}

}  // namespace rankscope
