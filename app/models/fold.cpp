// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/fold.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/models/steps.hpp"

namespace rankscope {
namespace {

constexpr double label_pixels = 44;  ///< the width that a part's label needs
constexpr FoldLevel every_level[] = {FoldLevel::chunk, FoldLevel::block, FoldLevel::segment};
constexpr std::size_t most_sampled_lanes = 8, most_sampled_spans = 4000;

Box box_of(const Span& span) {
  return {span.op, span.op, span.step, FoldLevel::segment, span.begin_ns, span.active_ns, span.end_ns, 1};
}

// Folds [first, last), all of one chunk op without gaps, at one level.
void append(std::vector<Box>& boxes, std::span<const Span> run, FoldLevel level) {
  for (std::size_t i = 0; i < run.size();) {
    Box box = box_of(run[i]);
    const OpId whole = folded(run[i].op, level);
    std::size_t next = i + 1;
    for (; next < run.size() && folded(run[next].op, level) == whole; ++next) {
      box.end_ns = std::max(box.end_ns, run[next].end_ns);
      ++box.count;
    }
    if (box.count > 1 || level == FoldLevel::chunk) {
      box.op = whole;
      box.level = level;
    }
    boxes.push_back(box);
    i = next;
  }
}

}  // namespace

OpId folded(OpId op, FoldLevel level) {
  if (!op.valid()) return op;
  switch (level) {
    case FoldLevel::chunk: return is_model_compute(op.kind()) ? folded_to_chunk(op) : op;
    case FoldLevel::block: return folded_to_block(op);
    case FoldLevel::segment: return op;
  }
  return op;
}

FoldLevel FoldScale::level(OpKind kind) const {
  const auto fits = [&](FoldLevel level, double labels) {
    return parts.of(kind, level) > 0 && parts.of(kind, level) >= labels * label_pixels * device_scale * ns_per_pixel;
  };
  if (!fits(FoldLevel::chunk, 2)) return FoldLevel::chunk;  // only one part: its micro-batch number is more useful
  return fits(FoldLevel::segment, 1) ? FoldLevel::segment
         : fits(FoldLevel::block, 1) ? FoldLevel::block
                                     : FoldLevel::chunk;
}

std::vector<Box> fold(std::span<const Span> spans, const FoldScale& scale) {
  std::vector<Box> boxes;
  boxes.reserve(spans.size() / 4 + 1);
  const double gap_ns = std::max(scale.ns_per_pixel, 0.0);
  for (std::size_t first = 0; first < spans.size();) {
    const OpId whole = folded(spans[first].op, FoldLevel::chunk);
    std::int64_t end = spans[first].end_ns;
    std::size_t last = first + 1;
    for (;
         last < spans.size() && spans[last].step == spans[first].step &&
         folded(spans[last].op, FoldLevel::chunk) == whole && static_cast<double>(spans[last].begin_ns - end) <= gap_ns;
         ++last)
      end = std::max(end, spans[last].end_ns);
    const auto run = spans.subspan(first, last - first);
    const OpId op = run.front().op;
    append(boxes, run, run.size() == 1 || !op.valid() ? FoldLevel::segment : scale.level(op.kind()));
    first = last;
  }
  return boxes;
}

Box box_around(const StoreView& view, LaneKey lane, const Span& span, FoldLevel level, std::int64_t gap_ns) {
  Box box = box_of(span);
  if (level == FoldLevel::segment) return box;
  const OpId whole = folded(span.op, level);
  const auto belongs = [&](const Span& other) { return other.step == span.step && folded(other.op, level) == whole; };
  // A chunk has as many segments as a model; the bound only guards against a store that repeats itself.
  constexpr int most = 100'000;
  Span at = span;
  for (int i = 0; i < most; ++i) {
    const auto before = view.previous_span(lane, at);
    if (!before || !belongs(*before) || box.begin_ns - before->end_ns > gap_ns) break;
    at = *before;
    box.begin_ns = at.begin_ns;
    box.active_ns = at.active_ns;
    box.first_op = at.op;
    ++box.count;
  }
  at = span;
  for (int i = 0; i < most; ++i) {
    const auto after = view.next_span(lane, at);
    if (!after || !belongs(*after) || after->begin_ns - box.end_ns > gap_ns) break;
    at = *after;
    box.end_ns = std::max(box.end_ns, at.end_ns);
    ++box.count;
  }
  if (box.count > 1 || level == FoldLevel::chunk) {
    box.op = whole;
    box.level = level;
  }
  return box;
}

Box drawn_box(const StoreView& view, LaneKey lane, const Span& span, const FoldScale& scale) {
  const Box chunk = box_around(view, lane, span, FoldLevel::chunk, static_cast<std::int64_t>(scale.ns_per_pixel));
  if (chunk.count == 1) return box_of(span);
  std::vector<Span> spans =
      view.spans(lane, {chunk.begin_ns, chunk.end_ns}, 0, static_cast<std::size_t>(chunk.count) + 2);
  std::erase_if(spans, [&](const Span& other) {
    return other.step != span.step || folded(other.op, FoldLevel::chunk) != chunk.op;
  });
  for (const Box& box : fold(spans, scale))
    if (box.begin_ns <= span.begin_ns && span.end_ns <= box.end_ns) return box;
  return chunk;
}

std::optional<Box> box_after(const StoreView& view, LaneKey lane, const Box& box, const FoldScale& scale) {
  auto at = view.find(lane.rank, box.step, box.first_op, lane.obtained);
  for (std::int32_t i = 0; at && i < box.count; ++i) at = view.next_span(lane, *at);
  if (!at) return std::nullopt;
  return drawn_box(view, lane, *at, scale);
}

std::optional<Box> box_before(const StoreView& view, LaneKey lane, const Box& box, const FoldScale& scale) {
  const auto first = view.find(lane.rank, box.step, box.first_op, lane.obtained);
  const auto before = first ? view.previous_span(lane, *first) : std::nullopt;
  if (!before) return std::nullopt;
  return drawn_box(view, lane, *before, scale);
}

std::vector<std::string> labels_of(const Box& box) {
  if (!box.op.valid()) return {"?"};
  const OpFields f = box.op.fields();
  const std::string micro = f.micro_batch >= 0 ? std::to_string(f.micro_batch) : "";
  std::vector<std::string> labels;
  if (f.block >= 0 || f.segment != Segment::whole) {
    std::string part = f.block >= 0 ? fmt::format("b{}", f.block) : "";
    if (f.segment != Segment::whole) part += (part.empty() ? "" : " ") + std::string(name_of(f.segment));
    if (!micro.empty()) labels.push_back(micro + " · " + part);
    labels.push_back(part);
    if (f.segment != Segment::whole) labels.emplace_back(name_of(f.segment));
    if (f.block >= 0) labels.push_back(fmt::format("b{}", f.block));
  }
  if (!micro.empty()) labels.push_back(micro);
  if (labels.empty() || f.kind == OpKind::optimizer) {
    std::string name(name_of(f.kind));
    std::replace(name.begin(), name.end(), '_', '-');
    if (f.purpose == Purpose::alone && f.kind == OpKind::load_batch) name = "load";
    labels.insert(labels.begin(), f.index >= 0 ? fmt::format("{} {}", name, f.index) : name);
    if (f.index >= 0) labels.push_back(std::to_string(f.index));
  }
  return labels;
}

PartLengths part_lengths(const StoreView& view, Obtained obtained) {
  const auto step = last_whole_step(view, obtained);
  const auto range = step ? view.step_range(obtained, *step) : std::nullopt;
  PartLengths lengths;
  if (!range) return lengths;
  std::vector<LaneKey> lanes;
  for (const LaneKey& key : view.lanes())
    if (is_compute(key.lane) && key.obtained == obtained) lanes.push_back(key);
  PartLengths sums, counts;
  const std::size_t stride = std::max<std::size_t>(1, (lanes.size() + most_sampled_lanes - 1) / most_sampled_lanes);
  for (std::size_t i = 0; i < lanes.size(); i += stride) {
    OpId before[std::size(every_level)];
    for (const Span& span : view.spans(lanes[i], *range, 0, most_sampled_spans)) {
      if (span.step != *step || !span.op.valid() || !is_model_compute(span.op.kind())) continue;
      const auto kind = static_cast<std::size_t>(span.op.kind());
      for (const FoldLevel level : every_level) {
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
    for (std::size_t at = 0; at < std::size(every_level); ++at)
      if (counts.ns[kind][at] > 0) lengths.ns[kind][at] = sums.ns[kind][at] / counts.ns[kind][at];
  return lengths;
}

}  // namespace rankscope
