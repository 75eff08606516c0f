// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/language.hpp"

#include <QCoreApplication>
#include <QDir>
#include <QLibraryInfo>
#include <QLocale>
#include <QSettings>
#include <QTranslator>

#include "app/views/common/translations.hpp"

// Outside of the namespace, as Qt requires.
static void load_translations() {
#if RANKSCOPE_HAS_TRANSLATIONS
  Q_INIT_RESOURCE(translations);
#endif
}

namespace rankscope::app {
namespace {

const QString chosen_key = QStringLiteral("language");
const QString folder = QStringLiteral(":/translations/");

/// One translation for each English text, in whatever class it is used: the built-in file has no contexts, since
/// functions outside of classes have none.
class Words : public QTranslator {
 public:
  using QTranslator::QTranslator;
  QString translate(const char*, const char* source, const char* disambiguation, int n) const override {
    return QTranslator::translate("", source, disambiguation, n);
  }
};

}  // namespace

QStringList window_languages() {
  load_translations();
  QStringList codes{QStringLiteral("en")};
  for (const QString& file : QDir(folder).entryList({QStringLiteral("rankscope_*.qm")}, QDir::Files, QDir::Name))
    codes << file.section(QLatin1Char('_'), 1).section(QLatin1Char('.'), 0, 0);
  return codes;
}

QString language_name(const QString& code) {
  return code == QLatin1String("en") ? QStringLiteral("English") : QLocale(code).nativeLanguageName();
}

QString system_language() {
  const QStringList known = window_languages();
  for (const QString& requested : QLocale::system().uiLanguages())
    if (const QString code = requested.section(QLatin1Char('-'), 0, 0); known.contains(code)) return code;
  return QStringLiteral("en");
}

QString chosen_language() {
  const QString code = QSettings().value(chosen_key).toString();
  return window_languages().contains(code) ? code : QString();
}

void choose_language(const QString& code) { QSettings().setValue(chosen_key, code); }

void install_language(QCoreApplication& application, const QString& code) {
  // Spin boxes read and write numbers like the rest of the program.
  QLocale::setDefault(QLocale::c());
  qDeleteAll(application.findChildren<QTranslator*>(Qt::FindDirectChildrenOnly));  // each removes itself
  if (code == QLatin1String("en") || !window_languages().contains(code)) return;
  auto* of_qt = new QTranslator(&application);  // "Cancel" in Qt's own dialogs, if the system has its translations
  if (of_qt->load(QStringLiteral("qtbase_") + code, QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
    QCoreApplication::installTranslator(of_qt);
  auto* words = new Words(&application);
  if (words->load(folder + QStringLiteral("rankscope_%1.qm").arg(code))) QCoreApplication::installTranslator(words);
}

QString window_language() {
  //: The code of the language of this translation, such as de
  return QCoreApplication::translate("Language", "en");
}

std::string lesson_language() {
  const QString code = window_language();
  return code == QLatin1String("en") ? std::string() : code.toStdString();
}

QString with_language(const std::string& title, const std::string& language_of_text) {
  const QString words = QString::fromStdString(title);
  return lesson_language().empty() || !language_of_text.empty()
             ? words
             //: Behind the title of a lesson that is not translated
             : QCoreApplication::translate("Language", "%1 (English)").arg(words);
}

}  // namespace rankscope::app
