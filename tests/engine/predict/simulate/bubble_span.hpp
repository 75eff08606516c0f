// The bubble rate as the zero-bubble paper counts it (Qi et al. 2024, arXiv 2401.10241, section 5.2).
#pragma once
#include <algorithm>
#include <unordered_map>

#include "engine/predict/layout/simulate.hpp"

namespace rankscope {

/// (cost - work) / cost on the rank with the greatest cost. Cost is the time from the rank's first op of model compute
/// in that step to its last one; work is the time of these ops. Time in which bytes move counts as bubble here; the
/// optimizer does not count. 0 if the step has no model compute.
inline double bubble_span(const Simulation& simulation, std::uint32_t step = 0) {
  struct Own {
    std::int64_t begin_ns = 0, end_ns = 0, work_ns = 0;
  };
  std::unordered_map<std::int32_t, Own> ranks;
  for (const Span& span : simulation.spans) {
    if (span.step != step || !is_model_compute(span.op.kind())) continue;
    const auto [found, first] = ranks.try_emplace(span.rank, Own{span.begin_ns, span.end_ns, 0});
    Own& own = found->second;
    own.begin_ns = std::min(own.begin_ns, span.begin_ns);
    own.end_ns = std::max(own.end_ns, span.end_ns);
    own.work_ns += span.end_ns - span.begin_ns;
  }
  std::int64_t cost = 0, work = 0;
  for (const auto& [rank, own] : ranks)
    if (own.end_ns - own.begin_ns > cost) {
      cost = own.end_ns - own.begin_ns;
      work = own.work_ns;
    }
  return cost > 0 ? static_cast<double>(cost - work) / static_cast<double>(cost) : 0.0;
}

}  // namespace rankscope
