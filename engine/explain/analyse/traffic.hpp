// Bytes moved by purpose and by link: counted values and the programs' values. For this folder's own files.
#pragma once
#include <vector>

#include "engine/explain/analyse/report.hpp"

namespace rankscope::analysis {

/// Per step and participating rank; see TrafficReport.
std::vector<TrafficReport> traffic_of(const RunFacts& facts, const RunTotals& totals);
/// All pairs of ranks with a predicted or counted exchange.
std::vector<LinkReport> links_of(const RunFacts& facts, const Step& linked, const RunTotals& totals);

}  // namespace rankscope::analysis
