// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/lesson_text.hpp"

#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextList>
#include <cmath>
#include <memory>

namespace rankscope::app {

LessonText::LessonText(QWidget* parent) : QTextBrowser(parent) {
  setFrameShape(QFrame::NoFrame);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setStyleSheet(QStringLiteral("QTextBrowser { background: transparent; border: none; padding: 0; }"));
  document()->setDocumentMargin(0);
  setOpenExternalLinks(true);
}

void LessonText::set_lesson(const QString& markdown) {
  setMarkdown(markdown);
  // Headings of a page would be larger than the panel's own title; paragraphs stand apart.
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
    QTextCursor cursor(block);
    QTextBlockFormat form = block.blockFormat();
    const bool heading = form.headingLevel() > 0;
    form.setTopMargin(heading && block != document()->begin() ? 10 : 0);
    form.setBottomMargin(block.textList() != nullptr ? 3 : heading ? 4 : 8);
    form.setLineHeight(125, QTextBlockFormat::ProportionalHeight);
    cursor.setBlockFormat(form);
    if (!heading) continue;
    cursor.select(QTextCursor::BlockUnderCursor);
    QTextCharFormat letters;
    letters.setProperty(QTextFormat::FontSizeAdjustment, 0);
    letters.setFontWeight(QFont::DemiBold);
    cursor.mergeCharFormat(letters);
  }
  document()->setIndentWidth(18);
  fit();
}

int LessonText::longest_word() const {
  const std::unique_ptr<QTextDocument> narrow(document()->clone());
  QTextOption option = narrow->defaultTextOption();
  option.setWrapMode(QTextOption::WordWrap);
  narrow->setDefaultTextOption(option);
  narrow->setTextWidth(1);
  return static_cast<int>(std::ceil(narrow->idealWidth()));
}

void LessonText::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  fit();
}

void LessonText::fit() {
  document()->setTextWidth(viewport()->width());
  setFixedHeight(static_cast<int>(document()->size().height()) + 4);
}

}  // namespace rankscope::app
