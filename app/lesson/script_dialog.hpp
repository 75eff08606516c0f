// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of a lesson as a script for PyTorch, to read, copy and save.
#pragma once
#include <QString>

class QWidget;

namespace rankscope::app {

/// `name`: of the suggested file, such as "pipeline-1f1b.py". A separate window, which closes itself.
void show_script(QWidget* parent, const QString& title, const QString& script, const QString& name);

}  // namespace rankscope::app
