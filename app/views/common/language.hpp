// SPDX-License-Identifier: GPL-3.0-or-later
// The language of the window: English, or one of resources/translations. Numbers are the same in every language, with a
// decimal point, as in scenario files, commands and lessons.
#pragma once
#include <QString>
#include <QStringList>
#include <string>

class QCoreApplication;

namespace rankscope::app {

/// Codes of the languages that this program was built with: "en" first, then "de".
QStringList window_languages();
/// The language's own name: "Deutsch".
QString language_name(const QString& code);
/// The system's language if there is a translation, else "en".
QString system_language();
/// The user's choice in the menu; empty: none.
QString chosen_language();
void choose_language(const QString& code);

/// Call it before a window is made: widgets read their texts when they are made. Replaces an earlier language.
void install_language(QCoreApplication& application, const QString& code);
/// The installed language: "de"; "en" if none was.
QString window_language();
/// The same as lessons use it: empty for English.
std::string lesson_language();
/// A title, with a note if it is English in a window of another language.
QString with_language(const std::string& title, const std::string& language_of_text);

}  // namespace rankscope::app
