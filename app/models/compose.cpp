// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/models/frame.hpp"
#include "app/models/row_canvas.hpp"
#include "app/models/steps.hpp"
#include "app/models/time_window.hpp"

namespace rankscope {
namespace {

// All rows of a frame together look at no more spans than this; a row with more shows shares, and boxes of those that
// are wide.
constexpr std::size_t span_budget = 40'000;
// Steps narrower than this are not explained, and no prediction lies under them.
constexpr int narrowest_step_pixels = 24;

const StoreView& prediction_of(const FrameRequest& request) {
  return request.prediction ? *request.prediction : *request.run;
}

RowCanvas canvas_of(const FrameRequest& request, const TimelineRow& row, Argb* pixels) {
  const double scale = request.device_scale;
  const int top = static_cast<int>(std::lround((row.y - request.scroll) * scale));
  const int bottom = static_cast<int>(std::lround((row.bottom() - request.scroll) * scale));
  const double origin = -static_cast<double>(request.range.begin_ns) / request.scale().ns_per_pixel();
  const int phase = static_cast<int>(std::fmod(std::round(origin), 4096.0));
  return {pixels, request.width, request.height, top, std::max(bottom - top, 1), phase};
}

bool on_picture(const RowCanvas& canvas) {
  return canvas.top < canvas.picture_height && canvas.top + canvas.height > 0;
}

struct RowSpans {
  std::vector<Span> spans;
  bool all = true;  ///< false: only those with edges of their own
};

RowSpans fetch(const StoreView& view, LaneKey lane, TimeRange range, double ns_per_pixel, std::size_t limit) {
  RowSpans result{view.spans(lane, range, 0, limit + 1), true};
  if (result.spans.size() > limit) {
    const auto least = static_cast<std::int64_t>(std::ceil(ns_per_pixel * crisp_box_pixels));
    result = {view.spans(lane, range, least, limit), false};
  }
  return result;
}

std::size_t span_limit(const FrameRequest& request) {
  return std::clamp<std::size_t>(span_budget / std::max<std::size_t>(request.rows->rows.size(), 1), 300, 8000);
}

// Takes what a crisp box covers out of the shares of the columns at its edges, and remembers how much it covers.
class Coverage {
 public:
  Coverage(std::vector<PixelShare>& shares) : shares_(shares), covered_(shares.size(), 0.0f) {}

  void take(double x0, double x1, SpanClass kind) {
    const auto width = static_cast<double>(shares_.size());
    if (x1 <= 0 || x0 >= width) return;
    const int first = static_cast<int>(std::floor(std::max(x0, 0.0)));
    const int last = std::min(static_cast<int>(std::ceil(std::min(x1, width))), static_cast<int>(width));
    for (int x = first; x < last; ++x) {
      const auto part = static_cast<float>(std::min<double>(x + 1, x1) - std::max<double>(x, x0));
      const auto at = static_cast<std::size_t>(x);
      covered_[at] += part;
      shares_[at].busy[static_cast<std::size_t>(kind)] -= part;
    }
  }

  /// The column's shares without the boxes, over the part that they leave; all zero where a box has the pixel.
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
  std::vector<float> covered_;
};

// Shares of the row's lane; the mean over its ranks where it stands for several.
std::vector<PixelShare> row_shares(const FrameRequest& request, const TimelineRow& row) {
  std::vector<PixelShare> sum(static_cast<std::size_t>(request.width));
  request.run->shares({row.rank, row.lane, request.shown}, request.range, sum);
  if (row.rank_count <= 1) return sum;
  std::vector<PixelShare> one(sum.size());
  for (std::int32_t r = 1; r < row.rank_count; ++r) {
    std::fill(one.begin(), one.end(), PixelShare{});
    request.run->shares({row.rank + r, row.lane, request.shown}, request.range, one);
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

void hatch_idle(const FrameRequest& request, const RowCanvas& canvas, const Palette& colours) {
  const TimeRange extent = request.run->extent(request.shown);
  if (extent.empty()) return;
  const PixelScale scale = request.scale();
  const int period = std::max(static_cast<int>(std::lround(7 * request.device_scale)), 4);
  hatch(canvas, pixel(scale.x_of(extent.begin_ns)), pixel(scale.x_of(extent.end_ns)), colours.ground, colours.hatch,
        period);
}

// Names the idle stretches of the row's rank; those of exposed communication are hatched in its colour.
void explain(const FrameRequest& request, std::size_t row_index, const RowCanvas& canvas, const Palette& colours,
             RowParts& parts) {
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
    for (const BubbleStretch& piece : insight->run.stretches) {
      if (piece.rank != rank || piece.cause != BubbleCause::exposed_communication) continue;
      const bool message = piece.purpose == Purpose::pipeline_forward || piece.purpose == Purpose::pipeline_backward;
      const Argb colour = colours.of(message ? SpanClass::transfer : SpanClass::collective);
      hatch(canvas, pixel(scale.x_of(piece.begin_ns)), pixel(scale.x_of(piece.end_ns)), colours.ground,
            mixed(colours.ground, colour, 0.5f), period);
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

void compose_lane(const FrameRequest& request, std::size_t row_index, const RowCanvas& canvas, RowParts& parts) {
  const Palette& colours = palette_of(request.theme);
  const TimelineRow& row = request.rows->rows[row_index];
  const PixelScale scale = request.scale();
  const bool compute = row.kind == RowKind::compute;
  if (compute && !request.overview) {
    hatch_idle(request, canvas, colours);
    explain(request, row_index, canvas, colours, parts);
  }
  std::vector<PixelShare> shares = row_shares(request, row);
  Coverage coverage(shares);
  std::vector<FrameBox> crisp;
  if (!request.overview && row.rank_count == 1) {
    const RowSpans found = fetch(*request.run, {row.rank, row.lane, request.shown}, request.range, scale.ns_per_pixel(),
                                 span_limit(request));
    for (const Box& box : fold(found.spans, scale.ns_per_pixel())) {
      const double x0 = scale.x_of(box.begin_ns), x1 = scale.x_of(box.end_ns);
      if (x1 - x0 < crisp_box_pixels) continue;
      const SpanClass kind = class_of(box.first_op);
      coverage.take(x0, x1, kind);
      crisp.push_back({box, kind, row_index, x0, x1});
    }
  }
  const bool stacked = compute && canvas.height >= 6;
  for (std::size_t x = 0; x < shares.size(); ++x) {
    if (coverage.boxed(x)) continue;
    const PixelShare rest = coverage.rest(x);
    if (stacked)
      stack_column(canvas, static_cast<int>(x), rest, colours);
    else
      blend_column(canvas, static_cast<int>(x), rest, colours, 1);
  }
  for (const FrameBox& box : crisp) {
    draw_box(canvas, box.box, box.x0, scale.x_of(box.box.active_ns), box.x1, box.kind, colours);
    if (box.x1 - box.x0 >= listed_box_pixels) parts.boxes.push_back(box);
  }
}

void compose_ghost(const FrameRequest& request, std::size_t row_index, const RowCanvas& canvas, RowParts& parts) {
  const Palette& colours = palette_of(request.theme);
  const TimelineRow& row = request.rows->rows[row_index];
  const PixelScale scale = request.scale();
  const StoreView& prediction = prediction_of(request);
  const LaneKey lane{row.rank, row.lane, Obtained::simulated};
  const int thickness = std::max(static_cast<int>(std::lround(request.device_scale)), 1);
  const auto most = static_cast<std::size_t>(request.width / narrowest_step_pixels + 1);
  for (const StepAt& step : steps_within(*request.run, request.shown, request.range, most)) {
    const auto predicted = predicted_for(prediction, step);
    if (!predicted) continue;
    const TimeRange there = intersection(moved(request.range, -predicted->shift_ns), predicted->predicted);
    if (there.empty()) continue;
    const RowSpans found = fetch(prediction, lane, there, scale.ns_per_pixel(), span_limit(request));
    for (const Box& box : fold(found.spans, scale.ns_per_pixel())) {
      if (box.step != predicted->predicted_step) continue;
      const double x0 = scale.x_of(box.begin_ns + predicted->shift_ns);
      const double x1 = scale.x_of(box.end_ns + predicted->shift_ns);
      const SpanClass kind = class_of(box.first_op);
      const Argb colour = mixed(colours.ground, colours.of(kind), 0.72f);
      const int left = pixel(x0), right = std::max(pixel(x1), left + 1);
      if (right - left >= 4) {
        // A pixel's gap keeps neighbours apart as two boxes.
        outline(canvas, left, right - 1, thickness, colour);
        if (x1 - x0 >= listed_box_pixels) parts.boxes.push_back({box, kind, row_index, x0, x1});
      } else {
        fill(canvas, left, right, 0, canvas.height, mixed(colours.ground, colour, 0.6f));
      }
    }
  }
}

}  // namespace

RowParts compose_row(const FrameRequest& request, std::size_t row_index, Argb* pixels) {
  RowParts parts;
  const TimelineRow& row = request.rows->rows[row_index];
  const RowCanvas canvas = canvas_of(request, row, pixels);
  if (!on_picture(canvas) || request.width <= 0 || request.range.empty()) return parts;
  switch (row.kind) {
    case RowKind::compute:
    case RowKind::communication: compose_lane(request, row_index, canvas, parts); break;
    case RowKind::ghost: compose_ghost(request, row_index, canvas, parts); break;
  }
  return parts;
}

void clear_frame(const FrameRequest& request, Argb* pixels) {
  const auto count = static_cast<std::size_t>(request.width) * static_cast<std::size_t>(request.height);
  std::fill(pixels, pixels + count, palette_of(request.theme).ground);
}

Frame compose(const FrameRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  Frame frame;
  frame.request = request;
  frame.pixels.resize(static_cast<std::size_t>(request.width) * static_cast<std::size_t>(request.height));
  clear_frame(request, frame.pixels.data());
  for (std::size_t row = 0; row < request.rows->rows.size(); ++row) {
    RowParts parts = compose_row(request, row, frame.pixels.data());
    frame.boxes.insert(frame.boxes.end(), parts.boxes.begin(), parts.boxes.end());
    frame.bubbles.insert(frame.bubbles.end(), parts.bubbles.begin(), parts.bubbles.end());
    frame.explained = frame.explained && parts.explained;
  }
  frame.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return frame;
}

}  // namespace rankscope
