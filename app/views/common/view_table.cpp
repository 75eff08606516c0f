// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/view_table.hpp"

#include <QLocale>
#include <algorithm>
#include <cmath>

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

QString quoted(QString cell) {
  // Also the separators of cells in spreadsheets of other countries.
  constexpr QLatin1String separators(",;\t\"\n\r");
  if (std::none_of(cell.begin(), cell.end(), [&](QChar c) { return separators.contains(c); })) return cell;
  cell.replace(QLatin1Char('"'), QStringLiteral("\"\""));
  return QLatin1Char('"') + cell + QLatin1Char('"');
}

QString line_of(const QStringList& cells) {
  QStringList line;
  for (const QString& cell : cells) line << quoted(cell);
  return line.join(QLatin1Char(',')) + QStringLiteral("\r\n");
}

}  // namespace

QByteArray to_csv(const ViewTable& table) {
  QString text = line_of(table.titles);
  for (const QStringList& row : table.rows) text += line_of(row);
  return text.toUtf8();
}

QString to_tabs(const ViewTable& table) {
  if (table.rows.empty()) return {};
  QStringList lines{table.titles.join(QLatin1Char('\t'))};
  for (const QStringList& row : table.rows) lines << row.join(QLatin1Char('\t'));
  return lines.join(QLatin1Char('\n'));
}

QString to_tabs(const ViewTable& table, const QModelIndexList& rows) {
  ViewTable chosen{table.titles, {}};
  for (const QModelIndex& row : rows) chosen.rows.push_back(table.rows[static_cast<std::size_t>(row.row())]);
  return to_tabs(chosen);
}

ViewTable table_of(const QAbstractItemModel& model) {
  ViewTable table;
  const auto words = [](const QVariant& value) {
    QString text = value.toString();
    text.replace(QChar(0xA0), QLatin1Char(' '));
    return text == text::unknown() ? QString() : text;
  };
  for (int column = 0; column < model.columnCount(); ++column)
    table.titles << words(model.headerData(column, Qt::Horizontal));
  for (int row = 0; row < model.rowCount(); ++row) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) cells << words(model.index(row, column).data());
    table.rows.push_back(cells);
  }
  return table;
}

QString plain(double value) {
  return std::isfinite(value) ? QLocale::c().toString(value, 'g', QLocale::FloatingPointShortest) : QString();
}

}  // namespace rankscope::app
