// SPDX-License-Identifier: GPL-3.0-or-later
// The colours of the dark, light and high-contrast themes. Neutral surroundings, coloured
// data.
//
// Any two of the span colours (collectives of tensor ranks, gathers and reductions of ZeRO among them) differ by at
// least 12 (CIEDE2000) in normal vision, deuteranopia, protanopia and tritanopia, and have contrast 3:1 to ground and
// panel; text has 4.5:1. tests/app/models/palette_test.cpp computes it.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/op/kind.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// 0xAARRGGBB, as QRgb: QColor(argb) accepts it.
using Argb = std::uint32_t;

enum class Theme : std::uint8_t { dark, light, contrast };  ///< contrast: white and strong colours on black
inline constexpr std::array every_theme{Theme::dark, Theme::light, Theme::contrast};

std::string_view name_of(Theme theme);  ///< as --theme accepts it: "dark", "light", "contrast"
std::optional<Theme> theme_named(std::string_view name);

struct Palette {
  Theme theme = Theme::dark;
  std::array<Argb, span_class_count> spans{};  ///< by SpanClass
  Argb tensor = 0, gather = 0, reduce = 0;     ///< collectives of these lanes; all others as in spans
  Argb ground = 0, panel = 0, line = 0;        ///< behind the views; behind side panels and cards; rules and frames
  Argb text = 0, dim = 0, faint = 0;           ///< text; labels; only tick marks and decoration
  Argb accent = 0, on_accent = 0;              ///< cursor, selection, links, the main button; text on it
  Argb hatch = 0;                              ///< the lines over a bubble, on ground: see least_hatch
  Argb unknown = 0;                            ///< the dots over a stretch without data, on ground
  Argb good = 0, bad = 0;                      ///< a check passed, an error in words; contrast of text

  Argb of(SpanClass kind) const { return spans[static_cast<std::size_t>(kind)]; }
  /// The same for an op on that lane: the colour of a collective shows its lane.
  Argb of(SpanClass kind, Lane lane) const;
  /// The lines over a wait for such an op's bytes: only as much of its colour as a hatch needs; boxes stay stronger.
  Argb hatch_of(SpanClass kind, Lane lane) const;
  /// Black or white ink, whichever has more contrast on `fill`.
  Argb ink_on(Argb fill) const;
};

/// The least contrast of a hatch to the ground: thin lines, visible but not for reading.
inline constexpr double least_hatch = 2.5;

const Palette& palette_of(Theme theme);
std::string_view name_of(SpanClass kind);  ///< as in a legend: "forward", "send, receive", …
/// The same on that lane: "tensor", "gather", "reduce" for collectives of these lanes.
std::string_view name_of(SpanClass kind, Lane lane);
/// `palette` for that lane's rows: their collectives' colour is used for all collectives.
Palette palette_on(const Palette& palette, Lane lane);

/// `share` of `over` and the rest of `under`, opaque.
Argb mixed(Argb under, Argb over, float share);
/// WCAG 2 contrast ratio, 1 … 21.
double contrast(Argb a, Argb b);

}  // namespace rankscope
