// SPDX-License-Identifier: GPL-3.0-or-later
// Items to put in order: dragged, moved with buttons, or with Alt and the arrow keys.
#pragma once
#include "app/lesson/answer_box.hpp"

class QListWidget;
class QToolButton;

namespace rankscope::app {

class OrderBox : public AnswerBox {
  Q_OBJECT
 public:
  explicit OrderBox(const Question& question, QWidget* parent);
  std::optional<Attempt> attempt() const override { return items_; }
  QWidget* input() override;
  /// Moves an item one place up or down.
  void move(std::size_t item, int by);
  /// The items as they are dragged.
  QListWidget& list() { return *list_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void show_items();
  void take_dragged();
  void take_row();
  void fit_height();

  std::vector<std::string> items_;
  QListWidget* list_;
  QToolButton *up_, *down_;
  bool filling_ = false;
};

}  // namespace rankscope::app
