// SPDX-License-Identifier: GPL-3.0-or-later
// The experiments view: a row for every plan tried with the open scenario, and the output of other commands of its
// lesson. A row can be shown again, and two can be compared.
#pragma once
#include "app/session/experiment_log.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/rows_table.hpp"

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace rankscope::app {

class ExperimentsView : public DataView {
  Q_OBJECT
 public:
  ExperimentsView(SharedState& state, Session& session, QWidget* parent = nullptr);
  bool settled() const override { return !log_.busy(); }
  ExperimentLog& log() { return log_; }
  const RowsModel& rows() const { return table_->rows(); }
  /// Chooses these rows, as clicks do.
  void choose(const std::vector<int>& rows);
  QPushButton& compare_button() { return *compare_; }

 signals:
  /// The session has the first of the two; the second is to be compared with it.
  void comparison_wanted(const KeptRun& with);

 protected:
  void arrange() override;
  ViewTable rows_shown() const override { return table_of(table_->rows()); }
  void paint(QPainter& painter) override;

 private:
  void refresh();
  void take_choice();
  void show_again();
  void compare();
  std::vector<std::size_t> chosen() const;

  Session& session_;
  ExperimentLog log_;
  RowsTable* table_;
  QLabel* words_;
  QPlainTextEdit* output_;
  QPushButton *again_, *compare_, *stop_;
};

}  // namespace rankscope::app
