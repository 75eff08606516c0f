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
  QString view;                ///< with --screenshot: one view alone; empty: the whole window
  QSize size{1280, 800};       ///< of the picture, device-independent pixels
  std::optional<Theme> theme;  ///< empty: as the system
  QString language;            ///< "de"; empty: as chosen in the menu, else as the system
  bool presentation = false;   ///< with a view: as for the last row of a class
  QString surface;             ///< of the view of optimizers' paths, which comes to the front; empty: as usual
  QString compare;             ///< recording for the compare view; empty: none
  QString teach;               ///< join file to write: the window opens a class; empty: it does not
  QString network;             ///< with teach: how other machines reach this one; empty: a class on this machine alone
  QString answers;             ///< with teach: CSV file with all answers of the class; empty: none
  QString attend, name;        ///< join file of a class, and as whom; empty: none
  bool run = false;            ///< start the run at once
  bool help = false, version = false;
};

/// Bad input: what() is one line with the correction.
struct CommandLineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The views that --view knows, in the order of the window.
QStringList view_names();

/// Parses the arguments, program name first. Needs no QCoreApplication: the platform is chosen by what it finds.
CommandLine parse_command_line(const QStringList& arguments);
/// The text of --help.
QString help_text();

}  // namespace rankscope::app
