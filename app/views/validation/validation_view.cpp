// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/validation/validation_view.hpp"

#include <QHeaderView>
#include <QItemSelectionModel>
#include <QPainter>
#include <algorithm>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/validation/validation_rows.hpp"

namespace rankscope::app {
namespace {

constexpr int most_list_width = 760, least_for_words = 320;
constexpr int least_plot = 140, plot_room = 230;  ///< below the list, which scrolls if there is space for a picture
constexpr int name_column = 0;

}  // namespace

ValidationView::ValidationView(SharedState& state, SnapshotSource& source, QWidget* parent)
    : DataView(state, source, parent),
      table_list_(new RowsTable(table_titles(), 1, tr("Published tables"), this)),
      row_list_(new RowsTable({}, 1, tr("Rows of the published table"), this)),
      source_(make_label({}, "dim", this)),
      constants_(make_label({}, "dim", this)),
      chart_(new PlotChart(this)),
      latest_([this](Answer answer) { take(std::move(answer)); }) {
  setMouseTracking(true);
  for (RowsTable* list : {table_list_, row_list_}) list->setWordWrap(true);
  table_list_->horizontalHeader()->setSectionResizeMode(name_column, QHeaderView::Stretch);
  for (QLabel* label : {source_, constants_}) label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  connect(table_list_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& index) { choose(index.row()); });
  arrange();
}

void ValidationView::show_plot() {
  if (const ValidatedTable* now = chosen()) chart_->show_plot(plot_of(*now, colours()));
}

void ValidationView::ask() {
  if (asked_ || !isVisible()) return;
  asked_ = true;
  latest_.request([] {
    Answer answer;
    try {
      for (const PublishedTable& table : read_all_published()) answer.tables.push_back(validate(table));
    } catch (const std::exception& error) {
      answer.failure = QString::fromUtf8(error.what());
    }
    return answer;
  });
}

void ValidationView::take(Answer answer) {
  answer_ = std::move(answer);
  table_list_->set_rows(table_rows(answer_.tables));
  if (!answer_.tables.empty()) table_list_->selectRow(0);
  choose(0);
  choose_wanted();
}

void ValidationView::show_inputs(const std::map<std::string, std::string>& inputs) {
  const auto table = inputs.find("table");
  if (table == inputs.end()) return;
  wanted_ = table->second;
  choose_wanted();
}

void ValidationView::choose_wanted() {
  const auto found = std::find_if(answer_.tables.begin(), answer_.tables.end(),
                                  [&](const ValidatedTable& table) { return table.file == wanted_; });
  if (found == answer_.tables.end()) return;
  const auto row = static_cast<int>(found - answer_.tables.begin());
  table_list_->selectRow(row);
  table_list_->scrollTo(tables().index(row, name_column), QAbstractItemView::PositionAtCenter);
  wanted_.clear();
}

const ValidatedTable* ValidationView::chosen() const {
  const auto at = static_cast<std::size_t>(std::max(chosen_, 0));
  return at < answer_.tables.size() ? &answer_.tables[at] : nullptr;
}

void ValidationView::choose(int table) {
  chosen_ = table;
  if (const ValidatedTable* now = chosen()) {
    row_list_->set_titles(validated_titles(*now));
    row_list_->set_rows(validated_rows(*now));
    row_list_->horizontalHeader()->setSectionResizeMode(name_column, QHeaderView::Stretch);
    source_->setText(tr("Source: %1").arg(QString::fromStdString(now->source)));
    constants_->setText(tr("Constants: %1").arg(QString::fromStdString(now->constants)) + QLatin1Char('\n') +
                        error_words(*now));
  }
  show_plot();
  arrange();
  update();
}

QRectF ValidationView::plot_area() const {
  // Below the list, if that leaves space; else hidden.
  const double top = table_list_->geometry().bottom() + view_margin;
  return {4, top, static_cast<double>(table_list_->width()), is_wide() ? std::max(0.0, height() - top - 6) : 0};
}

void ValidationView::arrange() {
  const bool there = chosen() != nullptr;
  // The list is as wide as its longest name, up to half of the view: there names wrap to a second line.
  int names = 0, numbers = 0;
  for (int row = 0; row < tables().rowCount(); ++row)
    names = std::max(names, table_list_->fontMetrics().horizontalAdvance(tables().words(row, name_column)));
  names += 2 * cell_padding + 4;
  for (int column = name_column + 1; column < tables().columnCount(); ++column)
    numbers += table_list_->horizontalHeader()->sectionSize(column);
  const int list_width = is_wide() ? std::min({names + numbers + 16, most_list_width, width() / 2}) : width() - 8;
  table_list_->resize(list_width, table_list_->height());
  fit_rows(*table_list_);
  const int room = !is_wide() ? height() * 2 / 5 : height() >= 2 * plot_room ? height() - plot_room : height() - 8;
  const int list_height = height_of_whole_rows(*table_list_, room);
  table_list_->setGeometry(4, 4, list_width, list_height);
  const int left = is_wide() ? list_width + 2 * view_margin : view_margin, wide = width() - left - view_margin;
  int y = is_wide() ? 6 : list_height + 10;
  const bool is_high_enough = height() >= least_for_words;  // else they are the rows' tool tip
  row_list_->setToolTip(is_high_enough ? QString() : source_->text() + QLatin1Char('\n') + constants_->text());
  for (QLabel* label : {source_, constants_}) {
    const int high = is_high_enough ? label->heightForWidth(wide) : 0;
    label->setGeometry(left, y, wide, high);
    y += high + 2;
  }
  row_list_->setGeometry(left - 8, y + 4, width() - left + 4, height() - y - 8);
  fit_rows(*row_list_);
  show_all(there, {table_list_, row_list_});
  show_all(there && is_high_enough, {source_, constants_});
  chart_->setGeometry(plot_area().toRect());
  chart_->setVisible(there && plot_area().height() > least_plot);
}

void ValidationView::paint(QPainter& painter) {
  if (!answer_.failure.isEmpty())
    return paint_empty(painter, rect(), colours(), tr("The published rows cannot be predicted"), answer_.failure);
  if (chosen() == nullptr)
    paint_empty(painter, rect(), colours(), tr("Predicting published measurements…"),
                tr("Every row under scenarios/published is predicted from its cluster file."));
}

}  // namespace rankscope::app
