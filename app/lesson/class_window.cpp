// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/class_window.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHeaderView>
#include <QPushButton>
#include <QShortcut>
#include <limits>

#include "app/lesson/answers_plot.hpp"
#include "app/lesson/class_table.hpp"
#include "app/lesson/lab_panel.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/common/save_view.hpp"

namespace rankscope::app {
namespace {

constexpr QSize class_window_size(980, 660);
constexpr int class_refresh_ms = 150;

}  // namespace

QString save_answers(const ClassRoom& room, const LabPanel& lesson, const QString& file) {
  return write_whole(
      file, to_csv(class_file(room.students(), [&](const std::string& lab) { return lesson.questions_of(lab); })));
}

ClassWindow::ClassWindow(const ClassRoom& room, const LabPanel& lesson, QWidget* parent)
    : QWidget(parent, Qt::Window),
      room_(room),
      lesson_(lesson),
      heading_(make_label({}, "heading", this)),
      trouble_(make_label({}, "bad", this)),
      table_(new RowsTable({tr("student")}, std::numeric_limits<int>::max(), tr("Who has answered what"), this)),
      question_(new QComboBox(this)),
      plot_(new AnswersPlot(this)),
      words_(make_label({}, "dim", this)),
      marked_(new QCheckBox(tr("Mark what is right"), this)) {
  setWindowTitle(tr("The class"));
  resize(class_window_size);
  auto* column = column_in(this, 8, {16, 12, 16, 12});
  column->addWidget(heading_);
  column->addWidget(table_, 3);
  question_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  question_->setMinimumContentsLength(24);
  question_->setAccessibleName(tr("The question whose answers are shown"));
  column->addWidget(question_);
  column->addWidget(plot_, 2);
  column->addWidget(words_);
  column->addWidget(trouble_);
  trouble_->hide();
  auto* row = new QHBoxLayout;
  marked_->setChecked(true);
  marked_->setToolTip(tr("Off: the class may see this window before it is told"));
  auto* save = new QPushButton(tr("Export CSV\u2026"), this);
  save->setToolTip(tr("All answers to all lessons of this class: a row for each student, question and try"));
  auto* close = new QPushButton(tr("Close"), this);
  row->addWidget(marked_);
  row->addStretch(1);
  row->addWidget(save);
  row->addWidget(close);
  column->addLayout(row);
  set_up_pause(soon_, class_refresh_ms, this, &ClassWindow::refresh);
  const auto later = [this] {
    if (isVisible() && !soon_.isActive()) soon_.start();
  };
  connect(&room, &ClassRoom::changed, this, later);
  connect(&lesson, &LabPanel::answers_changed, this, later);
  connect(question_, &QComboBox::currentIndexChanged, this, &ClassWindow::show_answers);
  connect(marked_, &QCheckBox::toggled, this, &ClassWindow::show_answers);
  connect(table_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& at) {
    if (at.column() > 0) show_question(at.column() - 1);
  });
  connect(table_->horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int section) {
    if (section > 0) show_question(section - 1);
  });
  table_->horizontalHeader()->setSectionsClickable(true);
  connect(save, &QPushButton::clicked, this, &ClassWindow::export_answers);
  connect(close, &QPushButton::clicked, this, &QWidget::close);
  connect(new QShortcut(QKeySequence(Qt::Key_Escape), this), &QShortcut::activated, this, &QWidget::close);
}

const RowsModel& ClassWindow::table() const { return table_->rows(); }

void ClassWindow::show_question(int question) {
  if (question >= 0 && question < question_->count()) question_->setCurrentIndex(question);
}

void ClassWindow::set_marked(bool marked) { marked_->setChecked(marked); }

void ClassWindow::fill_questions() {
  QStringList words;
  const auto asked = lesson_.asked_questions();
  for (std::size_t i = 0; i < asked.size(); ++i)
    words << tr("Question %1: %2").arg(i + 1).arg(QString::fromStdString(asked[i].question.ask));
  QStringList now;
  for (int i = 0; i < question_->count(); ++i) now << question_->itemText(i);
  if (words == now) return;
  const QSignalBlocker quiet(question_);
  question_->clear();
  question_->addItems(words);
  for (int i = 0; i < question_->count(); ++i) question_->setItemData(i, words[i], Qt::ToolTipRole);
  question_->setCurrentIndex(words.isEmpty() ? -1 : 0);
}

void ClassWindow::refresh() {
  const auto asked = lesson_.asked_questions();
  fill_questions();
  table_->set_theme(lesson_.theme());
  plot_->set_theme(lesson_.theme());
  const QString lesson = QString::fromStdString(lesson_.lesson_name());
  heading_->setText(lesson.isEmpty() ? tr("No lesson is open. %1").arg(room_.words())
                                     : tr("%1 \u00B7 %2").arg(lesson, room_.words()));
  auto rows = class_rows(room_.students(), lesson.toStdString(), asked);
  table_->set_titles(class_titles(asked));
  if (rows != table_->rows().rows()) table_->set_rows(std::move(rows));
  show_answers();
}

void ClassWindow::show_answers() {
  const auto asked = lesson_.asked_questions();
  const int question = question_->currentIndex();
  show_all(!asked.empty(), {question_, plot_, words_});
  if (question < 0 || question >= std::ssize(asked)) return;
  const AskedQuestion& one = asked[static_cast<std::size_t>(question)];
  const auto given = last_answers(room_.students(), lesson_.lesson_name(), question);
  plot_->set_distribution(distribution_of(one.question, given, marked_->isChecked() ? one.truth : std::nullopt));
  const QString right = !marked_->isChecked()  ? QString()
                        : !one.truth           ? tr("What is right is not known yet: a run says it.")
                        : one.question.drawn() ? QString()
                                               : tr("Right: %1.").arg(target_words(one.question, *one.truth));
  const QString count =
      given.size() == 1 ? tr("1 student has answered.") : tr("%1 students have answered.").arg(given.size());
  words_->setText((count + QLatin1Char(' ') + right).trimmed());
}

void ClassWindow::export_answers() {
  const QString file = QFileDialog::getSaveFileName(this, tr("Export all answers of the class"),
                                                    QStringLiteral("class.csv"), tr("Tables (*.csv)"));
  if (file.isEmpty()) return;
  const QString why = save_answers(room_, lesson_, file);
  trouble_->setText(why);
  trouble_->setVisible(!why.isEmpty());
}

void ClassWindow::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

}  // namespace rankscope::app
