#include "telemetry/export/selection.hpp"

namespace rankscope {

std::vector<LaneKey> lanes_of(const StoreView& run, const ExportOptions& options) {
  std::vector<LaneKey> lanes = run.lanes();
  std::erase_if(lanes, [&](const LaneKey& lane) { return options.obtained && lane.obtained != *options.obtained; });
  return lanes;
}

TimeRange range_of(const StoreView& run, Obtained obtained, const ExportOptions& options) {
  if (!options.range.empty()) return options.range;
  TimeRange all = run.extent(obtained);
  ++all.end_ns;  // spans of length zero may begin at the very end
  return all;
}

}  // namespace rankscope
