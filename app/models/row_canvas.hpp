// SPDX-License-Identifier: GPL-3.0-or-later
// Pixel spans of one row of the time line: stacked or blended shares, boxes, outlines, hatching.
#pragma once
#include <cstdint>

#include "app/models/palette.hpp"

namespace rankscope {

/// The lines of a picture that belong to one row; lines outside the picture are skipped.
struct RowCanvas {
  Argb* picture = nullptr;
  int width = 0, picture_height = 0;
  int top = 0;     ///< of the row, in the picture; may be negative
  int height = 0;  ///< of the row
  /// The origin of the hatching: the pixel of time zero, so that it moves with the data.
  int phase = 0;
  int from = 0;  ///< lines of the picture above this one belong to another row

  /// Line y of the row, or null outside the picture.
  Argb* line(int y) const {
    const int at = top + y;
    return y < 0 || y >= height || at < from || at >= picture_height
               ? nullptr
               : picture + static_cast<std::ptrdiff_t>(at) * width;
  }
};

/// Fills columns [x0, x1) of lines [y0, y1), clipped.
void fill(const RowCanvas& canvas, int x0, int x1, int y0, int y1, Argb colour);
/// A box's edges; no side is drawn at an end where the box continues.
void outline(const RowCanvas& canvas, int x0, int x1, int thickness, Argb colour, bool from = true, bool to = true);
enum class Slope : std::uint8_t { rising, falling };
/// Diagonal lines of `hatch` on `ground`.
void hatch(const RowCanvas& canvas, int x0, int x1, Argb ground, Argb hatch, int period, Slope slope = Slope::rising);
/// Dots on `ground`: a stretch without data.
void dots(const RowCanvas& canvas, int x0, int x1, int y0, int y1, Argb ground, Argb dot, int period);

/// One column: each class's share of the height, from the bottom; a class with any share has a pixel. The rest
/// is not changed (idle).
void stack_column(const RowCanvas& canvas, int x, const PixelShare& share, const Palette& colours);
/// One column in one colour, the shares blended over the ground: for rows too thin to stack. `strength` 1: full colour.
void blend_column(const RowCanvas& canvas, int x, const PixelShare& share, const Palette& colours, float strength);

}  // namespace rankscope
