// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/elided_label.hpp"

#include <QEvent>
#include <QFontMetricsF>
#include <cmath>

namespace rankscope::app {
namespace {

constexpr int pill_padding = 24;

}  // namespace

QString elided_at_word(const QFontMetrics& metrics, const QString& text, int width) {
  const QString cut = metrics.elidedText(text, Qt::ElideRight, width);
  if (cut == text || !cut.endsWith(QChar(0x2026))) return cut;
  const QString head = cut.chopped(1);
  // Half a word is useless, except half of a long word.
  const qsizetype end = text.at(head.size()).isSpace() ? head.size() : head.lastIndexOf(QLatin1Char(' '));
  if (end < head.size() / 2) return cut;
  const QString whole = head.left(end).trimmed() + QStringLiteral(" \u2026");
  return metrics.horizontalAdvance(whole) <= width ? whole : cut;
}

ElidedLabel::ElidedLabel(QWidget* parent, const char* role) : QLabel(parent) {
  setProperty("role", QLatin1String(role));
  setTextFormat(Qt::PlainText);
  setIndent(0);  // a label with a border would reserve half a letter of its own
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
}

int ElidedLabel::frame_width() const { return property("role").toString() == QLatin1String("pill") ? pill_padding : 2; }

void ElidedLabel::set_text(const QString& text) {
  if (text == text_) return;
  text_ = text;
  updateGeometry();
  fit();
}

QSize ElidedLabel::sizeHint() const {
  // Integer pixels, rounded up: a fraction too few would cost three letters.
  const int words = static_cast<int>(std::ceil(QFontMetricsF(font()).horizontalAdvance(text_))) + 1;
  return {words + frame_width(), QLabel::sizeHint().height()};
}

QSize ElidedLabel::minimumSizeHint() const {
  return {std::min(sizeHint().width(), 48 + frame_width()), QLabel::minimumSizeHint().height()};
}

void ElidedLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  fit();
}

// The style sheet's font is set after the first text.
void ElidedLabel::changeEvent(QEvent* event) {
  QLabel::changeEvent(event);
  if (event->type() != QEvent::FontChange && event->type() != QEvent::StyleChange) return;
  updateGeometry();
  fit();
}

void ElidedLabel::fit() {
  const QString shown = fontMetrics().elidedText(text_, Qt::ElideRight, std::max(0, width() - frame_width()));
  QLabel::setText(shown);
  setToolTip(shown == text_ ? QString() : text_);
  setAccessibleName(text_);
}

}  // namespace rankscope::app
