// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/experiments/experiments_view.hpp"

#include <QItemSelectionModel>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int numbers_from = 2, control_height = 30, least_output = 90;

QString as_percent(double share) {
  return std::isfinite(share) ? QString::number(100 * share, 'f', 1) : text::unknown();
}

QString how(const ExperimentRow& row) {
  switch (row.state) {
    case ExperimentRow::State::pending: return ExperimentsView::tr("pending");
    case ExperimentRow::State::failed: return ExperimentsView::tr("failed");
    case ExperimentRow::State::done: break;
  }
  return row.is_plan() ? text::words(name_of(row.obtained)) : ExperimentsView::tr("done");
}

std::vector<Cell> cells_of(const ExperimentRow& row) {
  const Tone tone = row.state == ExperimentRow::State::failed ? Tone::bad : Tone::text;
  std::vector<Cell> cells{{row.name, tone, row.name}, {how(row), tone}};
  const Report* report = row.figures ? row.figures->shown() : nullptr;
  if (report == nullptr) {
    cells.resize(6, Cell{text::unknown(), Tone::dim});
    return cells;
  }
  const bool simulated = row.obtained == Obtained::simulated;
  cells.push_back({QString::number(report->step_seconds * 1e3, 'g', 4)});
  cells.push_back({as_percent(simulated ? report->bubble.predicted : report->bubble.measured)});
  const double peak = greatest_peak(*report, simulated);
  cells.push_back({std::isfinite(peak) ? QString::number(peak / (1 << 20), 'f', 1) : text::unknown()});
  cells.push_back({as_percent(report->mfu)});
  return cells;
}

}  // namespace

ExperimentsView::ExperimentsView(SharedState& state, Session& session, QWidget* parent)
    : DataView(state, session, parent),
      session_(session),
      log_(session),
      table_(new RowsTable(
          {tr("experiment"), tr("obtained"), tr("step, ms"), tr("bubble, %"), tr("peak memory, MiB"), tr("MFU, %")},
          numbers_from, tr("Experiments with this scenario"), this)),
      words_(new QLabel(this)),
      output_(new QPlainTextEdit(this)),
      again_(new QPushButton(tr("Show"), this)),
      compare_(new QPushButton(tr("Compare"), this)),
      stop_(new QPushButton(tr("Stop"), this)) {
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  again_->setToolTip(tr("Show the selected plan in the window"));
  compare_->setToolTip(tr("Compare the two selected plans in the Compare view"));
  words_->setProperty("role", QStringLiteral("dim"));
  output_->setReadOnly(true);
  output_->setFont(number_font());
  output_->setLineWrapMode(QPlainTextEdit::NoWrap);
  output_->setAccessibleName(tr("Output of the command"));
  connect(&log_, &ExperimentLog::changed, this, &ExperimentsView::refresh);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &ExperimentsView::take_choice);
  connect(again_, &QPushButton::clicked, this, &ExperimentsView::show_again);
  connect(compare_, &QPushButton::clicked, this, &ExperimentsView::compare);
  connect(stop_, &QPushButton::clicked, &log_, &ExperimentLog::stop);
  connect(table_, &QTableView::doubleClicked, this, &ExperimentsView::show_again);
  take_choice();
}

void ExperimentsView::refresh() {
  const int before = table_->rows().rowCount();
  std::vector<std::vector<Cell>> rows;
  for (const ExperimentRow& row : log_.rows()) rows.push_back(cells_of(row));
  table_->set_rows(std::move(rows));
  // Selects the newest experiment.
  if (const int now = table_->rows().rowCount(); now > before) {
    table_->selectRow(now - 1);
    table_->scrollToBottom();
  }
  take_choice();
  update();
}

std::vector<std::size_t> ExperimentsView::chosen() const {
  std::vector<std::size_t> rows;
  for (const QModelIndex& index : table_->selectionModel()->selectedRows())
    if (static_cast<std::size_t>(index.row()) < log_.rows().size())
      rows.push_back(static_cast<std::size_t>(index.row()));
  std::sort(rows.begin(), rows.end());
  return rows;
}

void ExperimentsView::choose(const std::vector<int>& rows) {
  table_->clearSelection();
  for (const int row : rows)
    table_->selectionModel()->select(table_->model()->index(row, 0),
                                     QItemSelectionModel::Select | QItemSelectionModel::Rows);
}

void ExperimentsView::take_choice() {
  const auto rows = chosen();
  const auto can_show = [&](std::size_t row) { return log_.rows()[row].kept.there(); };
  again_->setEnabled(rows.size() == 1 && can_show(rows[0]) && !session_.active());
  compare_->setEnabled(rows.size() == 2 && can_show(rows[0]) && can_show(rows[1]) && !session_.active());
  stop_->setVisible(log_.busy());
  const QString output = rows.size() == 1 ? log_.rows()[rows[0]].output : QString();
  if (output_->toPlainText() != output) output_->setPlainText(output);
  words_->setText(rows.size() == 2 ? QString() : tr("Select two rows (Ctrl+click) to compare them."));
  arrange();
}

void ExperimentsView::show_again() {
  const auto rows = chosen();
  if (rows.size() == 1 && again_->isEnabled()) session_.restore(SessionContent(log_.rows()[rows[0]].content));
}

void ExperimentsView::compare() {
  const auto rows = chosen();
  if (rows.size() != 2) return;
  const KeptRun other = log_.rows()[rows[1]].kept;
  if (session_.restore(SessionContent(log_.rows()[rows[0]].content))) emit comparison_wanted(other);
}

void ExperimentsView::arrange() {
  const bool there = !log_.rows().empty() && !veiled();
  show_all(there, {table_, again_, compare_});
  stop_->setVisible(there && log_.busy());
  int x = view_margin;
  for (QPushButton* button : {again_, compare_, stop_}) {
    if (button == stop_ && !log_.busy()) continue;
    const int wide = button->sizeHint().width();
    button->setGeometry(x, 4, wide, control_height - 4);
    x += wide + 8;
  }
  words_->setVisible(there && x + words_->sizeHint().width() <= width() - view_margin);
  words_->setGeometry(x, 4, std::max(0, width() - view_margin - x), control_height - 4);
  const int top = control_height + 6, room = height() - top - 4;
  const bool prints = there && !output_->toPlainText().isEmpty();
  output_->setVisible(prints);
  const int for_table = prints ? std::max(table_->height_of(3), room - std::max(least_output, room / 2)) : room;
  table_->setGeometry(cell_inset, top, width() - cell_inset - view_margin, std::min(for_table, room));
  table_->resize(table_->width(), height_of_whole_rows(*table_, std::min(for_table, room)));
  const int below = table_->y() + table_->height() + 6;
  output_->setGeometry(view_margin, below, width() - 2 * view_margin, std::max(0, height() - below - 4));
}

void ExperimentsView::paint(QPainter& painter) {
  if (!log_.rows().empty()) return;
  if (session_.spec().kind != SourceKind::scenario)
    return paint_empty(painter, rect(), colours(), tr("Experiments need a scenario"),
                       tr("This is a recording or a run elsewhere. Open a lesson or a scenario to try plans."));
  paint_empty(
      painter, rect(), colours(), tr("No experiment yet"),
      tr("Each run, and each command of the lesson that you click, adds a row here. Two rows can be compared."));
}

}  // namespace rankscope::app
