// SPDX-License-Identifier: GPL-3.0-or-later
// A table model of texts that are made elsewhere. For tables that are replaced completely.
#pragma once
#include <QAbstractTableModel>
#include <QStringList>
#include <QTableView>
#include <vector>

#include "app/models/palette.hpp"

namespace rankscope::app {

/// The distance from a table's edge to its text; a table at `cell_inset` has its text 12 px from the view's edge.
inline constexpr int cell_padding = 11, cell_inset = 12 - cell_padding;

enum class Tone : std::uint8_t { text, dim, bad, good };
struct Cell {
  QString words{};
  Tone tone = Tone::text;
  QString help{};  ///< tool tip; empty: none
  bool operator==(const Cell&) const = default;
};

class RowsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Columns from `numbers_from` on are aligned right.
  RowsModel(QStringList titles, int numbers_from, QObject* parent = nullptr);
  void set_theme(Theme theme);
  void set_titles(QStringList titles);
  /// Tool tips of the titles.
  void set_title_help(QStringList help) { title_help_ = std::move(help); }
  /// A column of words after `numbers_from`: it is aligned left.
  void set_words_column(int column) { words_column_ = column; }
  /// Keeps selection and scroll position if the number of rows does not change, and a cell that is being edited if its
  /// column does not change.
  void set_rows(std::vector<std::vector<Cell>> rows);
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  QString words(int row, int column) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  const Palette& colours() const { return *colours_; }

 private:
  Qt::Alignment alignment_of(int column) const;

  QStringList titles_, title_help_;
  int numbers_from_, words_column_ = -1;
  std::vector<std::vector<Cell>> rows_;
  const Palette* colours_;
};

/// The style of all tables of the window: complete rows are selected, nothing is edited, no grid.
void set_up_table(QTableView& table, const QString& name);

}  // namespace rankscope::app
