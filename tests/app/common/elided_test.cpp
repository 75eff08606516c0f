// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFontMetrics>

#include "app/views/common/elided_label.hpp"
#include "app/views/common/style.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

TEST_CASE("A title is shortened at its end to whole words, and fits in any width") {
  application();
  const QFontMetrics metrics(interface_font());
  const QString title = QStringLiteral("Pipeline, 1F1B: the same bubble in less memory");
  const QStringList words = title.split(QLatin1Char(' '));
  const int whole = metrics.horizontalAdvance(title);
  CHECK(elided_at_word(metrics, title, whole + 1) == title);
  for (int width = whole - 1; width > whole / 2; --width) {
    const QString shown = elided_at_word(metrics, title, width);
    INFO(width << ": " << shown.toStdString());
    CHECK(metrics.horizontalAdvance(shown) <= width);
    CHECK(shown.startsWith("Pipeline, 1F1B:"));
    CHECK(shown.endsWith(QChar(0x2026)));
    if (!shown.endsWith(QStringLiteral(" \u2026"))) continue;  // no space for the blank before it
    for (const QString& word : shown.split(QLatin1Char(' ')))
      CHECK((word == QStringLiteral("\u2026") || words.contains(word)));
  }
  // A word without blanks is cut inside.
  const QString token = QStringLiteral("ALLREDUCE.data_gradient:c0:i0:of-a-very-long-name");
  const QString cut = elided_at_word(metrics, token, metrics.horizontalAdvance(token) / 2);
  CHECK(cut.contains(QChar(0x2026)));
  CHECK(cut.startsWith("ALL"));
}
