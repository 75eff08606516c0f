// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/rows_table.hpp"

#include <QHeaderView>
#include <QScrollBar>
#include <algorithm>

namespace rankscope::app {

RowsTable::RowsTable(QStringList titles, int numbers_from, const QString& name, QWidget* parent)
    : QTableView(parent), model_(std::move(titles), numbers_from) {
  set_up_table(*this, name);
  setModel(&model_);
  setWordWrap(false);
  horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
}

int RowsTable::height_of(int rows) const {
  return horizontalHeader()->sizeHint().height() +
         std::min(rows, model_.rowCount()) * verticalHeader()->defaultSectionSize() + 4;
}

int RowsTable::height_within(int most) const {
  return height_of(std::max(1, (most - height_of(0)) / verticalHeader()->defaultSectionSize()));
}

int RowsTable::hide_until_fits(std::span<const int> spare, int room) {
  const auto width_of = [&](int column) {
    const QHeaderView& header = *horizontalHeader();
    return std::max({sizeHintForColumn(column), header.sectionSizeHint(column), header.minimumSectionSize()});
  };
  int together = 0;
  for (int column = 0; column < model_.columnCount(); ++column) {
    setColumnHidden(column, false);
    together += width_of(column);
  }
  for (const int column : spare) {
    if (together <= room) break;
    together -= width_of(column);
    setColumnHidden(column, true);
  }
  return together;
}

void fit_rows(QTableView& table) {
  const QHeaderView& header = *table.horizontalHeader();
  const int least = table.verticalHeader()->defaultSectionSize();
  const QFontMetrics metrics(table.font());
  const QAbstractItemModel& model = *table.model();
  // The scroll bar and the widths of columns are updated after new text or a new size only when the event loop is
  // idle; here the update is forced now.
  const auto settle = [&] {
    QMetaObject::invokeMethod(&table, "updateGeometries", Qt::DirectConnection);
    QMetaObject::invokeMethod(table.horizontalHeader(), "resizeSections", Qt::DirectConnection);
  };
  const auto fit = [&](bool grow_only) {
    for (int row = 0; row < model.rowCount(); ++row) {
      int height = grow_only ? std::max(least, table.rowHeight(row)) : least;
      for (int column = 0; column < model.columnCount(); ++column) {
        if (header.sectionResizeMode(column) != QHeaderView::Stretch) continue;  // as wide as its text
        const QString words = model.index(row, column).data().toString();
        const int room = header.sectionSize(column) - 2 * cell_padding - 4;
        if (metrics.horizontalAdvance(words) <= room) continue;
        const QRect wrapped = metrics.boundingRect(QRect(0, 0, std::max(room, 40), 10'000), Qt::TextWordWrap, words);
        height = std::max(height, wrapped.height() + 10);
      }
      table.setRowHeight(row, height);
    }
  };
  // Starts with rows of one line: a scroll bar for higher rows is removed before columns are measured.
  for (int row = 0; row < model.rowCount(); ++row) table.setRowHeight(row, least);
  settle();
  fit(false);
  settle();
  fit(true);
}

int height_of_whole_rows(const QTableView& table, int most) {
  int height = table.horizontalHeader()->sizeHint().height() + 2;
  if (table.horizontalHeader()->length() > table.width()) height += table.horizontalScrollBar()->sizeHint().height();
  const int rows = table.model() == nullptr ? 0 : table.model()->rowCount();
  for (int row = 0; row < rows && (row == 0 || height + table.rowHeight(row) <= most); ++row)
    height += table.rowHeight(row);
  return height;
}

}  // namespace rankscope::app
