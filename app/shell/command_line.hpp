// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of the window's program, as a value.
#pragma once
#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>
#include <stdexcept>

#include "app/models/palette.hpp"

namespace rankscope::app {

struct CommandLine {
  QString source;              ///< scenario, trace, endpoint or join file as typed; empty: none
  QString screenshot;          ///< picture (.png, .svg) or table (.csv) to write; empty: open the window
  QString view;                ///< with --screenshot: only this view; empty: the complete window
  QSize size{1280, 800};       ///< of the picture, device-independent pixels
  std::optional<Theme> theme;  ///< empty: as in the system
  QString language;            ///< "de"; empty: as chosen in the menu, else as in the system
  bool presentation = false;   ///< with a view: enlarged for the last row of a class
  QString surface;             ///< of the view of optimizers' paths, which is then in front; empty: default
  QString compare;             ///< recording for the compare view; empty: none
  QString teach;               ///< join file to write: the window opens a class; empty: no class
  QString network;             ///< with teach: how other machines connect; empty: a class only on this machine
  QString answers;             ///< with teach: CSV file with all answers of the class; empty: none
  QString attend, name;        ///< join file of a class, and the student's name; empty: none
  bool run = false;            ///< start the run immediately
  bool help = false, version = false;
};

/// Bad input: what() is one line with the correction.
struct CommandLineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The views that --view accepts, in the order of the window.
QStringList view_names();

/// Parses the arguments, program name first. Needs no QCoreApplication: its result selects the platform.
CommandLine parse_command_line(const QStringList& arguments);
/// The text of --help.
QString help_text();

}  // namespace rankscope::app
