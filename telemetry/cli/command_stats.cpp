#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/progress/progress_line.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/explain/facts/sweep_file.hpp"
#include "telemetry/cli/commands.hpp"
#include "telemetry/cli/explained.hpp"

namespace rankscope {

namespace {

int show_sweep(const std::string& trace, bool json) {
  DamageReport damage;
  const Sweep sweep = read_sweep(trace, &damage);
  print_damage(trace, damage);
  const ScalingTable table = scaling_table(sweep);
  if (json)
    print_json(to_json(sweep, table));
  else
    std::cout << to_text(sweep, table);
  return 0;
}

}  // namespace

ReadTraceOptions shown_on(ProgressLine& line, const std::string& trace) {
  ReadTraceOptions options;
  options.progress = [trace, show = line.progress()](double share) {
    show(trace, share);
    return true;
  };
  return options;
}

void read_shown(const std::string& trace, EventSink& sink, DamageReport& damage) {
  ProgressLine line("reading");
  read_trace(trace, sink, shown_on(line, trace), &damage);
}

int show_stats(const std::string& trace, bool json) {
  if (is_sweep(trace)) return show_sweep(trace, json);
  RunStore store;
  DamageReport damage;
  read_shown(trace, store, damage);
  print_damage(trace, damage);
  const auto view = store.view();
  check_explained(*view, trace);
  Report report = explained(trace, [&] { return report_of(*view); });
  const TraceInfo info = read_trace_info(trace);
  report.forged_messages = info.forged;
  report.unrecorded_messages = info.unrecorded;
  report.unrecorded_reason = info.unrecorded_reason;
  if (json)
    print_json(to_json(report));
  else
    std::cout << to_text(report);
  return 0;
}

}  // namespace rankscope
