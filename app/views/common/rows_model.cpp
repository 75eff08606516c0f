// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/rows_model.hpp"

#include <QHeaderView>
#include <QStyledItemDelegate>
#include <algorithm>
#include <utility>

#include "app/views/common/style.hpp"

namespace rankscope::app {

RowsModel::RowsModel(QStringList titles, int numbers_from, QObject* parent)
    : QAbstractTableModel(parent),
      titles_(std::move(titles)),
      numbers_from_(numbers_from),
      colours_(&palette_of(Theme::dark)) {}

void RowsModel::set_theme(Theme theme) {
  colours_ = &palette_of(theme);
  if (!rows_.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void RowsModel::set_titles(QStringList titles) {
  if (titles == titles_) return;
  beginResetModel();
  titles_ = std::move(titles);
  endResetModel();
}

void RowsModel::set_rows(std::vector<std::vector<Cell>> rows) {
  if (rows == rows_) return;
  if (rows.size() != rows_.size()) {
    beginResetModel();
    rows_ = std::move(rows);
    endResetModel();
    return;
  }
  const auto same = [&](int column) {
    const auto at = static_cast<std::size_t>(column);
    return std::equal(rows.begin(), rows.end(), rows_.begin(), [at](const auto& a, const auto& b) {
      return a.size() == b.size() && (at >= a.size() || a[at] == b[at]);
    });
  };
  int first = 0, last = columnCount() - 1;
  while (first < last && same(first)) ++first;
  while (first < last && same(last)) --last;
  rows_ = std::move(rows);
  emit dataChanged(index(0, first), index(rowCount() - 1, last));
}

QString RowsModel::words(int row, int column) const { return data(index(row, column), Qt::DisplayRole).toString(); }

int RowsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RowsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(titles_.size());
}

Qt::Alignment RowsModel::alignment_of(int column) const {
  return Qt::AlignVCenter | (column < numbers_from_ || column == words_column_ ? Qt::AlignLeft : Qt::AlignRight);
}

QVariant RowsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const auto& row = rows_[static_cast<std::size_t>(index.row())];
  if (index.column() >= static_cast<int>(row.size())) return {};
  const Cell& cell = row[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole: return cell.words;
    case Qt::ToolTipRole: return cell.help.isEmpty() ? QVariant() : QVariant(cell.help);
    case Qt::TextAlignmentRole: return QVariant::fromValue(alignment_of(index.column()));
    case Qt::ForegroundRole:
      switch (cell.tone) {
        case Tone::text: return color(colours_->text);
        case Tone::dim: return color(colours_->dim);
        case Tone::bad: return color(colours_->bad);
        case Tone::good: return color(colours_->good);
      }
      return {};
    default: return {};
  }
}

QVariant RowsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::DisplayRole) return titles_[section];
  if (role == Qt::ToolTipRole) return title_help_.value(section);
  if (role == Qt::TextAlignmentRole) return QVariant::fromValue(alignment_of(section));
  return {};
}

namespace {

/// A selected row keeps its colours, which have a meaning.
class TonedRows : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const QVariant tone = index.data(Qt::ForegroundRole);
    if (tone.isValid()) option->palette.setColor(QPalette::HighlightedText, tone.value<QColor>());
  }
};

}  // namespace

void set_up_table(QTableView& table, const QString& name) {
  table.setItemDelegate(new TonedRows(&table));
  table.setShowGrid(false);
  table.setFont(number_font());
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setSelectionMode(QAbstractItemView::SingleSelection);
  table.setEditTriggers(QAbstractItemView::NoEditTriggers);
  table.setTabKeyNavigation(false);
  table.verticalHeader()->hide();
  table.verticalHeader()->setDefaultSectionSize(26);
  table.horizontalHeader()->setHighlightSections(false);
  table.setFrameShape(QFrame::NoFrame);
  table.setAccessibleName(name);
}

}  // namespace rankscope::app
