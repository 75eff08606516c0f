// SPDX-License-Identifier: GPL-3.0-or-later
// The hang view: for every rank and lane the last finished op and the current one, and the ranks missing in
// communications that others wait in. A hang is shown while it lasts.
#pragma once
#include <QElapsedTimer>
#include <QLabel>
#include <QTimer>

#include "app/session/figures.hpp"
#include "app/session/latest.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/hang/hang_rows.hpp"

namespace rankscope::app {

class HangView : public DataView {
  Q_OBJECT
 public:
  HangView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);
  /// Of a live run, false until it is known whether it progresses.
  bool settled() const override;
  /// A live run: silence has a meaning.
  void set_live(bool live);

  const HangPicture& picture() const { return picture_; }
  QString title() const { return title_->text(); }
  QString words() const { return words_->text(); }
  const RowsModel& pending() const { return pending_->rows(); }
  const RowsModel& lanes() const { return lanes_->rows(); }
  RowsTable* lane_table() { return lanes_; }

 signals:
  /// A live run hangs, or progresses again.
  void hang_changed(bool hangs);

 protected:
  /// The current op of every lane.
  ViewTable rows_shown() const override { return table_of(lanes_->rows()); }
  void arrange() override;
  void paint(QPainter& painter) override;
  void on_show() override { refresh(); }

 private:
  void refresh();
  void deliver(HangPicture picture);
  void take_headline();
  void tick();
  void select_lane(int row);

  FiguresModel& figures_;
  HangPicture picture_;
  bool live_ = false, hangs_ = false, moves_ = false;
  QLabel *title_, *words_, *waits_, *where_;
  RowsTable *pending_, *lanes_;
  QTimer soon_, clock_;
  QElapsedTimer quiet_, live_since_;          ///< since the newest event arrived
  std::int64_t events_ = 0, looked_at_ = -1;  ///< how many there were
  Latest<HangPicture> latest_;
};

}  // namespace rankscope::app
