// SPDX-License-Identifier: GPL-3.0-or-later
// A panel at the side of the window: a heading with a button that folds it, its content, and an edge to resize it.
// When folded it is a strip with its title, which opens it again.
#pragma once
#include <QAbstractButton>
#include <QWidget>

class QLabel;
class QToolButton;

namespace rankscope::app {

class SidePanel : public QWidget {
  Q_OBJECT
 public:
  enum class Side { left, right };
  /// `key`: of the action that folds and unfolds it, as displayed.
  SidePanel(const QString& title, const QString& key, Side side, QWidget* content, QWidget* parent);

  QWidget* content() const { return content_; }
  const QString& title() const { return title_; }
  void set_folded(bool folded);
  bool folded() const { return folded_; }
  /// The width of the frame.
  static int frame_width();
  /// Gives the content to another widget temporarily, and puts it back.
  void lend();
  void take_back();

 signals:
  void fold_wanted(bool folded);
  void width_wanted(int width);  ///< the edge is being dragged
  void width_chosen();           ///< and was released
  void needs_changed();          ///< the content's minimum width may have changed

 protected:
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();

  QString title_;
  Side side_;
  QWidget* content_;
  QLabel* heading_;
  QToolButton* fold_;
  QAbstractButton* strip_;
  QWidget* edge_;
  bool folded_ = false, lent_ = false;
  int grabbed_at_ = 0;
};

}  // namespace rankscope::app
