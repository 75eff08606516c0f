// SPDX-License-Identifier: GPL-3.0-or-later
// Words in the window's language, for code that has no QObject and uses std::string.
#pragma once
#include <QCoreApplication>
#include <QString>
#include <string>
#include <string_view>

namespace rankscope {

namespace translated_detail {
inline QString text_of(int number) { return QString::number(number); }
inline QString text_of(const std::string& text) { return QString::fromStdString(text); }
}  // namespace translated_detail

/// The translation of English text; %1, %2, … are replaced by the further arguments.
template <class... Of>
std::string translated(const char* english, const Of&... of) {
  QString text = QCoreApplication::translate("Models", english);
  (..., (text = text.arg(translated_detail::text_of(of))));
  return text.toStdString();
}

/// The engine's name of a kind of op, a purpose, a class of memory or of time, …: with blanks for underscores
/// ("zero gather"), in the window's language. Names that are keys of files are not translated.
std::string named(std::string_view name);

}  // namespace rankscope
