// SPDX-License-Identifier: GPL-3.0-or-later
// Panning: a frame that is shifted by an integer number of pixels in time copies these pixels from the last frame, and
// composes only the columns that become visible.
#pragma once
#include <algorithm>
#include <optional>

#include "app/models/frame.hpp"

namespace rankscope {

struct Reuse {
  const Frame* previous = nullptr;
  int shift = 0;     ///< column x of the new frame is column x + shift of the previous one
  double drift = 0;  ///< distance, in pixels, of the new frame's columns from their exact times

  /// The columns [first, last) to compose.
  int first(int width) const { return shift > 0 ? std::max(width - shift - margin, 0) : 0; }
  int last(int width) const { return shift > 0 ? width : std::min(-shift + margin, width); }

  /// Composed again in addition to the new columns: boxes too narrow to be listed that the old edge cut.
  static constexpr int margin = 12;
};

/// How to make `request` from `previous`; nothing when they differ in more than a shift, or the shift is too large
/// to save work. The rounding errors of many shifts add up to a quarter of a pixel at most.
std::optional<Reuse> reuse_of(const Frame& previous, const FrameRequest& request);

/// Copies the reused columns, and clears the new ones.
void copy_shifted(const Reuse& reuse, const FrameRequest& request, Argb* pixels);

}  // namespace rankscope
