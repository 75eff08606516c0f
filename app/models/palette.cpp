// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/palette.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace {

constexpr Palette dark{
    Theme::dark, {0xffa9c8ee, 0xffb3601e, 0xffcdcb39, 0xff747b92, 0xff39976d, 0xff8855bb, 0xfff997a9, 0xfff0f0f0},
    0xffbb88ff,  0xffddffcc,
    0xff88aa55,  0xff14171c,
    0xff1b1f26,  0xff313845,
    0xffe6e9ee,  0xff9aa4b2,
    0xff77828f,  0xff5aa9ff,
    0xff0b1420,  0xff525c6b,
    0xff59636f,  0xff4cb583,
    0xffff7b72};

constexpr Palette light{
    Theme::light, {0xff0d8ad7, 0xff6b3009, 0xff887f1b, 0xff3c414e, 0xff147254, 0xff440099, 0xffde5881, 0xff0f0f0f},
    0xff3333ff,   0xff885588,
    0xff330033,   0xfff3f4f6,
    0xffffffff,   0xffd5d9e0,
    0xff1b2430,   0xff566172,
    0xff6f7987,   0xff0b66c3,
    0xffffffff,   0xff959ca8,
    0xff9aa3af,   0xff147254,
    0xffb3261e};

constexpr Palette high_contrast{
    Theme::contrast, {0xffa9c8ee, 0xffb3601e, 0xffcdcb39, 0xff747b92, 0xff39976d, 0xff8855bb, 0xfff997a9, 0xfff0f0f0},
    0xffbb88ff,      0xffddffcc,
    0xff88aa55,      0xff000000,
    0xff000000,      0xffa8a8a8,
    0xffffffff,      0xffe6e6e6,
    0xffc0c0c0,      0xffffe14d,
    0xff000000,      0xff606060,
    0xff6a6a6a,      0xff62e6a0,
    0xffff9c94};

double linear(Argb channel) {
  const double c = static_cast<double>(channel & 0xff) / 255;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(Argb c) { return 0.2126 * linear(c >> 16) + 0.7152 * linear(c >> 8) + 0.0722 * linear(c); }

}  // namespace

Argb Palette::of(SpanClass kind, Lane lane) const {
  if (kind != SpanClass::collective) return of(kind);
  if (lane == Lane::tensor) return tensor;
  if (lane == Lane::zero_gather) return gather;
  return lane == Lane::zero_reduce ? reduce : of(kind);
}

Argb Palette::hatch_of(SpanClass kind, Lane lane) const {
  float share = 0.5F;
  while (share < 1 && contrast(mixed(ground, of(kind, lane), share), ground) < least_hatch) share += 0.05F;
  return mixed(ground, of(kind, lane), std::min(share, 1.0F));
}

Argb Palette::ink_on(Argb fill) const {
  constexpr Argb black = 0xff05070a, white = 0xffffffff;
  return contrast(black, fill) >= contrast(white, fill) ? black : white;
}

const Palette& palette_of(Theme theme) {
  switch (theme) {
    case Theme::dark: return dark;
    case Theme::light: return light;
    case Theme::contrast: return high_contrast;
  }
  return dark;
}

std::string_view name_of(Theme theme) {
  switch (theme) {
    case Theme::dark: return "dark";
    case Theme::light: return "light";
    case Theme::contrast: return "contrast";
  }
  return "";
}

std::optional<Theme> theme_named(std::string_view name) {
  for (const Theme theme : every_theme)
    if (name == name_of(theme)) return theme;
  return std::nullopt;
}

std::string_view name_of(SpanClass kind) {
  switch (kind) {
    case SpanClass::forward: return "forward";
    case SpanClass::backward: return "backward";
    case SpanClass::weight_gradient: return "weight gradient";
    case SpanClass::recompute: return "recompute";
    case SpanClass::transfer: return "send, receive";
    case SpanClass::collective: return "collective";
    case SpanClass::optimizer: return "optimizer";
    case SpanClass::other: return "other";
  }
  return "?";
}

std::string_view name_of(SpanClass kind, Lane lane) {
  if (kind != SpanClass::collective) return name_of(kind);
  if (lane == Lane::tensor) return "tensor";
  if (lane == Lane::zero_gather) return "gather";
  return lane == Lane::zero_reduce ? "reduce" : name_of(kind);
}

Palette palette_on(const Palette& palette, Lane lane) {
  Palette result = palette;
  result.spans[static_cast<std::size_t>(SpanClass::collective)] = palette.of(SpanClass::collective, lane);
  return result;
}

Argb mixed(Argb under, Argb over, float share) {
  const auto part = [&](int shift) {
    const float a = static_cast<float>(under >> shift & 0xff), b = static_cast<float>(over >> shift & 0xff);
    return static_cast<Argb>(std::lround(a + (b - a) * share)) << shift;
  };
  return 0xff000000u | part(16) | part(8) | part(0);
}

double contrast(Argb a, Argb b) {
  const double la = luminance(a), lb = luminance(b);
  return la > lb ? (la + 0.05) / (lb + 0.05) : (lb + 0.05) / (la + 0.05);
}

}  // namespace rankscope
