// SPDX-License-Identifier: GPL-3.0-or-later
// Panning: a frame that differs from the last one by whole pixels in time takes its pixels from there, and composes
// only the columns that come in.
#pragma once
#include <algorithm>
#include <optional>

#include "app/models/frame.hpp"

namespace rankscope {

struct Reuse {
  const Frame* previous = nullptr;
  int shift = 0;     ///< column x of the new frame is column x + shift of the previous one
  double drift = 0;  ///< how far, in pixels, the new frame's columns are from their exact times

  /// The columns [first, last) to compose.
  int first(int width) const { return shift > 0 ? std::max(width - shift - margin, 0) : 0; }
  int last(int width) const { return shift > 0 ? width : std::min(-shift + margin, width); }

  /// Composed again beside the new columns: boxes too narrow to be listed that the old edge cut.
  static constexpr int margin = 12;
};

/// How to make `request` from `previous`; nothing when they differ in more than a shift, or by so much that nothing is
/// gained. Roundings of many shifts add up to a quarter of a pixel at most.
std::optional<Reuse> reuse_of(const Frame& previous, const FrameRequest& request);

/// Copies what is kept, and clears the columns that come in.
void copy_shifted(const Reuse& reuse, const FrameRequest& request, Argb* pixels);

}  // namespace rankscope
