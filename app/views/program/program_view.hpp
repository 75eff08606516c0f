// SPDX-License-Identifier: GPL-3.0-or-later
// The program as text. The order of every stage's ops can be edited by hand: it is checked while typing, errors are
// marked and explained, and a valid order immediately becomes the plan, predicted and ready to run. The complete
// program of any rank can be read.
#pragma once
#include <QComboBox>
#include <QPlainTextEdit>

#include "app/session/hand_order.hpp"
#include "app/session/session.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/elided_label.hpp"
#include "app/views/program/order_picture.hpp"

class QSyntaxHighlighter;

namespace rankscope::app {

class ProgramView : public DataView {
  Q_OBJECT
 public:
  ProgramView(SharedState& state, Session& session, QWidget* parent = nullptr);
  ~ProgramView() override;

  bool settled() const override { return !delay_.isActive() && checker_.settled(); }
  QPlainTextEdit& editor() { return *text_; }
  const OrderCheck& check() const { return check_; }
  OrderPicture& picture() { return *picture_; }
  QString words() const { return words_->whole_text(); }
  /// The order (-1), or a rank's program.
  void show_program(int rank);
  /// A rank's program, at that op.
  void show_op(int rank, OpId op);

 protected:
  void take_colours() override;
  void arrange() override;
  void on_veil() override { request_check(); }
  bool veils_all() const override { return false; }
  void paint(QPainter& painter) override;
  void on_show() override { take_programs(); }

 private:
  void take_scenario();
  void take_programs();
  void take_text();
  void request_check();
  void take_check(const OrderCheck& check);
  void mark();
  void find_in_text(OpId op);
  void fill(const QString& text);
  bool editable() const;

  Session& session_;
  QComboBox* which_;
  ElidedLabel* words_;
  QPlainTextEdit* text_;
  OrderPicture* picture_;
  QSyntaxHighlighter* colours_of_ops_;
  QString last_;  ///< the text that was checked last
  QTimer delay_;
  OrderCheck check_;
  Latest<OrderCheck> checker_;
  int shown_ = -1;  ///< rank whose program is shown; -1: the order
  bool filling_ = false, dirty_ = false;
  PlanSpec plan_;  ///< the plan of the text
};

}  // namespace rankscope::app
