// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/lab_panel.hpp"

#include <QFileInfo>
#include <QPushButton>
#include <QScrollBar>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/lesson/lesson_text.hpp"
#include "app/lesson/question_card.hpp"
#include "app/lesson/script_dialog.hpp"
#include "app/views/common/language.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/analyse/report_value.hpp"
#include "engine/lesson/torch/torch_script.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {
namespace {

constexpr int narrowest_lesson = 180, widest_needed = 300;

/// A button does not wrap its text: this one does.
QString in_lines(const QString& words, const QFontMetrics& metrics, int width) {
  QString result, line;
  for (const QString& word : words.split(QLatin1Char(' '))) {
    const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
    if (!line.isEmpty() && metrics.horizontalAdvance(longer) > width) {
      result += line + QLatin1Char('\n');
      line = word;
    } else {
      line = longer;
    }
  }
  return result + line;
}

/// The reference for answers: a run, or the simulation if the lesson's machine is not here.
const Report* report_of(const Figures& figures, bool simulated) {
  return figures.run ? &*figures.run : simulated && figures.predicted ? &*figures.predicted : nullptr;
}

/// Without a valid glossary, terms have no definitions; everything else works.
Glossary installed_glossary() {
  try {
    return read_glossary(lesson_language());
  } catch (const ScenarioError&) {
    return {};
  }
}

}  // namespace

LabPanel::LabPanel(FiguresModel& figures, ClassRoom* room, QWidget* parent)
    : QScrollArea(parent),
      figures_(figures),
      room_(room),
      library_(read_library(lesson_language())),
      glossary_(installed_glossary()) {
  setObjectName(QStringLiteral("leftPanel"));
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  connect(&figures, &FiguresModel::changed, this, &LabPanel::take_figures);
  if (room_ != nullptr) connect(room_, &ClassRoom::changed, this, &LabPanel::take_class);
  rebuild();
}

void LabPanel::set_lab(const std::optional<Lab>& lab, const QString& title, const QString& summary) {
  if (lab == lab_ && title == title_ && summary == summary_) return;
  const bool another = lab != lab_;
  lab_ = lab;
  title_ = title;
  summary_ = summary;
  if (another) {
    place_ = 0;
    shows_anyway_ = false;
    answers_.clear();
    shown_to_class_.clear();
    sent_to_teacher_.clear();
    if (lab_)
      for (const Question& question : lab_->questions) {
        Answer& answer = answers_.emplace_back();
        answer.question = question;
        book_.fill(lab_name(), answer);
      }
  }
  if (another) take_figures();
  rebuild();
  emit answers_changed();
}

std::optional<Lab> LabPanel::lab_titled(const std::string& title) const {
  for (const Lab* lab : library_.labs())
    if ((lab->original_title.empty() ? lab->title : lab->original_title) == title) return *lab;
  return std::nullopt;
}

void LabPanel::set_answer_file(const QString& file) {
  book_ = AnswerBook(file);
  if (!book_.trouble().isEmpty()) emit log(book_.trouble(), true);
}

void LabPanel::set_variants(VariantCache* variants) {
  variants_ = variants;
  if (variants_ != nullptr) connect(variants_, &VariantCache::changed, this, &LabPanel::take_figures);
}

void LabPanel::point(const std::function<void(Pointed&)>& change) {
  change(pointed_);
  for (QuestionCard* card : cards_) card->set_chosen(pointed_);
}

void LabPanel::set_no_lesson(const QString& words) {
  if (words == no_lesson_) return;
  no_lesson_ = words;
  if (!lab_) rebuild();
}

void LabPanel::set_paths(PathCache* paths) {
  paths_ = paths;
  if (paths_ != nullptr) connect(paths_, &PathCache::changed, this, &LabPanel::take_figures);
}

void LabPanel::set_theme(Theme theme) {
  theme_ = theme;
  rebuild();
}

void LabPanel::rebuild() {
  if (!place_) place_ = verticalScrollBar()->value();
  class_updates_.clear();
  cards_.clear();
  first_question_ = first_input_ = nullptr;
  class_line_ = nullptr;
  page_ = new QWidget;
  layout_ = column_in(page_, 8, {16, 16, 16, 16});
  if (lab_) {
    const std::vector<const Lab*> labs = library_.labs();
    const auto here = std::find_if(labs.begin(), labs.end(), [&](const Lab* lab) { return lab->file == lab_->file; });
    if (here != labs.end())
      layout_->addWidget(
          make_label(tr("LAB %1 OF %2").arg(here - labs.begin() + 1).arg(labs.size()), "caption", page_));
  }
  if (room_ != nullptr && (room_->teaching() || room_->attending())) {
    class_line_ = make_label(room_->words(), "caption", page_);
    layout_->addWidget(class_line_);
    if (room_->teaching() && lab_) {
      auto* who = make_link(tr("Who has answered what"), page_);
      connect(who, &QPushButton::clicked, this, &LabPanel::class_wanted);
      layout_->addWidget(who, 0, Qt::AlignLeft);
    }
  }
  layout_->addWidget(make_label(title_.isEmpty() ? tr("Nothing is open") : title_, "title", page_));
  if (!summary_.isEmpty()) layout_->addWidget(make_label(summary_, "dim", page_));
  if (lab_) {
    add_way_to_questions();
    add_lesson();
  } else if (!title_.isEmpty() && summary_.isEmpty()) {
    layout_->addWidget(make_label(no_lesson_.isEmpty()
                                      ? tr("This scenario has no lesson. Change the plan on the right, or press Run.")
                                      : no_lesson_,
                                  "dim", page_));
  } else if (title_.isEmpty()) {
    layout_->addWidget(make_label(tr("Choose a lab above, or open a scenario (.toml) or a recording (.mcap) with "
                                     "Ctrl+O. rankscope tcp://HOST:PORT "
                                     "watches a run elsewhere."),
                                  "dim", page_));
  }
  layout_->addStretch(1);
  if (lab_) add_torch();
  if (lab_) add_next_lab();
  setWidget(page_);
  fit_width();
  // A new page begins at its top, and the lesson's texts get their heights when they are shown.
  QTimer::singleShot(0, page_, [this] { verticalScrollBar()->setValue(*std::exchange(place_, std::nullopt)); });
}

bool LabPanel::scroll_by_key(int key) {
  using Action = QAbstractSlider::SliderAction;
  static const std::map<int, Action> actions{
      {Qt::Key_PageDown, Action::SliderPageStepAdd}, {Qt::Key_Space, Action::SliderPageStepAdd},
      {Qt::Key_PageUp, Action::SliderPageStepSub},   {Qt::Key_Backspace, Action::SliderPageStepSub},
      {Qt::Key_Down, Action::SliderSingleStepAdd},   {Qt::Key_Up, Action::SliderSingleStepSub},
      {Qt::Key_End, Action::SliderToMaximum},        {Qt::Key_Home, Action::SliderToMinimum}};
  const auto found = actions.find(key);
  if (found == actions.end()) return false;
  verticalScrollBar()->triggerAction(found->second);
  return true;
}

// The narrowest width without a broken word or a cut number. Only a word longer than the widest panel is broken.
void LabPanel::fit_width() {
  int needed = narrowest_lesson;
  for (const auto* text : page_->findChildren<LessonText*>()) needed = std::max(needed, text->longest_word());
  const QMargins around = layout_->contentsMargins();
  needed += around.left() + around.right();
  needed = std::max(needed, page_->minimumSizeHint().width()) + verticalScrollBar()->sizeHint().width();
  setMinimumWidth(std::min(needed, widest_needed));
}

// A lesson is longer than the panel: the note at the top explains why the answers are hidden.
void LabPanel::add_way_to_questions() {
  const auto open =
      std::count_if(answers_.begin(), answers_.end(), [](const Answer& answer) { return answer.accepts_try(); });
  if (open == 0) return;
  const QString when = answered_by_looking() ? tr("before you look") : tr("before you run");
  auto* way =
      make_link(open == 1 ? tr("A question %1 ↓").arg(when) : tr("%1 questions %2 ↓").arg(open).arg(when), page_);
  way->setToolTip(tr("The results are hidden until you answer"));
  connect(way, &QPushButton::clicked, this, &LabPanel::show_question);
  layout_->addWidget(way, 0, Qt::AlignLeft);
}

void LabPanel::add_lesson() {
  const LessonParts parts = parts_of(lab_->text);
  add_text(parts.before);
  for (std::size_t i = 0; i < answers_.size(); ++i) add_question(i);
  add_text(parts.run);
  const bool is_answered =
      std::all_of(answers_.begin(), answers_.end(), [](const Answer& answer) { return answer.open(); });
  if (is_answered || shows_anyway_) return add_text(parts.after);
  if (parts.after.empty()) return;
  layout_->addWidget(make_label(answered_by_looking() ? tr("Compare and Explain unlock after you answer.")
                                                      : tr("Compare and Explain unlock after you answer and run."),
                                "dim", page_));
  auto* show = make_link(tr("Show anyway"), page_);
  show->setToolTip(tr("Show all results without an answer"));
  connect(show, &QPushButton::clicked, this, &LabPanel::show_anyway, Qt::QueuedConnection);
  layout_->addWidget(show, 0, Qt::AlignLeft);
}

void LabPanel::show_anyway() {
  if (shows_anyway_) return;
  shows_anyway_ = true;
  rebuild();
  emit answers_changed();
}

void LabPanel::add_text(const std::string& markdown) {
  if (markdown.empty()) return;
  auto* text = new LessonText(page_);
  text->setAccessibleName(tr("The lesson"));
  text->set_lesson(QString::fromStdString(markdown), glossary_, lab_->symbols, colours());
  connect(text, &LessonText::experiment_wanted, this, &LabPanel::experiment_wanted);
  connect(text, &LessonText::view_wanted, this, &LabPanel::evidence_wanted);
  connect(text, &LessonText::lab_wanted, this, [this](const QString& name) {
    if (const Lab* lab = library_.lab(name.toStdString())) emit lab_wanted(QString::fromStdString(lab->file));
  });
  layout_->addWidget(text);
}

QString LabPanel::result_source(const Answer& answer) const {
  if (answer.of_paths()) return tr("computed");
  if (answer.question.variant && !answer.question.variant->runs) return tr("simulated");
  const auto figures = figures_.latest();
  return simulated_ && !figures->run ? tr("simulated") : run_column_name(*figures);
}

QString LabPanel::source_name(const Answer& answer) const {
  if (answer.of_paths()) return tr("Computed");
  if (answer.question.variant && !answer.question.variant->runs) return tr("Simulation");
  return simulated_ && !figures_.latest()->run ? tr("Simulation") : tr("Run");
}

bool LabPanel::answered_by_looking() const {
  return simulated_ || std::all_of(answers_.begin(), answers_.end(), [](const Answer& answer) {
           const Question& question = answer.question;
           const bool needs_nothing = question.answer_from.empty() && known_answer(question).has_value();
           return answer.of_paths() || needs_nothing || (question.variant && !question.variant->runs);
         });
}

QString LabPanel::waits_for(const Answer& answer) const {
  if (answer.of_paths()) return tr("Computing the paths…");
  const auto& variant = answer.question.variant;
  if (variant && variant->runs)
    return tr("Run with %1 to check.").arg(text::list(variant->settings).join(QStringLiteral(", ")));
  if (simulated_ || variant) return tr("Simulating…");
  return edited_ ? tr("Reset the plan to the lesson's and press Run to check.") : tr("Press Run to check.");
}

QString LabPanel::hidden_words() const {
  return answered_by_looking() ? tr("Hidden until you answer the question on the left.")
                               : tr("Hidden until you answer the question on the left and run.");
}

QString LabPanel::lab_name() const {
  return lab_ ? QFileInfo(QString::fromStdString(lab_->file)).completeBaseName() : QString();
}

// In place if possible: the user may be typing.
void LabPanel::take_class() {
  const bool in_class = room_->teaching() || room_->attending();
  if (in_class != (class_line_ != nullptr) || room_->teaching() != was_teaching_) {
    was_teaching_ = room_->teaching();
    rebuild();
  }
  if (class_line_ != nullptr) class_line_->setText(room_->words());
  for (const auto& update : class_updates_) update();
}

void LabPanel::add_torch() {
  Scenario scenario;
  try {
    scenario = read_scenario(lab_->file);
    if (!why_no_torch(scenario).empty()) return;
  } catch (const std::exception&) {
    return;  // errors in the file are reported when it is opened
  }
  auto* link = make_link(tr("The same in PyTorch"), page_);
  connect(link, &QPushButton::clicked, this, [this, scenario] {
    try {
      show_script(this, tr("The same in PyTorch: %1").arg(title_), QString::fromStdString(torch_script(scenario)),
                  lab_name() + QStringLiteral(".py"));
    } catch (const std::exception& error) {
      emit log(QString::fromUtf8(error.what()), true);
    }
  });
  layout_->addWidget(link, 0, Qt::AlignLeft);
}

void LabPanel::add_next_lab() {
  const std::vector<const Lab*> labs = library_.labs();
  for (std::size_t i = 0; i + 1 < labs.size(); ++i) {
    if (labs[i]->file != lab_->file) continue;
    auto* next = new QPushButton(page_);
    const QString title = tr("Next: %1").arg(QString::fromStdString(labs[i + 1]->title));
    next->setText(in_lines(title, next->fontMetrics(), narrowest_lesson - 26));
    next->setAccessibleName(title);
    const QString file = QString::fromStdString(labs[i + 1]->file);
    connect(next, &QPushButton::clicked, this, [this, file] { emit lab_wanted(file); });
    layout_->addWidget(next);
  }
}

// In the question's unit. For a simulation nothing is measured: the prediction is the answer.
std::optional<Target> LabPanel::value_of(const Question& question, const Report& report, bool simulated) const {
  const std::string& from = question.answer_from;
  if (!question.drawn()) {
    const auto value = simulated ? simulated_value_at(report, from) : value_at(report, from);
    return value ? std::optional<Target>(*value * question.scale) : std::nullopt;
  }
  std::vector<double> series = simulated ? simulated_series_at(report, from) : series_at(report, from);
  double sum = 0;
  for (double& one : series) sum += one *= question.scale;
  return series.empty() || !std::isfinite(sum) ? std::nullopt : std::optional<Target>(std::move(series));
}

std::optional<Target> LabPanel::result_of(const Question& question, const Report* run) const {
  if (question.answer_from.empty()) return std::nullopt;
  if (question.paths) {
    const auto paths = paths_ != nullptr ? paths_->get(*question.paths) : nullptr;
    const auto value = paths ? path_value(*paths, QString::fromStdString(question.answer_from)) : std::nullopt;
    return value ? std::optional<Target>(*value * question.scale) : std::nullopt;
  }
  if (question.variant && !question.variant->runs) {
    const QStringList settings = text::list(question.variant->settings);
    const auto predicted =
        variants_ != nullptr && lab_ ? variants_->get(QString::fromStdString(lab_->file), settings) : nullptr;
    return predicted && predicted->refusal.empty() ? value_of(question, predicted->report, true) : std::nullopt;
  }
  if (run == nullptr || !is_asked_about(question)) return std::nullopt;
  return value_of(question, *run, !figures_.latest()->run);
}

// A run of a different plan does not answer the question.
bool LabPanel::is_asked_about(const Question& question) const {
  if (!question.variant) return !edited_;
  const auto& ran = figures_.latest()->scenario;
  if (!ran || !lab_) return false;
  try {
    std::vector<Override> settings;
    for (const std::string& setting : question.variant->settings) settings.push_back(parse_override(setting));
    return read_scenario(lab_->file, settings) == *ran;
  } catch (const ScenarioError&) {
    return false;
  }
}

std::vector<AskedQuestion> LabPanel::asked_questions() const {
  const auto figures = figures_.latest();
  std::vector<AskedQuestion> asked;
  for (const Answer& answer : answers_) {
    auto truth = answer.truth();
    if (!truth) truth = result_of(answer.question, report_of(*figures, simulated_));
    asked.push_back({answer.question, truth});
  }
  return asked;
}

std::vector<AskedQuestion> LabPanel::questions_of(const std::string& lesson) const {
  if (lesson == lesson_name()) return asked_questions();
  std::vector<AskedQuestion> asked;
  if (const Lab* lab = library_.lab(lesson))
    for (const Question& question : lab->questions) asked.push_back({question, known_answer(question)});
  return asked;
}

void LabPanel::take_figures() {
  const auto figures = figures_.latest();
  const Report* run = report_of(*figures, simulated_);
  bool changed = std::exchange(waits_for_size_, false) && figures->scenario;
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    Answer& answer = answers_[i];
    // The tables would show the answer before the guess: they are hidden until the guess is submitted.
    const auto result = answer.tries.empty() ? std::nullopt : result_of(answer.question, run);
    // Answered content is not hidden again: the plan may change for a while.
    if (!result || result == answer.result) continue;
    // Live, the value changes with every step: only a visible change redraws the card.
    const auto before = answer.result_number();
    const bool was_open = answer.open();
    answer.result = result;
    answer.result_source = source_name(answer);
    const bool same = before && answer.result_number() && was_open == answer.open() &&
                      value_text(answer.question, *before) == value_text(answer.question, *answer.result_number());
    if (same) continue;
    if (sent_to_teacher_.contains(i)) send_to_teacher(i);
    changed = true;
    store(answer);
  }
  if (!changed) return;
  rebuild();
  emit answers_changed();
}

}  // namespace rankscope::app
