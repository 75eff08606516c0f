// SPDX-License-Identifier: GPL-3.0-or-later
// The colours of the dark, light and high-contrast themes. Neutral surroundings, coloured
// data.
//
// Any two of the span colours (collectives of tensor ranks, gathers and reductions of ZeRO among them) differ by at
// least 12 (CIEDE2000) as seen normally and with deuteranopia, protanopia and tritanopia, and stand out from ground and
// panel by 3:1; text has 4.5:1. tests/app/models/palette_test.cpp computes it.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/op/kind.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// 0xAARRGGBB, as QRgb: QColor(argb) takes it as it is.
using Argb = std::uint32_t;

enum class Theme : std::uint8_t { dark, light, contrast };  ///< contrast: white and strong colours on black
inline constexpr std::array every_theme{Theme::dark, Theme::light, Theme::contrast};

std::string_view name_of(Theme theme);  ///< as --theme takes it: "dark", "light", "contrast"
std::optional<Theme> theme_named(std::string_view name);

struct Palette {
  Theme theme = Theme::dark;
  std::array<Argb, span_class_count> spans{};  ///< by SpanClass
  Argb tensor = 0, gather = 0, reduce = 0;     ///< collectives of these lanes; those of all others as spans says
  Argb ground = 0, panel = 0, line = 0;        ///< behind the views; behind side panels and cards; rules and frames
  Argb text = 0, dim = 0, faint = 0;           ///< text; labels; only tick marks and decoration
  Argb accent = 0, on_accent = 0;              ///< cursor, selection, links, the button that matters; text on it
  Argb hatch = 0;                              ///< the lines over a bubble, on ground: see least_hatch
  Argb unknown = 0;                            ///< the dots over a stretch without data, on ground
  Argb good = 0, bad = 0;                      ///< a check passed, an error in words; contrast of text

  Argb of(SpanClass kind) const { return spans[static_cast<std::size_t>(kind)]; }
  /// The same as it is drawn on that lane: a collective says by its colour whose it is.
  Argb of(SpanClass kind, Lane lane) const;
  /// The lines over a wait for such an op's bytes: as much of its colour as a hatch needs, so that boxes stay louder.
  Argb hatch_of(SpanClass kind, Lane lane) const;
  /// Black or white ink, whichever has more contrast on `fill`.
  Argb ink_on(Argb fill) const;
};

/// The contrast to the ground that a hatch has at least: thin lines, to be seen but not to be read.
inline constexpr double least_hatch = 2.5;

const Palette& palette_of(Theme theme);
std::string_view name_of(SpanClass kind);  ///< as a legend writes it: "forward", "send, receive", …
/// The same on that lane: "tensor", "gather", "reduce" for collectives of these lanes.
std::string_view name_of(SpanClass kind, Lane lane);
/// `palette` as that lane's rows are drawn: its collectives' colour is the one for all collectives.
Palette palette_on(const Palette& palette, Lane lane);

/// `share` of `over` and the rest of `under`, opaque.
Argb mixed(Argb under, Argb over, float share);
/// WCAG 2 contrast ratio, 1 … 21.
double contrast(Argb a, Argb b);

}  // namespace rankscope
