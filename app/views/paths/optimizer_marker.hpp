// SPDX-License-Identifier: GPL-3.0-or-later
// The colour and the shape of an optimizer's path: either is enough to recognise it.
#pragma once
#include <QPointF>
#include <string>

#include "app/models/palette.hpp"

class QPainter;

namespace rankscope::app {

/// One of the palette's colours that differ also with colour blindness.
Argb colour_of(const std::string& optimizer, const Palette& colours);
/// Its shape around `at`, filled, with an edge of `edge`; `size` from the middle to a corner.
void paint_mark(QPainter& painter, QPointF at, double size, const std::string& optimizer, Argb fill, Argb edge);

}  // namespace rankscope::app
