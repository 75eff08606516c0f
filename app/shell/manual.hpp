// SPDX-License-Identifier: GPL-3.0-or-later
// The manual and the About text.
#pragma once
#include <QString>

class QWidget;

namespace rankscope::app {

/// Version, licence, libraries, and the engine that it starts. Rich text.
QString about_text(const QString& engine_program);

/// Opens the manual in its own window: the README's tour, with a search field. If it is not installed,
/// the window shows where to find it.
void show_manual(QWidget* parent);

}  // namespace rankscope::app
