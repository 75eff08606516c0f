// SPDX-License-Identifier: GPL-3.0-or-later
// The compare view: a second run's time line, aligned by step with the session's and zoomed with it, and a table of the
// differences. If there is space, the session's own time line is above it; else it is the window's.
#pragma once
#include <QComboBox>
#include <QMenu>

#include "app/models/navigator.hpp"
#include "app/session/session.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/elided_label.hpp"
#include "app/views/common/rows_table.hpp"

class QPushButton;

namespace rankscope::app {

class TimelineView;

class CompareView : public DataView {
  Q_OBJECT
 public:
  CompareView(SharedState& state, Session& session, Navigator& navigator, QWidget* parent = nullptr);
  ~CompareView() override;

  bool settled() const override;
  OtherRun& other() { return other_; }
  /// The second run's own state: coupled with the window's.
  SharedState& other_state() { return other_state_; }
  const RowsModel& rows() const { return table_->rows(); }
  QString words() const { return words_->whole_text(); }
  /// Reads a recording to compare with.
  void open(const QString& trace);
  /// Compares the session's content with a kept one.
  void compare_with(const KeptRun& kept);

 protected:
  void arrange() override;
  ViewTable rows_shown() const override { return table_of(rows()); }
  void paint(QPainter& painter) override;
  void on_show() override { align(); }

 private:
  void make_controls();
  void fit_columns();
  void fill_menu();
  void choose_recording();
  void take_previous();
  void take_other();
  void take_figures();
  void align();  ///< the other run's step and range to the window's
  void follow_other();
  void couple_selection(const SharedState& from, SharedState& to, const StoreView& run, Obtained obtained,
                        std::optional<std::uint32_t> step);
  std::optional<TimeRange> step_of_a() const;
  std::optional<TimeRange> step_of_b() const;

  Session& session_;
  OtherRun other_;
  SharedState other_state_;
  Navigator& navigator_;
  Navigator other_navigator_;
  bool chosen_ = false;  ///< the user chose the other run: the previous run does not replace it
  bool coupling_ = false;
  QPushButton* choice_;
  QMenu* menu_;
  QComboBox* by_;
  ElidedLabel *name_a_, *name_b_, *words_;
  RowsTable* table_;
  TimelineView *time_a_ = nullptr, *time_b_ = nullptr;
};

}  // namespace rankscope::app
