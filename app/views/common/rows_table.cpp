// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/rows_table.hpp"

#include <QHeaderView>

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

}  // namespace rankscope::app
