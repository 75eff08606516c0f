// Bytes moved by purpose and by link: what was counted beside what the programs say. For this folder's own files.
#pragma once
#include <vector>

#include "engine/explain/analyse/report.hpp"

namespace rankscope::analysis {

/// Per step and participating rank; see TrafficReport.
std::vector<TrafficReport> traffic_of(const RunFacts& facts, const RunTotals& totals);
/// All pairs of ranks that are to exchange anything, or have.
std::vector<LinkReport> links_of(const RunFacts& facts, const RunTotals& totals);

}  // namespace rankscope::analysis
