// Selects the data for an export from the store.
#pragma once
#include <vector>

#include "telemetry/export/export.hpp"

namespace rankscope {

/// The lanes to be exported, in order.
std::vector<LaneKey> lanes_of(const StoreView& run, const ExportOptions& options);
/// The time to be exported of one kind: the whole extent, ends included, if no range was asked for.
TimeRange range_of(const StoreView& run, Obtained obtained, const ExportOptions& options);

}  // namespace rankscope
