// SPDX-License-Identifier: GPL-3.0-or-later
// Saves any view to a file: PNG and SVG as painted, CSV as its table. One mechanism for all views.
#pragma once
#include <QString>
#include <QWidget>
#include <optional>

#include "app/views/common/view_table.hpp"

namespace rankscope::app {

enum class SaveFormat : std::uint8_t { png, svg, csv };

/// By the file name's extension; none for any other.
std::optional<SaveFormat> save_format_of(const QString& file);

/// Writes `widget` as it is painted now, or `table` if the name ends in .csv. The file is complete or not written.
/// Returns the reason if it was not, one line; else an empty text. `table` may be null.
QString save_view(QWidget& widget, const TableSource* table, const QString& file);

/// Writes these bytes, all or nothing. Returns the reason if not, one line; else an empty text.
QString write_whole(const QString& file, const QByteArray& bytes);

/// True while a painter writes a vector file (lines and text), not pixels: a view may then paint as shapes what it
/// composes as pixels for the screen.
bool paints_shapes(const QPainter& painter);

}  // namespace rankscope::app
