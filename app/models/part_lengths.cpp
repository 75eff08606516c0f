// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/part_lengths.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "app/models/fold.hpp"
#include "app/models/steps.hpp"

namespace rankscope {
namespace {

constexpr FoldLevel levels[] = {FoldLevel::chunk, FoldLevel::block, FoldLevel::segment};
constexpr std::size_t most_lanes = 8, most_spans = 4000;

}  // namespace

PartLengths part_lengths(const StoreView& view, Obtained obtained) {
  const auto step = last_whole_step(view, obtained);
  const auto range = step ? view.step_range(obtained, *step) : std::nullopt;
  PartLengths lengths;
  if (!range) return lengths;
  std::vector<LaneKey> lanes;
  for (const LaneKey& key : view.lanes())
    if (key.lane == Lane::compute && key.obtained == obtained) lanes.push_back(key);
  PartLengths sums, counts;
  const std::size_t stride = std::max<std::size_t>(1, (lanes.size() + most_lanes - 1) / most_lanes);
  for (std::size_t i = 0; i < lanes.size(); i += stride) {
    OpId before[std::size(levels)];
    for (const Span& span : view.spans(lanes[i], *range, 0, most_spans)) {
      if (span.step != *step || !span.op.valid() || !is_model_compute(span.op.kind())) continue;
      const auto kind = static_cast<std::size_t>(span.op.kind());
      for (const FoldLevel level : levels) {
        const auto at = static_cast<std::size_t>(level);
        if (level == FoldLevel::block && span.op.fields().block < 0)
          continue;  // an embedding does not show how long a block is
        const OpId part = folded(span.op, level);
        sums.ns[kind][at] += static_cast<double>(span.end_ns - span.begin_ns);
        if (part != before[at]) ++counts.ns[kind][at];
        before[at] = part;
      }
    }
  }
  for (std::size_t kind = 0; kind < sums.ns.size(); ++kind)
    for (std::size_t at = 0; at < std::size(levels); ++at)
      if (counts.ns[kind][at] > 0) lengths.ns[kind][at] = sums.ns[kind][at] / counts.ns[kind][at];
  return lengths;
}

}  // namespace rankscope
