// A run in other programs' formats, from the store.
#pragma once
#include <cstdint>
#include <optional>
#include <ostream>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

struct ExportOptions {
  std::optional<Obtained> obtained;  ///< only spans obtained so
  TimeRange range;                   ///< only what overlaps it, in the store's time; empty: everything
};

/// The trace-event JSON that Perfetto and chrome://tracing open: a process for each rank, a thread for each lane and
/// way of obtaining, spans as X events, memory as counters. Times are microseconds since the session's start with the
/// nanoseconds behind the point; baseTimeNanoseconds holds the start where the run says when it was.
void export_chrome(const StoreView& run, std::ostream& out, const ExportOptions& options = {});

/// One line a span under a line of names; nanoseconds. Comma-separated, no field needs quotes.
void export_csv(const StoreView& run, std::ostream& out, const ExportOptions& options = {});

}  // namespace rankscope
