// The recording of a sweep: an MCAP file with one document under /rankscope/sweep (the requested points) and
// one under /rankscope/sweep/run for every run that ended (engine/explain/analyse/scaling.hpp has the meaning of both).
#pragma once
#include <cstdint>
#include <string>

#include "engine/explain/analyse/scaling.hpp"
#include "telemetry/trace/json_trace.hpp"
#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {

inline constexpr std::string_view sweep_run_topic = "/rankscope/sweep/run";

class SweepRecorder {
 public:
  /// Creates the file and writes the requested points. Throws TraceError.
  SweepRecorder(const std::string& path, const Sweep& sweep);
  /// It is on disk when this returns. `time_ns` is since the sweep began.
  void add(const SweepRun& run, std::int64_t time_ns);
  /// Empty, or one line about missing data in the file and the reason.
  std::string close();

 private:
  JsonTraceWriter writer_;
  int lost_ = 0;
};

/// True when the file is a sweep's recording: see read_sweep.
bool is_sweep(const std::string& path);
/// Throws TraceError if the file can't be opened, is not an MCAP file of a sweep, or its documents are invalid.
/// Damaged runs are omitted and reported.
Sweep read_sweep(const std::string& path, DamageReport* damage = nullptr);

}  // namespace rankscope
