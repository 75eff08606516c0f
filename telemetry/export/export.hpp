// Exports a run from the store to other programs' formats.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

struct ExportOptions {
  std::optional<Obtained> obtained;  ///< only spans obtained in this way
  TimeRange range;                   ///< only events that overlap it, in the store's time; empty: everything
  /// The number of bytes an op of a rank moves; nullopt: none, or unknown.
  std::function<std::optional<std::int64_t>(int rank, OpId op)> bytes = {};
};

/// The trace-event JSON that Perfetto and chrome://tracing open: a process for each rank, a thread for each lane and
/// origin, spans as X events, memory as counters. Times are microseconds since the session's start with the nanoseconds
/// after the point; baseTimeNanoseconds is the time of the start, if known.
void export_chrome(const StoreView& run, std::ostream& out, const ExportOptions& options = {});

/// One rank in the form of PyTorch's profiler, as HolisticTraceAnalysis reads it (a folder with a file for each rank):
/// every op as a cpu_op and as a kernel of a stream, the lane, joined by their correlation; steps as ProfilerStep
/// annotations. Communications are named "ncclKernel_…" and copies "Memcpy …" for any transport, because the analysis
/// distinguishes kernels by their names; the op itself and its bytes are in the kernel's args. Times are integer
/// microseconds, rounded down, since the analysis keeps no more. Select one origin; otherwise each op appears twice.
void export_profiler(const StoreView& run, int rank, std::ostream& out, const ExportOptions& options);

/// One line per span below a line of column names; nanoseconds. Comma-separated, no field needs quotes.
void export_csv(const StoreView& run, std::ostream& out, const ExportOptions& options = {});

}  // namespace rankscope
