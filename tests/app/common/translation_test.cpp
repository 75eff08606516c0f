// SPDX-License-Identifier: GPL-3.0-or-later
// Each text of the window has a translation in each language, with the same placeholders.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <map>
#include <ostream>
#include <set>
#include <vector>

#include "app/views/common/language.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"
#include "tests/judged.hpp"
#include "tests/places.hpp"

using namespace rankscope::app;

namespace {

const QDir translations(QString::fromStdString(rankscope::test::source_folder() + "/resources/translations"));

struct Translated {
  QString source, comment, translation;
  bool finished = true;
};

std::vector<Translated> messages_of(const QString& path) {
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  std::vector<Translated> messages;
  for (QXmlStreamReader xml(&file); !xml.atEnd();) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    if (xml.name() == QLatin1String("message")) messages.emplace_back();
    if (xml.name() == QLatin1String("source")) messages.back().source = xml.readElementText();
    if (xml.name() == QLatin1String("comment")) messages.back().comment = xml.readElementText();
    if (xml.name() == QLatin1String("translation")) {
      messages.back().finished = xml.attributes().value(QLatin1String("type")).isEmpty();
      messages.back().translation = xml.readElementText(QXmlStreamReader::IncludeChildElements);
    }
  }
  return messages;
}

/// "%1", "%n", each once: a language may repeat one.
std::set<QString> placeholders(const QString& text) {
  static const QRegularExpression pattern(QStringLiteral("%(L?\\d+|n|p)"));
  std::set<QString> found;
  for (auto at = pattern.globalMatch(text); at.hasNext();) found.insert(at.next().captured());
  return found;
}

QStringList ts_files() { return translations.entryList({QStringLiteral("rankscope_*.ts")}); }

}  // namespace

TEST_CASE("Each language's file has a finished translation of each text, with its placeholders and blanks") {
  REQUIRE(!ts_files().isEmpty());
  for (const QString& name : ts_files()) {
    std::map<QString, QString> translated;
    for (const Translated& message : messages_of(translations.filePath(name))) {
      INFO(name.toStdString() << ": '" << message.source.toStdString() << "' as '" << message.translation.toStdString()
                              << "'");
      CHECK(message.finished);
      CHECK(!message.translation.isEmpty());
      CHECK(placeholders(message.source) == placeholders(message.translation));
      CHECK(message.source.front().isSpace() == message.translation.front().isSpace());
      CHECK(message.source.back().isSpace() == message.translation.back().isSpace());
      // The window looks texts up without their class (release.cmake).
      const auto [first, is_new] = translated.emplace(message.source + QChar(4) + message.comment, message.translation);
      CHECK(first->second == message.translation);
    }
    CHECK(translated.size() > 1000);
  }
}

TEST_CASE("Every text of the sources is in each language's file") {
  const QString lupdate = QStringLiteral(RANKSCOPE_LUPDATE);
  if (lupdate.isEmpty()) return test::not_judged("texts without translation: Qt's linguist tools are not installed");
  for (const QString& name : ts_files()) {
    const QTemporaryDir folder;
    const QString copy = folder.filePath(name);
    REQUIRE(QFile::copy(translations.filePath(name), copy));
    QProcess process;
    process.setWorkingDirectory(QString::fromStdString(rankscope::test::source_folder()));
    process.start(lupdate, {QStringLiteral("app"), QStringLiteral("-I"), QStringLiteral("."),
                            QStringLiteral("-locations"), QStringLiteral("none"), QStringLiteral("-no-obsolete"),
                            QStringLiteral("-silent"), QStringLiteral("-tr-function-alias"),
                            QStringLiteral(RANKSCOPE_TR_ALIASES), QStringLiteral("-ts"), copy});
    REQUIRE(process.waitForFinished(300'000));
    REQUIRE(process.exitCode() == 0);
    for (const Translated& message : messages_of(copy)) {
      INFO(name.toStdString() << " lacks '" << message.source.toStdString()
                              << "': ninja update_translations, then translate what is unfinished");
      CHECK(message.finished);
    }
  }
}

TEST_CASE("The window's words, plurals and numbers are of the language that is installed") {
  QCoreApplication& here = rankscope::app::application();
  if (!window_languages().contains(QStringLiteral("de")))
    return test::not_judged("the installed language: the program was built without Qt's linguist tools");
  install_language(here, QStringLiteral("de"));
  CHECK(window_language() == "de");
  CHECK(lesson_language() == "de");
  // In any class.
  CHECK(QCoreApplication::translate("rankscope::app::MemoryView", "peak") == QStringLiteral("Spitze"));
  CHECK(QCoreApplication::translate("NoSuchClass", "peak") == QStringLiteral("Spitze"));
  CHECK(with_language("Offload", "") == QStringLiteral("Offload (englisch)"));
  CHECK(with_language("Ein Gerät", "de") == QStringLiteral("Ein Gerät"));
  CHECK(QLocale().decimalPoint() == QStringLiteral("."));
  install_language(here, QStringLiteral("en"));
  CHECK(window_language() == "en");
  CHECK(lesson_language().empty());
  CHECK(with_language("Offload", "") == QStringLiteral("Offload"));
}
