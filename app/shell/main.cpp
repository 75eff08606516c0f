// SPDX-License-Identifier: GPL-3.0-or-later
// The program `rankscope`: the window, or a picture of it.
#include <QApplication>
#include <QFileInfo>
#include <QLoggingCategory>
#include <QSettings>
#include <QStandardPaths>
#include <QStyleFactory>
#include <cstdio>

#include "app/session/source_spec.hpp"
#include "app/shell/command_line.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/screenshot.hpp"
#include "app/views/common/language.hpp"
#include "app/views/common/style.hpp"

namespace {

using namespace rankscope;
using namespace rankscope::app;

int complain(int status, const std::string& words) {
  std::fprintf(stderr, "rankscope: %s\n", words.c_str());
  return status;
}

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    if (!qEnvironmentVariableIsEmpty(name)) return true;
  return false;
}

/// The language of the command line, of the menu, or of the system. A picture is the same on every machine: English
/// unless another is requested.
QString language_of(const CommandLine& line) {
  if (!line.language.isEmpty()) return line.language;
  if (!line.screenshot.isEmpty()) return QStringLiteral("en");
  const QString chosen = chosen_language();
  return chosen.isEmpty() ? system_language() : chosen;
}

Theme theme_of(const CommandLine& line) {
  if (line.theme) return *line.theme;
  const QString chosen = line.screenshot.isEmpty() ? QSettings().value(QStringLiteral("theme")).toString() : QString();
  return theme_named(chosen.toStdString()).value_or(system_theme());
}

int run(int argc, char** argv) {
  QStringList arguments;
  for (int i = 0; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
  const CommandLine line = parse_command_line(arguments);
  if (line.help) {
    std::fputs(qPrintable(help_text()), stdout);
    return 0;
  }
  if (line.version) {
    std::puts("rankscope " RANKSCOPE_VERSION);
    return 0;
  }
  const bool picture = !line.screenshot.isEmpty();
  if (picture)
    qputenv("QT_QPA_PLATFORM", "offscreen");
  else if (!has_display())
    return complain(1, "there is no display; --screenshot FILE.png draws without one");

  // Messages of the platform without a screen are not useful.
  if (picture) QLoggingCategory::setFilterRules(QStringLiteral("default.warning=false"));
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("rankscope"));
  QApplication::setOrganizationName(QStringLiteral("rankscope"));
  QApplication::setApplicationVersion(QStringLiteral(RANKSCOPE_VERSION));
  install_language(application, language_of(line));
  const Theme theme = theme_of(line);
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  QApplication::setFont(interface_font());

  // Opens the named source; without one the welcome page is shown. A picture of a view uses the default lab.
  const bool welcome = line.source.isEmpty() && !line.run && line.surface.isEmpty() && line.view.isEmpty() &&
                       line.compare.isEmpty() && line.teach.isEmpty() && line.attend.isEmpty();
  const SourceSpec spec = classify_source(line.source.isEmpty() ? default_lab() : line.source);
  if (line.run && spec.kind != SourceKind::scenario)
    return complain(2, "--run needs a scenario; " + line.source.toStdString() + " is none");
  if (!line.answers.isEmpty() && QFileInfo::exists(line.answers))
    return complain(2, "--answers " + line.answers.toStdString() + ": the file exists; name another one");
  SessionOptions options;
  if (!picture)
    options.recordings_folder =
        QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QStringLiteral("/recordings");
  MainWindow window(options, theme, !picture);
  if (picture) window.resize(line.size);
  window.show();
  if (welcome)
    window.show_welcome();
  else
    window.open(spec);
  if (!line.surface.isEmpty()) window.show_paths({.surface = line.surface.toStdString()});
  if (!line.compare.isEmpty()) window.compare_with(line.compare);
  if (!line.teach.isEmpty())
    if (const QString why = window.teach(line.teach, line.network); !why.isEmpty())
      return complain(2, why.toStdString());
  if (!line.answers.isEmpty()) window.keep_answers(line.answers);
  if (!line.attend.isEmpty())
    if (const QString why = window.attend(line.attend, line.name); !why.isEmpty())
      return complain(2, why.toStdString());
  if (picture && window.session().state() == SessionState::failed && spec.kind == SourceKind::scenario)
    return complain(2, window.session().failure().toStdString());

  if (!picture) {
    if (line.run) {
      QObject::connect(&window.session(), &Session::state_changed, &window, [&window, started = false]() mutable {
        if (started || !window.session().can_run()) return;
        started = true;
        window.session().run();
      });
    }
    return QApplication::exec();
  }
  Screenshot screenshot(window, line);
  int status = 0;
  QObject::connect(&screenshot, &Screenshot::done, &application, [&](int result, const QString& words) {
    status = words.isEmpty() ? result : complain(result, words.toStdString());
    QApplication::exit(status);
  });
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const CommandLineError& error) {
    return complain(2, error.what());
  } catch (const SourceError& error) {
    return complain(2, error.what());
  } catch (const std::exception& error) {
    return complain(1, error.what());
  }
}
