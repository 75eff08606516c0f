// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/row_canvas.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace {

// A transfer that covers a hundredth of its pixel is still visible.
constexpr float least_blend = 0.3f;

// Lines [y0, y1) of one column.
void fill_column(const RowCanvas& canvas, int x, int y0, int y1, Argb colour) {
  const int from = std::max({y0, 0, canvas.from - canvas.top});
  const int to = std::min({y1, canvas.height, canvas.picture_height - canvas.top});
  if (from >= to) return;
  Argb* pixel = canvas.picture + static_cast<std::ptrdiff_t>(canvas.top + from) * canvas.width + x;
  for (int y = from; y < to; ++y, pixel += canvas.width) *pixel = colour;
}

int remainder(int a, int b) { return ((a % b) + b) % b; }

}  // namespace

void fill(const RowCanvas& canvas, int x0, int x1, int y0, int y1, Argb colour) {
  x0 = std::max(x0, 0);
  x1 = std::min(x1, canvas.width);
  if (x0 >= x1) return;
  for (int y = std::max(y0, 0); y < std::min(y1, canvas.height); ++y)
    if (Argb* line = canvas.line(y)) std::fill(line + x0, line + x1, colour);
}

void outline(const RowCanvas& canvas, int x0, int x1, int thickness, Argb colour, bool from, bool to) {
  const int side = std::min(thickness, (x1 - x0 + 1) / 2);
  fill(canvas, x0, x1, 0, thickness, colour);
  fill(canvas, x0, x1, canvas.height - thickness, canvas.height, colour);
  if (from) fill(canvas, x0, x0 + side, 0, canvas.height, colour);
  if (to) fill(canvas, x1 - side, x1, 0, canvas.height, colour);
}

void hatch(const RowCanvas& canvas, int x0, int x1, Argb ground, Argb hatch, int period, Slope slope) {
  x0 = std::max(x0, 0);
  x1 = std::min(x1, canvas.width);
  const int thickness = std::max(period / 7, 1);
  for (int y = 0; y < canvas.height; ++y) {
    Argb* line = canvas.line(y);
    if (!line || x0 >= x1) continue;
    std::fill(line + x0, line + x1, ground);
    const int up = slope == Slope::rising ? y : -y;
    for (int x = x0 - remainder(x0 - canvas.phase + up, period); x < x1; x += period)
      for (int i = std::max(x, x0); i < std::min(x + thickness, x1); ++i) line[i] = hatch;
  }
}

void dots(const RowCanvas& canvas, int x0, int x1, int y0, int y1, Argb ground, Argb dot, int period) {
  x0 = std::max(x0, 0);
  x1 = std::min(x1, canvas.width);
  const int size = std::max(period / 4, 1);
  for (int y = std::max(y0, 0); y < std::min(y1, canvas.height); ++y) {
    Argb* line = canvas.line(y);
    if (!line) continue;
    const int row = y / period;
    const bool dotted = y % period < size;
    for (int x = x0; x < x1; ++x)
      line[x] = dotted && remainder(x - canvas.phase + (row % 2) * period / 2, period) < size ? dot : ground;
  }
}

void stack_column(const RowCanvas& canvas, int x, const PixelShare& share, const Palette& colours) {
  float used = 0;
  int bottom = canvas.height;
  for (int c = 0; c < span_class_count; ++c) {
    const float part = share.busy[static_cast<std::size_t>(c)];
    if (part <= 0) continue;
    used += part;
    int top = canvas.height - static_cast<int>(used * static_cast<float>(canvas.height) + 0.5f);
    top = std::clamp(std::min(top, bottom - 1), 0, canvas.height);
    fill_column(canvas, x, top, bottom, colours.spans[static_cast<std::size_t>(c)]);
    bottom = top;
  }
  if (share.unknown > 0) {
    used += share.unknown;
    const int top = std::clamp(canvas.height - static_cast<int>(std::lround(used * static_cast<float>(canvas.height))),
                               0, std::max(bottom - 1, 0));
    dots(canvas, x, x + 1, top, bottom, colours.ground, colours.unknown, 4);
  }
}

void blend_column(const RowCanvas& canvas, int x, const PixelShare& share, const Palette& colours, float strength) {
  float sum = 0, red = 0, green = 0, blue = 0;
  for (int c = 0; c < span_class_count; ++c) {
    const float part = share.busy[static_cast<std::size_t>(c)];
    if (part <= 0) continue;
    const Argb colour = colours.spans[static_cast<std::size_t>(c)];
    sum += part;
    red += part * static_cast<float>(colour >> 16 & 0xff);
    green += part * static_cast<float>(colour >> 8 & 0xff);
    blue += part * static_cast<float>(colour & 0xff);
  }
  if (sum > 0) {
    const auto channel = [&](float value) { return static_cast<Argb>(std::lround(value / sum)); };
    const Argb mean = 0xff000000u | channel(red) << 16 | channel(green) << 8 | channel(blue);
    const float share_drawn = std::clamp(std::max(sum, least_blend), 0.0f, 1.0f) * strength;
    fill_column(canvas, x, 0, canvas.height, mixed(colours.ground, mean, share_drawn));
  } else if (share.waiting > 0) {
    const int middle = canvas.height / 2;
    fill(
        canvas, x, x + 1, middle - (canvas.height > 3 ? 1 : 0), middle + 1,
        mixed(colours.ground, colours.of(SpanClass::transfer), std::max(share.waiting, least_blend) * 0.6f * strength));
  }
  if (share.unknown > 0.5f && sum <= 0) dots(canvas, x, x + 1, 0, canvas.height, colours.ground, colours.unknown, 4);
}

}  // namespace rankscope
