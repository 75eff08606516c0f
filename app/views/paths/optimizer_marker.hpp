// SPDX-License-Identifier: GPL-3.0-or-later
// The colour and the shape of an optimizer's path, so that it can be recognised by either.
#pragma once
#include <QPointF>
#include <string>

#include "app/models/palette.hpp"

class QPainter;

namespace rankscope::app {

/// Of the palette's colours that differ for every eye.
Argb colour_of(const std::string& optimizer, const Palette& colours);
/// Its shape about `at`, filled, with an edge of `edge`; `size` from the middle to a corner.
void paint_mark(QPainter& painter, QPointF at, double size, const std::string& optimizer, Argb fill, Argb edge);

}  // namespace rankscope::app
