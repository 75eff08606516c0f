// SPDX-License-Identifier: GPL-3.0-or-later
// A label that can shrink: without enough space its text ends in an ellipsis, and the full text is its tool tip.
#pragma once
#include <QLabel>

namespace rankscope::app {

/// `text` in this width, its end replaced by …, after a complete word if words are short enough:
/// "Pipeline, 1F1B: the same …". The beginning of a title is its subject.
QString elided_at_word(const QFontMetrics& metrics, const QString& text, int width);

class ElidedLabel : public QLabel {
  Q_OBJECT
 public:
  /// `role`: of the style sheet.
  explicit ElidedLabel(QWidget* parent, const char* role = "dim");
  void set_text(const QString& text);
  const QString& whole_text() const { return text_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void fit();
  int frame_width() const;  ///< what the style adds to the left and right of the text

  QString text_;
};

}  // namespace rankscope::app
