// SPDX-License-Identifier: GPL-3.0-or-later
// How high a table is that shows whole rows: nothing of it is cut.
#pragma once
#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>

namespace rankscope::app {

/// Rows as high as their words need, once these are wrapped, and no lower than rows of one line.
inline void fit_rows(QTableView& table) {
  table.verticalHeader()->setMinimumSectionSize(table.verticalHeader()->defaultSectionSize());
  table.resizeRowsToContents();
}

/// Of its header and as many whole rows as fit into `most`, at least one; and of the bar beneath them where columns are
/// wider than the table.
inline int height_of_whole_rows(const QTableView& table, int most) {
  int height = table.horizontalHeader()->sizeHint().height() + 2;
  if (table.horizontalHeader()->length() > table.width()) height += table.horizontalScrollBar()->sizeHint().height();
  const int rows = table.model() == nullptr ? 0 : table.model()->rowCount();
  for (int row = 0; row < rows && (row == 0 || height + table.rowHeight(row) <= most); ++row)
    height += table.rowHeight(row);
  return height;
}

}  // namespace rankscope::app
