// SPDX-License-Identifier: GPL-3.0-or-later
// The content of a view as a table of plain text: saved as CSV, and read by tests.
#pragma once
#include <QAbstractItemModel>
#include <QString>
#include <QStringList>
#include <vector>

namespace rankscope::app {

/// Numbers have no groups or units; a column's unit is in its title ("peak, bytes"). An unknown value is an
/// empty cell. A view with nothing to show has titles and no rows.
struct ViewTable {
  QStringList titles;
  std::vector<QStringList> rows;
};

/// An object whose content can be read as a table.
class TableSource {
 public:
  virtual ~TableSource() = default;
  virtual ViewTable table() const = 0;
};

/// RFC 4180: a header line, commas, quotes if needed, CRLF.
QByteArray to_csv(const ViewTable& table);

/// One line per row, tabs between cells, titles first: as spreadsheets read it from the clipboard. Empty for no rows.
QString to_tabs(const ViewTable& table);
/// The same of these rows only.
QString to_tabs(const ViewTable& table, const QModelIndexList& rows);

/// A model's texts as on the screen; an en dash (unknown) becomes empty.
ViewTable table_of(const QAbstractItemModel& model);

/// A number with all its digits; empty when it is not finite.
QString plain(double value);
inline QString plain(std::int64_t value) { return QString::number(value); }

}  // namespace rankscope::app
