// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/welcome_page.hpp"

#include <QComboBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/views/common/language.hpp"
#include "app/views/common/parts.hpp"

namespace rankscope::app {
namespace {

constexpr int widest_page = 1080, ways_width = 360;

QFrame* make_card(QWidget* parent) {
  auto* card = new QFrame(parent);
  card->setProperty("role", QStringLiteral("card"));
  column_in(card, 8, {16, 14, 16, 16});
  return card;
}

QBoxLayout& column_of(QFrame* card) { return *static_cast<QBoxLayout*>(card->layout()); }

}  // namespace

WelcomePage::WelcomePage(const Library& library, const AnswerBook& book, QWidget* parent)
    : QScrollArea(parent), library_(library), book_(book) {
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* page = new QWidget(this);
  auto* middle = new QHBoxLayout(page);
  auto* column = column_in(nullptr, 12, {16, 24, 16, 24});
  column->addWidget(make_label(tr("Rankscope"), "title", page));
  column->addWidget(make_label(
      tr("A laboratory for distributed training: predict what a cluster does, run it here, compare, and explain."),
      "text", page));
  auto* row = new QHBoxLayout;
  row->setSpacing(16);
  row->addWidget(make_ways(page), 0, Qt::AlignTop);
  row->addWidget(make_courses(page), 1, Qt::AlignTop);
  column->addLayout(row);
  column->addStretch(1);
  auto* held = new QWidget(page);
  held->setLayout(column);
  held->setMaximumWidth(widest_page);
  middle->addWidget(held);
  setWidget(page);
  refresh({});
}

QWidget* WelcomePage::make_ways(QWidget* parent) {
  auto* ways = new QWidget(parent);
  ways->setFixedWidth(ways_width);
  auto* column = column_in(ways, 12);

  auto* lessons = make_card(ways);
  column_of(lessons).addWidget(make_label(tr("Learn"), "heading", lessons));
  first_ = make_button({}, lessons);
  first_->setProperty("role", QStringLiteral("primary"));
  continue_ = make_button({}, lessons);
  column_of(lessons).addWidget(first_);
  column_of(lessons).addWidget(continue_);
  connect(continue_, &QPushButton::clicked, this, &WelcomePage::continue_wanted);
  const std::vector<const Lab*> labs = library_.labs();
  first_->setVisible(!labs.empty());
  if (!labs.empty()) {
    first_->setText(tr("Begin with the first lesson"));
    const int minutes = labs.front()->minutes;
    const QString title = QString::fromStdString(labs.front()->title);
    column_of(lessons).insertWidget(
        2, make_label(minutes > 0 ? tr("%1 (%2 minutes)").arg(title).arg(minutes) : title, "dim", lessons));
    connect(first_, &QPushButton::clicked, this,
            [this, file = QString::fromStdString(labs.front()->file)] { emit lab_wanted(file); });
  }
  column->addWidget(lessons);

  auto* files = make_card(ways);
  column_of(files).addWidget(make_label(tr("View a run"), "heading", files));
  auto* open = make_button(tr("Open a recording or a scenario…"), files);
  connect(open, &QPushButton::clicked, this, &WelcomePage::open_wanted);
  column_of(files).addWidget(open);
  column_of(files).addWidget(make_label(tr("Watch a run on this machine or on a cluster: give its address or its join "
                                           "file."),
                                        "dim", files));
  auto* row = new QHBoxLayout;
  endpoint_ = new QLineEdit(files);
  endpoint_->setPlaceholderText(QStringLiteral("tcp://HOST:PORT"));
  endpoint_->setAccessibleName(tr("Address of a run, or its join file"));
  auto* watch = make_button(tr("Watch"), files);
  watch->setEnabled(false);
  connect(endpoint_, &QLineEdit::textChanged, watch,
          [watch](const QString& text) { watch->setEnabled(!text.trimmed().isEmpty()); });
  const auto send = [this] {
    if (!endpoint_->text().trimmed().isEmpty()) emit watch_wanted(endpoint_->text().trimmed());
  };
  connect(watch, &QPushButton::clicked, this, send);
  connect(endpoint_, &QLineEdit::returnPressed, this, send);
  row->addWidget(endpoint_, 1);
  row->addWidget(watch);
  column_of(files).addLayout(row);
  auto* manual = make_link(tr("Manual (F1)"), files);
  connect(manual, &QPushButton::clicked, this, &WelcomePage::manual_wanted);
  column_of(files).addWidget(manual, 0, Qt::AlignLeft);
  column->addWidget(files);
  return ways;
}

QWidget* WelcomePage::make_courses(QWidget* parent) {
  auto* card = make_card(parent);
  QBoxLayout& column = column_of(card);
  column.addWidget(make_label(tr("Courses"), "heading", card));
  courses_ = new QComboBox(card);
  courses_->setAccessibleName(tr("Course"));
  courses_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  for (const Course& course : library_.courses)
    courses_->addItem(with_language(course.title, course.language), QString::fromStdString(course.name()));
  connect(courses_, &QComboBox::currentIndexChanged, this, &WelcomePage::list_labs);
  column.addWidget(courses_);
  labs_place_ = new QVBoxLayout;
  column.addLayout(labs_place_);
  return card;
}

void WelcomePage::focus_first() { (continue_->isVisibleTo(this) ? continue_ : first_)->setFocus(); }

void WelcomePage::refresh(const QString& continue_name) {
  continue_->setVisible(!continue_name.isEmpty());
  continue_->setText(
      continue_->fontMetrics().elidedText(tr("Continue: %1").arg(continue_name), Qt::ElideRight, ways_width - 70));
  continue_->setToolTip(continue_name);
  list_labs();
}

// One line per lesson: its number in the natural order, its title, its duration, and the answered questions.
void WelcomePage::list_labs() {
  delete labs_;
  labs_ = new QWidget;
  auto* column = column_in(labs_, 4);
  labs_place_->addWidget(labs_);
  const Course* course = library_.course(courses_->currentData().toString().toStdString());
  if (course == nullptr) return;
  column->addWidget(make_label(QString::fromStdString(course->summary), "dim", labs_));
  const std::vector<const Lab*> all = library_.labs();
  for (const CourseSection& section : course->sections) {
    column->addSpacing(6);
    column->addWidget(make_label(QString::fromStdString(section.title), "caption", labs_));
    for (const std::string& name : section.labs) {
      const Lab* lab = library_.lab(name);
      if (lab == nullptr) continue;
      const auto number = std::find(all.begin(), all.end(), lab) - all.begin() + 1;
      auto* link = make_link(tr("%1  %2").arg(number).arg(with_language(lab->title, lab->language)), labs_);
      link->setToolTip(QString::fromStdString(lab->summary));
      connect(link, &QPushButton::clicked, this,
              [this, file = QString::fromStdString(lab->file)] { emit lab_wanted(file); });
      auto* row = new QHBoxLayout;
      row->addWidget(link);
      row->addStretch(1);
      const std::size_t answered = book_.answered(*lab), asked = lab->questions.size();
      QString state;
      if (answered > 0)
        state = answered == asked ? tr("✓ answered") : tr("%1 of %2 answered").arg(answered).arg(asked);
      else if (lab->minutes > 0)
        state = tr("%1 min").arg(lab->minutes);
      auto* words = make_label(state, answered == asked && asked > 0 ? "good" : "dim", labs_);
      words->setWordWrap(false);
      row->addWidget(words);
      column->addLayout(row);
    }
  }
}

}  // namespace rankscope::app
