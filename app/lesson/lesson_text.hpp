// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson's Markdown, as high as its text is: the panel scrolls, not a box within it.
#pragma once
#include <QTextBrowser>

namespace rankscope::app {

class LessonText : public QTextBrowser {
  Q_OBJECT
 public:
  explicit LessonText(QWidget* parent);
  void set_lesson(const QString& markdown);
  /// Pixels of the longest word: in less width it would be broken.
  int longest_word() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();
};

}  // namespace rankscope::app
