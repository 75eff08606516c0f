// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of a lesson as a script for PyTorch, to be read, copied and saved.
#pragma once
#include <QString>

class QWidget;

namespace rankscope::app {

/// `name`: of the file that is suggested, such as "pipeline-1f1b.py". A window of its own, which closes itself.
void show_script(QWidget* parent, const QString& title, const QString& script, const QString& name);

}  // namespace rankscope::app
