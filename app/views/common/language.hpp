// SPDX-License-Identifier: GPL-3.0-or-later
// The language of the window: English, or one of resources/translations. Numbers are the same in every language, with a
// decimal point, as scenario files, commands and lessons have them.
#pragma once
#include <QString>
#include <QStringList>
#include <string>

class QCoreApplication;

namespace rankscope::app {

/// Codes of those that this program was built with: "en" first, then "de".
QStringList window_languages();
/// In its own words: "Deutsch".
QString language_name(const QString& code);
/// The system's where there is a translation, else "en".
QString system_language();
/// What was chosen in the menu; empty: nothing.
QString chosen_language();
void choose_language(const QString& code);

/// Before a window is made: its words are read as widgets are made. Replaces what was installed before.
void install_language(QCoreApplication& application, const QString& code);
/// What was installed: "de"; "en" where nothing was.
QString window_language();
/// The same as lessons have it: empty for English.
std::string lesson_language();
/// A title, with the note that it is English where the window is not and the text is.
QString with_language(const std::string& title, const std::string& language_of_text);

}  // namespace rankscope::app
