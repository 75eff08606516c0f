// SPDX-License-Identifier: GPL-3.0-or-later
// The validation view: every published row beside its prediction, with the error, the origin of the constants, and
// the rows to which they were fitted. It needs no run and no plan.
#pragma once
#include <QLabel>

#include "app/session/latest.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/plot/plot_chart.hpp"
#include "engine/explain/validate/validate.hpp"

namespace rankscope::app {

class ValidationView : public DataView {
  Q_OBJECT
 public:
  ValidationView(SharedState& state, SnapshotSource& source, QWidget* parent = nullptr);

  /// The table that is chosen.
  void show_inputs(const std::map<std::string, std::string>& inputs) override;
  bool settled() const override { return asked_ ? latest_.settled() : !isVisible(); }
  QString own_source() const override { return tr("SIMULATED, with published figures"); }
  const RowsModel& tables() const { return table_list_->rows(); }
  const RowsModel& rows() const { return row_list_->rows(); }
  QString words() const { return source_->text(); }
  QRectF plot_area() const;

 protected:
  void take_colours() override { show_plot(); }
  void arrange() override;
  ViewTable rows_shown() const override { return table_of(rows()); }
  void paint(QPainter& painter) override;
  void on_stay() override { ask(); }

 private:
  struct Answer {
    std::vector<ValidatedTable> tables;
    QString failure;
  };
  void ask();  ///< once, when it is first visible
  void take(Answer answer);
  void choose(int table);
  void choose_wanted();
  void show_plot();
  bool is_wide() const { return width() >= 900; }  ///< the list and the chosen table are side by side
  const ValidatedTable* chosen() const;

  Answer answer_;
  int chosen_ = 0;
  std::string wanted_;  ///< the table to choose, by its file's name, as soon as the tables are known
  bool asked_ = false;
  RowsTable *table_list_, *row_list_;
  QLabel *source_, *constants_;
  PlotChart* chart_;
  Latest<Answer> latest_;
};

}  // namespace rankscope::app
