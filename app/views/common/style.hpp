// SPDX-License-Identifier: GPL-3.0-or-later
// Converts the palette to Qt colours, fonts and a style sheet: the only place that uses both.
#pragma once
#include <QColor>
#include <QFont>
#include <QPainter>
#include <QPalette>
#include <QString>

#include "app/models/palette.hpp"
#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope::app {

inline QColor color(Argb argb) { return QColor::fromRgba(argb); }
inline QColor faded(Argb argb, double opacity) {
  QColor c = color(argb);
  c.setAlphaF(static_cast<float>(opacity));
  return c;
}

/// The memory classes' colours: those of the ops that fill them (gradients like backward, activations like forward, …).
Argb color_of(MemoryClass memory, const Palette& palette);
Argb color_of(TimeClass time, const Palette& palette);
QString label_of(MemoryClass memory);

/// Pixels of the interface font, and of the smallest letters of a presentation.
inline constexpr int interface_pixels = 13, presented_pixels = 24;
inline constexpr int view_margin = 12;  ///< between a view's content and its edge

/// The platform's interface font.
QFont interface_font();
QFont bold_font(QFont font = interface_font());
/// The same with digits of one width: the interface font if it has them, else the platform's fixed font.
QFont number_font();
/// The platform's fixed font in the interface's size: for columns and code.
QFont fixed_font();

/// For text in a box, vertically centred.
inline constexpr int at_left = Qt::AlignLeft | Qt::AlignVCenter, at_right = Qt::AlignRight | Qt::AlignVCenter;
/// In the painter's font.
void draw_text(QPainter& painter, const QRectF& box, int flags, const QString& words, Argb ink);
/// One line; text that is too long for the box ends in "…".
void draw_line(QPainter& painter, const QRectF& box, int flags, const QString& words, Argb ink);

QPalette qt_palette(const Palette& palette);
QString style_sheet(const Palette& palette);

/// Light or dark, like the system's own palette.
Theme system_theme();

}  // namespace rankscope::app
