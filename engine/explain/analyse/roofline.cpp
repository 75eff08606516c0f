#include "engine/explain/analyse/roofline.hpp"

#include <algorithm>
#include <map>

#include "engine/predict/cost/measured.hpp"

namespace rankscope {
namespace {

/// Whether a segment of chunk `c` is part of that op.
bool is_part(const OpFields& op, const SegmentSpec& segment) {
  const bool whole_chunk = op.segment == Segment::whole && op.block < 0;
  return whole_chunk || (segment.block == op.block && (op.segment == Segment::whole || op.segment == segment.kind));
}

OpWork work_of_op(const StepProgram& step, const OpFields& op) {
  OpWork sum;
  const auto chunk = static_cast<std::size_t>(op.chunk);
  if (op.chunk < 0 || chunk + 1 >= step.first_segment.size()) return sum;
  const OpKind kind = op.kind == OpKind::recompute ? OpKind::forward : op.kind;
  for (int s = step.first_segment[chunk]; s < step.first_segment[chunk + 1]; ++s) {
    const SegmentSpec& segment = step.model.segments[s];
    if (!is_part(op, segment)) continue;
    const OpWork work = work_of(segment, kind);
    sum.flops += work.flops;
    sum.bytes += work.bytes;
  }
  return sum;
}

struct KindGroup {
  double flops = 0, bytes = 0;
  double least_flops = 0, most_flops = 0;  ///< of one op
  std::vector<double> seconds;
};

}  // namespace

std::vector<RooflinePoint> roofline_points(const StepProgram& step, const std::vector<Span>& spans) {
  std::map<std::pair<OpKind, Segment>, KindGroup> groups;
  std::map<std::uint64_t, OpWork> known;
  for (const Span& span : spans) {
    if (!span.op.valid() || span.end_ns <= span.begin_ns) continue;
    const OpFields op = span.op.fields();
    if (!is_model_compute(op.kind)) continue;
    const auto [work, made] = known.try_emplace(span.op.value());
    if (made) work->second = work_of_op(step, op);
    if (!(work->second.flops > 0) || !(work->second.bytes > 0)) continue;
    KindGroup& group = groups[{op.kind, op.segment}];
    const double flops = work->second.flops;
    group.least_flops = group.seconds.empty() ? flops : std::min(group.least_flops, flops);
    group.most_flops = std::max(group.most_flops, flops);
    group.flops += flops;
    group.bytes += work->second.bytes;
    group.seconds.push_back(static_cast<double>(span.end_ns - span.begin_ns) * 1e-9);
  }
  std::vector<RooflinePoint> points;
  for (auto& [what, group] : groups) {
    RooflinePoint point{what.first, what.second};
    const auto count = static_cast<double>(group.seconds.size());
    point.ops = static_cast<int>(group.seconds.size());
    point.flops = group.flops / count;
    point.bytes = group.bytes / count;
    for (const double seconds : group.seconds) point.all_seconds += seconds;
    point.seconds = point.all_seconds / count;
    // The median of a residual network's unequal convolutions belongs to other work than the mean of their FLOPs.
    if (group.least_flops < group.most_flops) {
      points.push_back(point);
      continue;
    }
    const auto middle = group.seconds.begin() + point.ops / 2;
    std::nth_element(group.seconds.begin(), middle, group.seconds.end());
    point.seconds = *middle;
    points.push_back(point);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const RooflinePoint& a, const RooflinePoint& b) { return a.all_seconds > b.all_seconds; });
  return points;
}

double Roof::at(double intensity) const { return std::min(flops, bandwidth * intensity); }

}  // namespace rankscope
