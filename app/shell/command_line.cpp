// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/command_line.hpp"

#include <QCommandLineParser>
#include <QRegularExpression>
#include <algorithm>

#include "app/shell/view_list.hpp"
#include "app/views/common/language.hpp"
#include "app/views/common/save_view.hpp"
#include "engine/lesson/descent/surface.hpp"

namespace rankscope::app {
namespace {

QString names_of_surfaces() {
  QStringList names;
  for (const std::string& name : surface_names()) names << QString::fromStdString(name);
  return names.join(QStringLiteral(", "));
}

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

struct Options {
  QCommandLineOption screenshot{
      QStringLiteral("screenshot"),
      QStringLiteral(
          "Without a display, draw into FILE.png or FILE.svg, or write a view's table into FILE.csv, and end."),
      QStringLiteral("FILE")};
  QCommandLineOption view{QStringLiteral("view"),
                          QStringLiteral("With --screenshot: draw this view alone: %1.").arg(view_names().join(", ")),
                          QStringLiteral("NAME")};
  QCommandLineOption size{QStringLiteral("size"), QStringLiteral("With --screenshot: its size (1280x800)."),
                          QStringLiteral("WxH")};
  QCommandLineOption presentation{QStringLiteral("presentation"),
                                  QStringLiteral("With --view: no text below 24 pixels, for the last row of a class.")};
  QCommandLineOption theme{QStringLiteral("theme"),
                           QStringLiteral("light, dark or contrast (high contrast); default: the system's theme."),
                           QStringLiteral("NAME")};
  QCommandLineOption language{
      QStringLiteral("language"),
      QStringLiteral("Language of the window and its lessons: %1; default: as chosen in the menu, else the system's.")
          .arg(window_languages().join(QStringLiteral(", "))),
      QStringLiteral("CODE")};
  QCommandLineOption surface{QStringLiteral("surface"),
                             QStringLiteral("Show the optimizers' paths on this surface: %1.").arg(names_of_surfaces()),
                             QStringLiteral("NAME")};
  QCommandLineOption run{QStringLiteral("run"), QStringLiteral("Run the scenario immediately.")};
  QCommandLineOption compare{QStringLiteral("compare"),
                             QStringLiteral("A recording (.mcap) to compare with the source in the compare view."),
                             QStringLiteral("FILE")};
  QCommandLineOption teach{
      QStringLiteral("teach"),
      QStringLiteral("Open a class on this machine, and write the join file for students to FILE."),
      QStringLiteral("FILE")};
  QCommandLineOption network{
      QStringLiteral("network"),
      QStringLiteral("With --teach: a class for other machines, with keys; ADDRESS is this machine's address."),
      QStringLiteral("ADDRESS")};
  QCommandLineOption answers{
      QStringLiteral("answers"),
      QStringLiteral("With --teach: keep all answers of the class in FILE.csv until the class ends."),
      QStringLiteral("FILE.csv")};
  QCommandLineOption attend{QStringLiteral("attend"), QStringLiteral("Join the class of a teacher's join FILE."),
                            QStringLiteral("FILE")};
  QCommandLineOption name{QStringLiteral("name"), QStringLiteral("With --attend: your name in the class."),
                          QStringLiteral("NAME")};
  QCommandLineOption help{{QStringLiteral("h"), QStringLiteral("help")}, QStringLiteral("Print this help and exit.")};
  QCommandLineOption version{{QStringLiteral("v"), QStringLiteral("version")},
                             QStringLiteral("Print the version and exit.")};

  void add_to(QCommandLineParser& parser) const {
    parser.setApplicationDescription(QStringLiteral("Show and explain a distributed training step."));
    parser.addOptions({screenshot, view, size, presentation, theme, language, surface, run, compare, teach, network, answers,
                       attend, name, help, version});
    parser.addPositionalArgument(
        QStringLiteral("source"),
        QStringLiteral("A scenario (.toml), a trace (.mcap), an endpoint or a join file. Default: the "
                       "welcome page, with the last session."),
        QStringLiteral("[SCENARIO | TRACE | tcp://… | JOIN-FILE]"));
  }
};

}  // namespace

QStringList view_names() {
  QStringList names;
  for (const ViewKind& kind : view_kinds()) names << QLatin1String(kind.name);
  return names << QStringLiteral("plan") << QStringLiteral("lab");
}

CommandLine parse_command_line(const QStringList& arguments) {
  const Options options;
  QCommandLineParser parser;
  options.add_to(parser);
  if (!parser.parse(arguments)) refuse(parser.errorText() + QStringLiteral(" `rankscope --help` lists the options."));

  CommandLine line;
  line.help = parser.isSet(options.help);
  line.version = parser.isSet(options.version);
  line.run = parser.isSet(options.run);
  line.compare = parser.value(options.compare);
  line.teach = parser.value(options.teach);
  line.network = parser.value(options.network);
  line.answers = parser.value(options.answers);
  line.attend = parser.value(options.attend);
  line.name = parser.value(options.name);
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
  if (parser.isSet(options.theme)) {
    const QString theme = parser.value(options.theme);
    line.theme = theme_named(theme.toStdString());
    if (!line.theme) refuse(QStringLiteral("--theme %1: unknown; give light, dark or contrast").arg(theme));
  }
  if (parser.isSet(options.language)) {
    line.language = parser.value(options.language);
    if (!window_languages().contains(line.language))
      refuse(QStringLiteral("--language %1: unknown; give one of %2")
                 .arg(line.language, window_languages().join(QStringLiteral(", "))));
  }
  if (parser.isSet(options.screenshot)) {
    line.screenshot = parser.value(options.screenshot);
    const auto format = save_format_of(line.screenshot);
    if (!format)
      refuse(QStringLiteral("--screenshot %1: the name must end in .png, .svg or .csv").arg(line.screenshot));
    if (format == SaveFormat::csv && !parser.isSet(options.view))
      refuse(QStringLiteral("--screenshot %1: a table needs a view; give --view NAME").arg(line.screenshot));
  }
  for (const auto& option : {options.view, options.size})
    if (parser.isSet(option) && line.screenshot.isEmpty())
      refuse(QStringLiteral("--%1 needs --screenshot FILE.png").arg(option.names().front()));
  if (parser.isSet(options.size)) line.size = parse_size(parser.value(options.size));
  if (parser.isSet(options.view)) {
    line.view = parser.value(options.view);
    if (!view_names().contains(line.view))
      refuse(
          QStringLiteral("--view %1: unknown; known are %2").arg(line.view, view_names().join(QStringLiteral(", "))));
  }
  if (parser.isSet(options.surface)) {
    line.surface = parser.value(options.surface);
    const std::vector<std::string> known = surface_names();
    if (std::find(known.begin(), known.end(), line.surface.toStdString()) == known.end())
      refuse(QStringLiteral("--surface %1: unknown; known are %2").arg(line.surface, names_of_surfaces()));
  }
  line.presentation = parser.isSet(options.presentation);
  if (line.presentation && line.view.isEmpty()) refuse(QStringLiteral("--presentation needs --view VIEW"));
  return line;
}

QString help_text() {
  QCommandLineParser parser;
  Options().add_to(parser);
  // Qt knows a program's name once there is an application, which help does not wait for.
  return parser.helpText().replace(QStringLiteral("<executable_name>"), QStringLiteral("rankscope"));
}

}  // namespace rankscope::app
