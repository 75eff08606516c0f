// SPDX-License-Identifier: GPL-3.0-or-later
// The puzzle of pipeline schedules: its rules, its board, the state of the board and its comparison, and a
// button that trains with the order on the board.
#pragma once
#include <QCheckBox>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QToolButton>

#include "app/session/session.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/puzzle/puzzle_board.hpp"

namespace rankscope::app {

class PuzzleView : public DataView {
  Q_OBJECT
 public:
  PuzzleView(SharedState& state, Session& session, QWidget* parent = nullptr);

  QString own_source() const override;
  /// Rules, and then an empty board.
  void show_inputs(const std::map<std::string, std::string>& inputs) override;

  PuzzleBoard& board() { return *board_; }
  QSpinBox* stages_box() { return stages_; }
  QSpinBox* micro_batches_box() { return micro_batches_; }
  QSpinBox* kept_box() { return kept_; }
  QCheckBox* halves_box() { return halves_; }
  QPushButton* undo_button() { return undo_; }
  QPushButton* run_button() { return run_; }
  /// The known schedules that the rules allow, one entry each.
  QMenu* known_menu() { return known_->menu(); }
  /// The two lines over the board.
  QString state_words() const;
  QString second_words() const;

 signals:
  /// Train with these settings, in the form of --set; and the name of the order.
  void run_wanted(const std::vector<std::string>& settings, const QString& name);

 protected:
  void arrange() override;
  void paint(QPainter& painter) override;
  QString tip_at(QPoint at) const override;
  ViewTable rows_shown() const override;

 private:
  void make_controls();
  void take_rules();
  void take_plan();  ///< the rules from the open plan, while the board is empty
  void refresh();
  void fill_known();
  QRect words_area(int line) const;

  Session& session_;
  QSpinBox *stages_, *micro_batches_, *kept_;
  QCheckBox* halves_;
  QPushButton *undo_, *run_;
  QToolButton* known_;
  PuzzleBoard* board_;
  QScrollArea* scroll_;
  bool asked_early_ = false;  ///< a run, before all boxes were placed
  int controls_bottom_ = 0;
};

}  // namespace rankscope::app
