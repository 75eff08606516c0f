// SPDX-License-Identifier: GPL-3.0-or-later
// One composed picture of the time line: pixels, and the boxes in them. Made by worker threads from a request
// with all its input; the view paints it, with labels and the selection on top.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/models/bubble_source.hpp"
#include "app/models/fold.hpp"
#include "app/models/idle.hpp"
#include "app/models/palette.hpp"
#include "app/models/timeline_rows.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope {

/// Time ↔ pixels. Times stay 64-bit nanoseconds; only the distance from the view's start becomes floating-point, so
/// the resolution is still a nanosecond after a week of training.
struct PixelScale {
  TimeRange range;
  double width = 1;  ///< pixels that show `range`

  double ns_per_pixel() const { return static_cast<double>(range.length()) / width; }
  /// Pixels from the left edge; outside 0 … width for times outside the range.
  double x_of(std::int64_t time_ns) const {
    return static_cast<double>(time_ns - range.begin_ns) * width / static_cast<double>(range.length());
  }
  std::int64_t time_at(double x) const { return range.begin_ns + std::llround(x * ns_per_pixel()); }
};

struct FrameRequest {
  std::shared_ptr<const StoreView> run;
  std::shared_ptr<const StoreView> prediction;  ///< null: simulated spans of `run`
  Obtained shown = Obtained::measured;
  std::shared_ptr<const TimelineRows> rows;
  TimeRange range;
  PartLengths parts;          ///< of the run: how far its ops are opened; the prediction's to the same level
  int width = 0, height = 0;  ///< device pixels
  int scroll = 0;             ///< logical pixels of the rows above the picture
  double device_scale = 1;    ///< device pixels per logical one
  Theme theme = Theme::dark;
  std::optional<std::uint32_t> step;  ///< the step that the user looks at: its forecast is shown completely
  bool overview = false;              ///< only shares: no boxes, no bubbles
  TimeRange extent;                   ///< of the data; compose() and the composer fill it in
  BubbleSource* bubbles = nullptr;    ///< outlives the composer; null: no causes
  PixelScale scale() const { return {range, static_cast<double>(width)}; }
  FoldScale fold_scale() const { return {scale().ns_per_pixel(), parts, device_scale}; }
};

/// A box wide enough for a label or an outline. x in device pixels, unclipped.
struct FrameBox {
  Box box;
  SpanClass kind = SpanClass::other;
  std::size_t row = 0;
  double x0 = 0, x1 = 0;
};
/// An idle stretch wide enough to be named.
struct FrameBubble {
  IdleStretch stretch;
  std::uint32_t step = 0;
  std::size_t row = 0;
  double x0 = 0, x1 = 0;
};

struct Frame {
  FrameRequest request;
  std::vector<Argb> pixels;  ///< height lines of width, opaque
  std::vector<FrameBox> boxes;
  std::vector<FrameBubble> bubbles;
  bool explained = true;         ///< false when the insight into a visible step was missing
  std::vector<char> every_span;  ///< by row: 1 if all its spans were read, 0 if only wide ones
  double drift = 0;              ///< pixels: accumulated rounding error of whole-pixel shifts
  bool reused = false;           ///< made from the previous frame
  double milliseconds = 0;       ///< time to compose it
};

/// Boxes of at least this width are listed in Frame::boxes.
inline constexpr double listed_box_pixels = 10;
/// Boxes of at least this width have edges; narrower ones are shares of their pixels.
inline constexpr double crisp_box_pixels = 3;

/// The part of a frame from one row.
struct RowParts {
  std::vector<FrameBox> boxes;
  std::vector<FrameBubble> bubbles;
  bool explained = true;
  bool every_span = true;
};

struct Reuse;

/// Composes row `row` into `pixels` (the whole picture's; rows write disjoint lines, so they may run in parallel).
/// With `reuse` the pixels contain what copy_shifted wrote.
RowParts compose_row(const FrameRequest& request, std::size_t row, Argb* pixels, const Reuse* reuse = nullptr);

/// The background under the rows.
void clear_frame(const FrameRequest& request, Argb* pixels);

/// Adds the rows' results to the frame, in their order.
void gather(Frame& frame, std::vector<RowParts>& parts);

/// All rows, on the calling thread; from `previous` if possible.
Frame compose(const FrameRequest& request, const Frame* previous = nullptr);

}  // namespace rankscope
