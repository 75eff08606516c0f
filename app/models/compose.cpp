// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <span>

#include "app/models/frame.hpp"
#include "app/models/reuse.hpp"
#include "app/models/row_canvas.hpp"
#include "app/models/steps.hpp"
#include "app/models/time_window.hpp"

namespace rankscope {
namespace {

// The most spans that a frame reads, over all its rows. A row with more shows shares, and boxes of wide spans only.
constexpr std::size_t span_budget = 40'000;
// Steps narrower than this are not analysed, and have no prediction under them.
constexpr int narrowest_step_pixels = 24;

const StoreView& prediction_of(const FrameRequest& request) {
  return request.prediction ? *request.prediction : *request.run;
}

RowCanvas canvas_of(const FrameRequest& request, const TimelineRow& row, Argb* pixels) {
  const double scale = request.device_scale;
  const int y = request.rows->view_y(row, request.scroll);
  const int top = static_cast<int>(std::lround(y * scale));
  const int bottom = static_cast<int>(std::lround((y + row.height) * scale));
  // Scrolled rows pass under the pinned rows.
  const int from = row.pinned ? 0 : static_cast<int>(std::lround(request.rows->pinned_height * scale));
  const double origin = -static_cast<double>(request.range.begin_ns) / request.scale().ns_per_pixel();
  const int phase = static_cast<int>(std::fmod(std::round(origin), 4096.0));
  return {pixels, request.width, request.height, top, std::max(bottom - top, 1), phase, from};
}

bool on_picture(const RowCanvas& canvas) {
  return canvas.top < canvas.picture_height && canvas.top + canvas.height > canvas.from;
}

struct RowSpans {
  std::vector<Span> spans;
  bool all = true;  ///< false: only those wide enough for a box
};

std::vector<Span> wide_spans(const StoreView& view, LaneKey lane, TimeRange range, double ns_per_pixel,
                             std::size_t limit) {
  return view.spans(lane, range, static_cast<std::int64_t>(std::ceil(ns_per_pixel * crisp_box_pixels)), limit);
}

RowSpans fetch(const StoreView& view, LaneKey lane, TimeRange range, double ns_per_pixel, std::size_t limit) {
  RowSpans result{view.spans(lane, range, 0, limit + 1), true};
  if (result.spans.size() <= limit) return result;
  // The picture's width limits the number of wide spans, so this limit leaves out none of them.
  const double columns = static_cast<double>(range.length()) / std::max(ns_per_pixel, 1e-9);
  const auto most = static_cast<std::size_t>(columns / crisp_box_pixels) + 2;
  return {wide_spans(view, lane, range, ns_per_pixel, std::max(limit, most)), false};
}

std::size_t span_limit(const FrameRequest& request) {
  return std::clamp<std::size_t>(span_budget / std::max<std::size_t>(request.rows->rows.size(), 1), 300, 8000);
}

// The columns that are composed: all, or only those that scrolling made visible.
struct Window {
  int first = 0, last = 0;
  TimeRange range(const PixelScale& scale) const {
    return first == 0 && last == scale.width ? scale.range : TimeRange{scale.time_at(first), scale.time_at(last)};
  }
};

Window window_of(const FrameRequest& request, const Reuse* reuse) {
  return reuse ? Window{reuse->first(request.width), reuse->last(request.width)} : Window{0, request.width};
}

// The frame's boxes of one row; boxes are sorted by row.
std::span<const FrameBox> boxes_of(const Frame& frame, std::size_t row) {
  const auto [first, last] =
      std::equal_range(frame.boxes.begin(), frame.boxes.end(), FrameBox{{}, SpanClass::other, row, 0, 0},
                       [](const FrameBox& a, const FrameBox& b) { return a.row < b.row; });
  return {first, last};
}

// Subtracts a box from the shares of the columns at its edges, and remembers how much of each column it covers.
class Coverage {
 public:
  /// `shares` begins at column `first`.
  Coverage(std::vector<PixelShare>& shares, int first)
      : shares_(shares), first_(first), covered_(shares.size(), 0.0f) {}

  void take(double x0, double x1, SpanClass kind) {
    x0 -= first_;
    x1 -= first_;
    const auto width = static_cast<double>(shares_.size());
    if (x1 <= 0 || x0 >= width) return;
    const int from = static_cast<int>(std::floor(std::max(x0, 0.0)));
    const int to = std::min(static_cast<int>(std::ceil(std::min(x1, width))), static_cast<int>(width));
    for (int x = from; x < to; ++x) {
      const auto part = static_cast<float>(std::min<double>(x + 1, x1) - std::max<double>(x, x0));
      const auto at = static_cast<std::size_t>(x);
      covered_[at] += part;
      shares_[at].busy[static_cast<std::size_t>(kind)] -= part;
    }
  }

  /// The column's shares without the boxes, scaled to the uncovered part; all zero where a box covers the pixel.
  PixelShare rest(std::size_t x) const {
    const float left = 1 - covered_[x];
    if (left < 0.5f) return {};
    PixelShare share = shares_[x];
    for (float& part : share.busy) part = part < 0.02f ? 0 : part / left;
    share.waiting = share.waiting < 0.02f ? 0 : share.waiting / left;
    share.unknown /= left;
    return share;
  }
  bool boxed(std::size_t x) const { return covered_[x] >= 0.5f; }

 private:
  std::vector<PixelShare>& shares_;
  int first_;
  std::vector<float> covered_;
};

// Shares of the row's lane; the mean over its ranks if the row represents several.
std::vector<PixelShare> row_shares(const FrameRequest& request, const TimelineRow& row, Window window) {
  std::vector<PixelShare> sum(static_cast<std::size_t>(window.last - window.first));
  const TimeRange range = window.range(request.scale());
  request.run->shares({row.rank, row.lane, request.shown}, range, sum);
  if (row.rank_count <= 1) return sum;
  std::vector<PixelShare> one(sum.size());
  for (std::int32_t r = 1; r < row.rank_count; ++r) {
    std::fill(one.begin(), one.end(), PixelShare{});
    request.run->shares({row.rank + r * row.rank_stride, row.lane, request.shown}, range, one);
    for (std::size_t x = 0; x < sum.size(); ++x) {
      for (std::size_t c = 0; c < span_class_count; ++c) sum[x].busy[c] += one[x].busy[c];
      sum[x].waiting += one[x].waiting;
      sum[x].unknown += one[x].unknown;
    }
  }
  const float share = 1.0f / static_cast<float>(row.rank_count);
  for (PixelShare& pixel : sum) {
    for (float& part : pixel.busy) part *= share;
    pixel.waiting *= share;
    pixel.unknown *= share;
  }
  return sum;
}

int pixel(double x) { return static_cast<int>(std::lround(std::clamp(x, -1e6, 1e6))); }

void hatch_idle(const FrameRequest& request, const RowCanvas& canvas, const Palette& colours, Window window) {
  const TimeRange extent = request.extent;
  if (extent.empty()) return;
  const PixelScale scale = request.scale();
  const int period = std::max(static_cast<int>(std::lround(7 * request.device_scale)), 4);
  hatch(canvas, std::max(pixel(scale.x_of(extent.begin_ns)), window.first),
        std::min(pixel(scale.x_of(extent.end_ns)), window.last), colours.ground, colours.hatch, period);
}

// Hatches and names the idle stretches of the row's rank. The rank's own exposed communication is hatched in its
// colour, in the other direction. Waiting for transfers of other ranks is bubble, and drawn as bubble.
void explain(const FrameRequest& request, std::size_t row_index, const RowCanvas& canvas, const Palette& colours,
             Window window, RowParts& parts) {
  if (!request.bubbles) return;
  const PixelScale scale = request.scale();
  const int period = std::max(static_cast<int>(std::lround(7 * request.device_scale)), 4);
  const std::int32_t rank = request.rows->rows[row_index].rank;
  const auto most = static_cast<std::size_t>(request.width / narrowest_step_pixels + 1);
  for (const StepAt& step : steps_within(*request.run, request.shown, request.range, most)) {
    if (scale.x_of(step.range.end_ns) - scale.x_of(step.range.begin_ns) < narrowest_step_pixels) continue;
    const auto insight = request.bubbles->insight(request.run, request.prediction, request.shown, step.step);
    if (!insight) {
      parts.explained = false;
      continue;
    }
    for (const BubbleStretch& piece : stretches_of(insight->run, rank)) {
      if (piece.cause != BubbleCause::exposed_communication || piece.time == TimeClass::bubble) continue;
      const bool message = piece.purpose == Purpose::pipeline_forward || piece.purpose == Purpose::pipeline_backward;
      const Lane lane = lane_of(message ? OpKind::send : OpKind::all_reduce, piece.purpose);
      hatch(canvas, std::max(pixel(scale.x_of(piece.begin_ns)), window.first),
            std::min(pixel(scale.x_of(piece.end_ns)), window.last), colours.ground,
            colours.hatch_of(message ? SpanClass::transfer : SpanClass::collective, lane), period, Slope::falling);
    }
    for (IdleStretch& stretch : idle_stretches(insight->run, rank, scale.ns_per_pixel() * request.device_scale)) {
      const double x0 = scale.x_of(stretch.begin_ns), x1 = scale.x_of(stretch.end_ns);
      if (x1 - x0 < listed_box_pixels || x1 < 0 || x0 > request.width) continue;
      parts.bubbles.push_back({std::move(stretch), step.step, row_index, x0, x1});
    }
  }
}

void draw_box(const RowCanvas& canvas, const Box& box, double x0, double active, double x1, SpanClass kind,
              const Palette& colours) {
  const Argb colour = colours.of(kind);
  const int left = pixel(x0), right = std::max(pixel(x1), left + 1);
  int work = left;
  if (box.active_ns > box.begin_ns) {  // waiting for the peer: a thin line up to where bytes move
    work = std::min(std::max(pixel(active), left), right - 1);
    const int middle = canvas.height / 2;
    fill(canvas, left, work, middle - (canvas.height > 3 ? 1 : 0), middle + 1, mixed(colours.ground, colour, 0.6f));
  }
  fill(canvas, work, right, 0, canvas.height, colour);
  // A seam between boxes that touch.
  if (right - work >= 4) fill(canvas, right - 1, right, 0, canvas.height, mixed(colour, colours.ground, 0.65f));
}

// The boxes of a row that are wide enough for edges. With `reuse`, only boxes that touch the new columns; the others
// are copied from the last frame.
std::vector<FrameBox> crisp_boxes(const FrameRequest& request, std::size_t row_index, Window window, const Reuse* reuse,
                                  RowParts& parts) {
  const TimelineRow& row = request.rows->rows[row_index];
  const PixelScale scale = request.scale();
  const LaneKey lane{row.rank, row.lane, request.shown};
  TimeRange range = window.range(scale);
  RowSpans found;
  if (reuse) {
    for (const FrameBox& old : boxes_of(*reuse->previous, row_index))
      if (old.box.begin_ns < range.end_ns && old.box.end_ns > range.begin_ns)
        range.include({old.box.begin_ns, old.box.end_ns});
    // At the same level as before, so that new columns match the existing ones.
    found.all = reuse->previous->every_span[row_index] != 0;
    const std::size_t limit = 4 * span_limit(request);
    found.spans = found.all ? request.run->spans(lane, range, 0, limit)
                            : wide_spans(*request.run, lane, range, scale.ns_per_pixel(), limit);
    for (const FrameBox& old : boxes_of(*reuse->previous, row_index)) {
      const bool again = old.box.begin_ns < range.end_ns && old.box.end_ns > range.begin_ns;
      const bool gone = old.box.end_ns <= request.range.begin_ns || old.box.begin_ns >= request.range.end_ns;
      if (again || gone) continue;
      parts.boxes.push_back(old);
      parts.boxes.back().x0 = scale.x_of(old.box.begin_ns);
      parts.boxes.back().x1 = scale.x_of(old.box.end_ns);
    }
  } else {
    found = fetch(*request.run, lane, range, scale.ns_per_pixel(), span_limit(request));
  }
  parts.every_span = found.all;
  std::vector<FrameBox> crisp;
  for (const Box& box : fold(found.spans, request.fold_scale())) {
    const double x0 = scale.x_of(box.begin_ns), x1 = scale.x_of(box.end_ns);
    if (x1 - x0 >= crisp_box_pixels) crisp.push_back({box, class_of(box.first_op), row_index, x0, x1});
  }
  return crisp;
}

void compose_lane(const FrameRequest& request, std::size_t row_index, const RowCanvas& canvas, const Reuse* reuse,
                  RowParts& parts) {
  const TimelineRow& row = request.rows->rows[row_index];
  const Palette colours = palette_on(palette_of(request.theme), row.lane);
  const PixelScale scale = request.scale();
  const bool compute = row.kind == RowKind::compute;
  const Window window = window_of(request, reuse);
  if (reuse) fill(canvas, window.first, window.last, 0, canvas.height, colours.ground);
  if (compute && !request.overview) {
    hatch_idle(request, canvas, colours, window);
    // Idle is when none of a rank's compute lanes works: it is explained on the first of them.
    const bool first = !is_observed(row.lane) || row.lane == observed_lane(LaneUse::compute, 0);
    if (row.rank_count == 1 && first) explain(request, row_index, canvas, colours, window, parts);
  }
  std::vector<PixelShare> shares = row_shares(request, row, window);
  Coverage coverage(shares, window.first);
  std::vector<FrameBox> crisp;
  if (!request.overview && row.rank_count == 1) crisp = crisp_boxes(request, row_index, window, reuse, parts);
  for (const FrameBox& box : crisp) coverage.take(box.x0, box.x1, box.kind);
  const bool stacked = compute && canvas.height >= 6;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (coverage.boxed(i)) continue;
    const PixelShare rest = coverage.rest(i);
    const int x = window.first + static_cast<int>(i);
    if (stacked)
      stack_column(canvas, x, rest, colours);
    else
      blend_column(canvas, x, rest, colours, 1);
  }
  for (const FrameBox& box : crisp) {
    draw_box(canvas, box.box, box.x0, scale.x_of(box.box.active_ns), box.x1, box.kind, colours);
    if (box.x1 - box.x0 >= listed_box_pixels) parts.boxes.push_back(box);
  }
  if (reuse)
    std::stable_sort(parts.boxes.begin(), parts.boxes.end(),
                     [](const FrameBox& a, const FrameBox& b) { return a.box.begin_ns < b.box.begin_ns; });
}

// A line through the predicted step up to its end, under the boxes: between boxes, the rank is predicted to wait; the
// step has not ended there.
void ghost_line(const RowCanvas& canvas, double x0, double x1, bool ends, const Palette& colours, int thickness) {
  const Argb colour = mixed(colours.ground, colours.faint, 0.55f);
  const int middle = (canvas.height - thickness) / 2;
  fill(canvas, pixel(x0), pixel(x1), middle, middle + thickness, colour);
  if (ends) fill(canvas, pixel(x1) - thickness, pixel(x1), 0, canvas.height, colour);
}

// Too many ops to draw individually: shares of their pixels, faint like the prediction.
void ghost_shares(const FrameRequest& request, const RowCanvas& canvas, LaneKey lane, const PredictedStep& predicted,
                  TimeRange shown, const Palette& colours) {
  const PixelScale scale = request.scale();
  const int first = std::max(pixel(scale.x_of(shown.begin_ns)), 0);
  const int last = std::min(pixel(scale.x_of(shown.end_ns)), request.width);
  if (first >= last) return;
  std::vector<PixelShare> shares(static_cast<std::size_t>(last - first));
  prediction_of(request).shares(
      lane, {scale.time_at(first) - predicted.shift_ns, scale.time_at(last) - predicted.shift_ns}, shares);
  for (int x = first; x < last; ++x)
    blend_column(canvas, x, shares[static_cast<std::size_t>(x - first)], colours, 0.45f);
}

void compose_ghost(const FrameRequest& request, std::size_t row_index, const RowCanvas& canvas, RowParts& parts) {
  const Palette& colours = palette_of(request.theme);
  const TimelineRow& row = request.rows->rows[row_index];
  const PixelScale scale = request.scale();
  const StoreView& prediction = prediction_of(request);
  const LaneKey lane{row.rank, row.lane, Obtained::simulated};
  const int thickness = std::max(static_cast<int>(std::lround(request.device_scale)), 1);
  const auto most = static_cast<std::size_t>(request.width / narrowest_step_pixels + 1);
  std::vector<StepAt> steps = steps_within(*request.run, request.shown, request.range, most);
  std::optional<PredictedStep> chosen;
  if (const auto range = request.step ? request.run->step_range(request.shown, *request.step) : std::nullopt) {
    chosen = predicted_for(prediction, {*request.step, *range});
    // Its forecast may extend into the time of later steps of the run.
    if (std::none_of(steps.begin(), steps.end(), [&](const StepAt& at) { return at.step == *request.step; }))
      steps.push_back({*request.step, *range});
  }
  for (const StepAt& step : steps) {
    const auto predicted = predicted_for(prediction, step);
    if (!predicted) continue;
    const TimeRange whole = moved(predicted->predicted, predicted->shift_ns);
    const TimeRange shown = intersection(whole, room_for_forecast(*predicted, chosen));
    // A rank may be behind the others: its ops of a step may end after the others have begun the next step.
    const TimeRange ops{whole.begin_ns, whole.end_ns + whole.length()};
    if (intersection(request.range, intersection(ops, room_for_forecast(*predicted, chosen))).empty()) continue;
    ghost_line(canvas, scale.x_of(shown.begin_ns), scale.x_of(shown.end_ns), shown.end_ns == whole.end_ns, colours,
               thickness);
    // The range is extended by its length on both sides: else a folded box would seem to end at the picture's edge.
    const std::int64_t beside = request.range.length();
    const TimeRange wide{request.range.begin_ns - beside, request.range.end_ns + beside};
    const RowSpans found = fetch(prediction, lane, moved(intersection(wide, ops), -predicted->shift_ns),
                                 scale.ns_per_pixel(), span_limit(request));
    if (!found.all) ghost_shares(request, canvas, lane, *predicted, intersection(request.range, shown), colours);
    for (const Box& box : fold(found.spans, request.fold_scale())) {
      if (box.step != predicted->predicted_step) continue;
      TimeRange at = moved({box.begin_ns, box.end_ns}, predicted->shift_ns);
      const TimeRange room = room_for_forecast(*predicted, chosen);
      const bool from = at.begin_ns >= room.begin_ns, to = at.end_ns <= room.end_ns;
      at = {std::max(at.begin_ns, room.begin_ns), std::min(at.end_ns, room.end_ns)};
      if (at.begin_ns >= at.end_ns && !(from && to)) continue;
      const double x0 = scale.x_of(at.begin_ns), x1 = scale.x_of(at.end_ns);
      if (x1 < 0 || x0 > request.width) continue;
      const SpanClass kind = class_of(box.first_op);
      const Argb colour = mixed(colours.ground, colours.of(kind), 0.72f);
      const int left = pixel(x0), right = std::max(pixel(x1), left + 1);
      if (right - left >= 4) {
        // A gap of one pixel separates neighbouring boxes.
        fill(canvas, left, right - 1, 0, canvas.height, colours.ground);
        outline(canvas, left, right - 1, thickness, colour, from, to);
        if (x1 - x0 >= listed_box_pixels) parts.boxes.push_back({box, kind, row_index, x0, x1});
      } else {
        fill(canvas, left, right, 0, canvas.height, mixed(colours.ground, colour, 0.6f));
      }
    }
  }
}

}  // namespace

RowParts compose_row(const FrameRequest& request, std::size_t row_index, Argb* pixels, const Reuse* reuse) {
  RowParts parts;
  const TimelineRow& row = request.rows->rows[row_index];
  const RowCanvas canvas = canvas_of(request, row, pixels);
  if (!on_picture(canvas) || request.width <= 0 || request.range.empty()) return parts;
  switch (row.kind) {
    case RowKind::compute:
    case RowKind::communication: compose_lane(request, row_index, canvas, reuse, parts); break;
    case RowKind::ghost:
      if (reuse) fill(canvas, 0, canvas.width, 0, canvas.height, palette_of(request.theme).ground);
      compose_ghost(request, row_index, canvas, parts);
      break;
  }
  return parts;
}

void clear_frame(const FrameRequest& request, Argb* pixels) {
  const auto count = static_cast<std::size_t>(request.width) * static_cast<std::size_t>(request.height);
  std::fill(pixels, pixels + count, palette_of(request.theme).ground);
}

void gather(Frame& frame, std::vector<RowParts>& parts) {
  for (RowParts& row : parts) {
    frame.boxes.insert(frame.boxes.end(), row.boxes.begin(), row.boxes.end());
    frame.bubbles.insert(frame.bubbles.end(), std::make_move_iterator(row.bubbles.begin()),
                         std::make_move_iterator(row.bubbles.end()));
    frame.explained = frame.explained && row.explained;
    frame.every_span.push_back(row.every_span ? 1 : 0);
  }
}

Frame compose(const FrameRequest& request, const Frame* previous) {
  const auto start = std::chrono::steady_clock::now();
  Frame frame;
  frame.request = request;
  frame.request.extent = request.run->extent(request.shown);
  frame.pixels.resize(static_cast<std::size_t>(request.width) * static_cast<std::size_t>(request.height));
  const auto reuse = previous ? reuse_of(*previous, request) : std::nullopt;
  if (reuse)
    copy_shifted(*reuse, frame.request, frame.pixels.data());
  else
    clear_frame(frame.request, frame.pixels.data());
  std::vector<RowParts> parts;
  for (std::size_t row = 0; row < request.rows->rows.size(); ++row)
    parts.push_back(compose_row(frame.request, row, frame.pixels.data(), reuse ? &*reuse : nullptr));
  gather(frame, parts);
  frame.drift = reuse ? reuse->drift : 0;
  frame.reused = reuse.has_value();
  frame.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return frame;
}

}  // namespace rankscope
