// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/command_line.hpp"

#include <QCommandLineParser>
#include <QRegularExpression>

#include "app/shell/view_list.hpp"
#include "app/views/common/language.hpp"
#include "app/views/common/save_view.hpp"
#include "app/views/common/text.hpp"
#include "engine/lesson/descent/surface.hpp"
#include "engine/op/contains.hpp"

namespace rankscope::app {
namespace {

QString names_of_surfaces() { return text::list(surface_names()).join(QStringLiteral(", ")); }

[[noreturn]] void refuse(const QString& message) { throw CommandLineError(message.toStdString()); }

QSize parse_size(const QString& text) {
  static const QRegularExpression pattern(QStringLiteral("^(\\d{2,5})x(\\d{2,5})$"));
  const auto match = pattern.match(text);
  const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
  if (!match.hasMatch() || size.width() < 320 || size.height() < 240 || size.width() > 8192 || size.height() > 8192)
    refuse(QStringLiteral("--size %1: not a size; give WIDTHxHEIGHT from 320x240 to 8192x8192, such as 1280x800")
               .arg(text));
  return size;
}

void add_options(QCommandLineParser& parser) {
  const QString comma = QStringLiteral(", ");
  const auto add = [&](const QStringList& names, const QString& words, const QString& value = {}) {
    parser.addOption({names, words, value});
  };
  parser.setApplicationDescription("Show and explain a distributed training step.");
  add({"screenshot"},
      "Without a display, draw into FILE.png or FILE.svg, or write a view's table into FILE.csv, and end.", "FILE");
  add({"view"}, QStringLiteral("With --screenshot: draw this view alone: %1.").arg(view_names().join(comma)), "NAME");
  add({"size"}, "With --screenshot: its size (1280x800).", "WxH");
  add({"presentation"}, "With --view: no text below 24 pixels, for the last row of a class.");
  add({"theme"}, "light, dark or contrast (high contrast); default: the system's theme.", "NAME");
  add({"language"},
      QStringLiteral("Language of the window and its lessons: %1; default: as chosen in the menu, else the system's.")
          .arg(window_languages().join(comma)),
      "CODE");
  add({"surface"}, QStringLiteral("Show the optimizers' paths on this surface: %1.").arg(names_of_surfaces()), "NAME");
  add({"run"}, "Run the scenario immediately.");
  add({"compare"}, "A recording (.mcap) to compare with the source in the compare view.", "FILE");
  add({"teach"}, "Open a class on this machine, and write the join file for students to FILE.", "FILE");
  add({"network"}, "With --teach: a class for other machines, with keys; ADDRESS is this machine's address.",
      "ADDRESS");
  add({"answers"}, "With --teach: keep all answers of the class in FILE.csv until the class ends.", "FILE.csv");
  add({"attend"}, "Join the class of a teacher's join FILE.", "FILE");
  add({"name"}, "With --attend: your name in the class.", "NAME");
  add({"h", "help"}, "Print this help and exit.");
  add({"v", "version"}, "Print the version and exit.");
  parser.addPositionalArgument(
      "source",
      "A scenario (.toml), a recording (.mcap), a folder of PyTorch's traces, an endpoint or a "
      "join file. Default: the welcome page, with the last session.",
      "[SCENARIO | RECORDING | FOLDER | tcp://… | JOIN-FILE]");
}

}  // namespace

QStringList view_names() {
  QStringList names;
  for (const ViewKind& kind : view_kinds()) names << QLatin1String(kind.name);
  return names << QStringLiteral("plan") << QStringLiteral("lab");
}

CommandLine parse_command_line(const QStringList& arguments) {
  QCommandLineParser parser;
  add_options(parser);
  if (!parser.parse(arguments)) refuse(parser.errorText() + QStringLiteral(" `rankscope --help` lists the options."));

  CommandLine line;
  line.help = parser.isSet("help");
  line.version = parser.isSet("version");
  line.run = parser.isSet("run");
  line.compare = parser.value("compare");
  line.teach = parser.value("teach");
  line.network = parser.value("network");
  line.answers = parser.value("answers");
  line.attend = parser.value("attend");
  line.name = parser.value("name");
  if (!line.teach.isEmpty() && !line.attend.isEmpty())
    refuse(QStringLiteral("--teach and --attend: a window is either the teacher's or a student's"));
  if (!line.network.isEmpty() && line.teach.isEmpty())
    refuse(QStringLiteral("--network ADDRESS needs --teach FILE: students connect to the teacher's window"));
  if (!line.answers.isEmpty() && line.teach.isEmpty())
    refuse(QStringLiteral("--answers FILE.csv needs --teach FILE: it is the teacher's window that gets answers"));
  if (!line.answers.isEmpty() && save_format_of(line.answers) != SaveFormat::csv)
    refuse(QStringLiteral("--answers %1: the name must end in .csv").arg(line.answers));
  if (line.name.isEmpty() != line.attend.isEmpty())
    refuse(QStringLiteral("--attend FILE needs --name NAME, and --name needs --attend"));
  const QStringList sources = parser.positionalArguments();
  if (sources.size() > 1)
    refuse(QStringLiteral("one source at a time; %1 are given: %2")
               .arg(sources.size())
               .arg(sources.join(QLatin1Char(' '))));
  if (!sources.isEmpty()) line.source = sources.front();
  if (parser.isSet("theme")) {
    const QString theme = parser.value("theme");
    line.theme = theme_named(theme.toStdString());
    if (!line.theme) refuse(QStringLiteral("--theme %1: unknown; give light, dark or contrast").arg(theme));
  }
  if (parser.isSet("language")) {
    line.language = parser.value("language");
    if (!window_languages().contains(line.language))
      refuse(QStringLiteral("--language %1: unknown; give one of %2")
                 .arg(line.language, window_languages().join(QStringLiteral(", "))));
  }
  if (parser.isSet("screenshot")) {
    line.screenshot = parser.value("screenshot");
    const auto format = save_format_of(line.screenshot);
    if (!format)
      refuse(QStringLiteral("--screenshot %1: the name must end in .png, .svg or .csv").arg(line.screenshot));
    if (format == SaveFormat::csv && !parser.isSet("view"))
      refuse(QStringLiteral("--screenshot %1: a table needs a view; give --view NAME").arg(line.screenshot));
  }
  for (const char* option : {"view", "size"})
    if (parser.isSet(option) && line.screenshot.isEmpty())
      refuse(QStringLiteral("--%1 needs --screenshot FILE.png").arg(option));
  if (parser.isSet("size")) line.size = parse_size(parser.value("size"));
  if (parser.isSet("view")) {
    line.view = parser.value("view");
    if (!view_names().contains(line.view))
      refuse(
          QStringLiteral("--view %1: unknown; known are %2").arg(line.view, view_names().join(QStringLiteral(", "))));
  }
  if (parser.isSet("surface")) {
    line.surface = parser.value("surface");
    if (!contains(surface_names(), line.surface.toStdString()))
      refuse(QStringLiteral("--surface %1: unknown; known are %2").arg(line.surface, names_of_surfaces()));
  }
  line.presentation = parser.isSet("presentation");
  if (line.presentation && line.view.isEmpty()) refuse(QStringLiteral("--presentation needs --view VIEW"));
  return line;
}

QString help_text() {
  QCommandLineParser parser;
  add_options(parser);
  // Qt knows a program's name only after an application exists; help is printed before that.
  return parser.helpText().replace(QStringLiteral("<executable_name>"), QStringLiteral("rankscope"));
}

}  // namespace rankscope::app
