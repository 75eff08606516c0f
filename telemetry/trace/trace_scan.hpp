// Finds a trace's chunks without its index: from record to record, and past damage to the next chunk.
#pragma once
#include "telemetry/trace/trace_index.hpp"

namespace rankscope {

TraceIndex scan_trace(const TraceFile& file, DamageReport& damage);

}  // namespace rankscope
