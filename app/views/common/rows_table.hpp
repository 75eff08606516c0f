// SPDX-License-Identifier: GPL-3.0-or-later
// A table widget with its model of texts: used by views with rows and columns.
#pragma once
#include <QTableView>
#include <span>

#include "app/views/common/rows_model.hpp"
#include "app/views/common/view_table.hpp"

namespace rankscope::app {

class RowsTable : public QTableView {
  Q_OBJECT
 public:
  /// Columns are as wide as their text; those from `numbers_from` on are aligned right. `name` is for screen
  /// readers.
  RowsTable(QStringList titles, int numbers_from, const QString& name, QWidget* parent);

  void set_theme(Theme theme) { model_.set_theme(theme); }
  void set_titles(QStringList titles) { model_.set_titles(std::move(titles)); }
  void set_rows(std::vector<std::vector<Cell>> rows) { model_.set_rows(std::move(rows)); }
  const RowsModel& rows() const { return model_; }
  /// Of its header and this number of its rows, at most the existing ones.
  int height_of(int rows) const;
  /// The height of the header and of as many complete rows as fit into `most`: at least one.
  int height_within(int most) const;
  /// Hides these columns, in their order, until the others fit into `room`; all others are shown. Returns their width.
  int hide_until_fits(std::span<const int> spare, int room);
  /// The same with the table's width: for a presentation, where sideways scrolling is not possible.
  void hide_until_fits(std::span<const int> spare) { hide_until_fits(spare, viewport()->width()); }

 private:
  RowsModel model_;
};

/// Makes rows as high as their text needs when it is wrapped in columns of the current width; rows of one line keep
/// their height. If a scroll bar appears, the heights fit the remaining width.
void fit_rows(QTableView& table);
/// The height of the header and as many complete rows as fit into `most`, at least one; and of the scroll bar below if
/// columns are wider than the table.
int height_of_whole_rows(const QTableView& table, int most);

}  // namespace rankscope::app
