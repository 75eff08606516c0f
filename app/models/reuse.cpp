// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/reuse.hpp"

#include <cmath>

namespace rankscope {

std::optional<Reuse> reuse_of(const Frame& previous, const FrameRequest& request) {
  const FrameRequest& before = previous.request;
  const bool is_same_input =
      before.run == request.run && before.prediction == request.prediction && before.shown == request.shown &&
      before.rows == request.rows && before.width == request.width && before.height == request.height &&
      before.scroll == request.scroll && before.device_scale == request.device_scale && before.theme == request.theme &&
      before.overview == request.overview && before.bubbles == request.bubbles && before.parts == request.parts &&
      before.range.length() == request.range.length();
  if (!is_same_input || !previous.explained || request.width <= 0 || request.range.empty()) return std::nullopt;
  const double moved_pixels =
      static_cast<double>(request.range.begin_ns - before.range.begin_ns) / request.scale().ns_per_pixel();
  if (std::fabs(moved_pixels) > request.width * 0.75) return std::nullopt;
  const Reuse reuse{&previous, static_cast<int>(std::lround(moved_pixels)),
                    previous.drift + moved_pixels - std::round(moved_pixels)};
  if (reuse.shift == 0 || std::fabs(reuse.drift) > 0.25) return std::nullopt;
  return reuse;
}

void copy_shifted(const Reuse& reuse, const FrameRequest& request, Argb* pixels) {
  const int width = request.width, kept = width - std::abs(reuse.shift);
  const int from = std::max(reuse.shift, 0), to = std::max(-reuse.shift, 0);
  const Argb ground = palette_of(request.theme).ground;
  for (int y = 0; y < request.height; ++y) {
    const Argb* source = reuse.previous->pixels.data() + static_cast<std::ptrdiff_t>(y) * width;
    Argb* line = pixels + static_cast<std::ptrdiff_t>(y) * width;
    std::copy(source + from, source + from + kept, line + to);
    if (reuse.shift > 0)
      std::fill(line + kept, line + width, ground);
    else
      std::fill(line, line + to, ground);
  }
}

}  // namespace rankscope
