// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/lab_panel.hpp"

#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextList>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "app/shell/plan_figures.hpp"
#include "app/shell/share_guess.hpp"
#include "app/shell/sketch.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr int least_width = 180, widest_least = 300;

QLabel* make_label(const QString& words, const char* role, QWidget* parent) {
  auto* label = new QLabel(words, parent);
  label->setWordWrap(true);
  label->setProperty("role", QLatin1String(role));
  return label;
}

/// A button does not break its words: where a line is full they go on in the next.
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

/// Markdown as high as its text is: the panel scrolls, not a box within it.
class LessonText : public QTextBrowser {
 public:
  explicit LessonText(QWidget* parent) : QTextBrowser(parent) {
    setFrameShape(QFrame::NoFrame);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setStyleSheet(QStringLiteral("QTextBrowser { background: transparent; border: none; padding: 0; }"));
    document()->setDocumentMargin(0);
    setOpenExternalLinks(true);
  }
  void set_lesson(const QString& markdown) {
    setMarkdown(markdown);
    // Headings of a page would be larger than the panel's own title; paragraphs stand apart.
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
      QTextCursor cursor(block);
      QTextBlockFormat form = block.blockFormat();
      const bool heading = form.headingLevel() > 0;
      form.setTopMargin(heading && block != document()->begin() ? 10 : 0);
      form.setBottomMargin(block.textList() != nullptr ? 3 : heading ? 4 : 8);
      form.setLineHeight(125, QTextBlockFormat::ProportionalHeight);
      cursor.setBlockFormat(form);
      if (!heading) continue;
      cursor.select(QTextCursor::BlockUnderCursor);
      QTextCharFormat letters;
      letters.setProperty(QTextFormat::FontSizeAdjustment, 0);
      letters.setFontWeight(QFont::DemiBold);
      cursor.mergeCharFormat(letters);
    }
    document()->setIndentWidth(18);
    fit();
  }

  /// Of the longest word: in less width it would be broken.
  int longest_word() const {
    const std::unique_ptr<QTextDocument> narrow(document()->clone());
    QTextOption option = narrow->defaultTextOption();
    option.setWrapMode(QTextOption::WordWrap);
    narrow->setDefaultTextOption(option);
    narrow->setTextWidth(1);
    return static_cast<int>(std::ceil(narrow->idealWidth()));
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QTextBrowser::resizeEvent(event);
    fit();
  }

 private:
  void fit() {
    document()->setTextWidth(viewport()->width());
    setFixedHeight(static_cast<int>(document()->size().height()) + 4);
  }
};

}  // namespace

LessonParts parts_of(const QString& markdown) {
  static const QRegularExpression run(QStringLiteral("^## Run\\s*$"), QRegularExpression::MultilineOption);
  static const QRegularExpression after(QStringLiteral("^## (Compare|Explain)\\s*$"),
                                        QRegularExpression::MultilineOption);
  const qsizetype after_at = markdown.indexOf(after);
  const QString told_before = after_at < 0 ? markdown : markdown.left(after_at);
  const qsizetype run_at = told_before.indexOf(run);
  LessonParts parts;
  parts.before = (run_at < 0 ? told_before : told_before.left(run_at)).trimmed();
  parts.run = run_at < 0 ? QString() : told_before.mid(run_at).trimmed();
  parts.after = after_at < 0 ? QString() : markdown.mid(after_at).trimmed();
  return parts;
}

LabPanel::LabPanel(FiguresModel& figures, ClassRoom* room, QWidget* parent)
    : QScrollArea(parent), figures_(figures), room_(room), labs_(all_labs()), colours_(&palette_of(Theme::dark)) {
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
    answers_.clear();
    told_to_class_.clear();
    if (lab_)
      for (const Question& question : lab_->questions) answers_.emplace_back().question = question;
  }
  rebuild();
  emit answers_changed();
}

std::optional<Lab> LabPanel::lab_titled(const std::string& title) const {
  const auto found = std::find_if(labs_.begin(), labs_.end(), [&](const Lab& lab) { return lab.title == title; });
  return found == labs_.end() ? std::nullopt : std::optional(*found);
}

void LabPanel::set_paths(PathCache* paths) {
  paths_ = paths;
  if (paths_ != nullptr) connect(paths_, &PathCache::changed, this, &LabPanel::take_figures);
}

void LabPanel::set_theme(Theme theme) {
  colours_ = &palette_of(theme);
  rebuild();
}

void LabPanel::rebuild() {
  if (!place_) place_ = verticalScrollBar()->value();
  class_updates_.clear();
  first_question_ = nullptr;
  class_line_ = nullptr;
  page_ = new QWidget;
  layout_ = new QVBoxLayout(page_);
  layout_->setContentsMargins(16, 16, 16, 16);
  layout_->setSpacing(8);
  if (lab_) {
    const auto here = std::find_if(labs_.begin(), labs_.end(), [&](const Lab& lab) { return lab.file == lab_->file; });
    if (here != labs_.end())
      layout_->addWidget(
          make_label(tr("LAB %1 OF %2").arg(here - labs_.begin() + 1).arg(labs_.size()), "caption", page_));
  }
  if (room_ != nullptr && (room_->teaching() || room_->attending())) {
    class_line_ = make_label(room_->words(), "caption", page_);
    layout_->addWidget(class_line_);
  }
  layout_->addWidget(make_label(title_.isEmpty() ? tr("Nothing is open") : title_, "title", page_));
  if (!summary_.isEmpty()) layout_->addWidget(make_label(summary_, "dim", page_));
  if (lab_) {
    add_way_to_questions();
    add_lesson();
  } else if (!title_.isEmpty() && summary_.isEmpty()) {
    layout_->addWidget(
        make_label(tr("This scenario has no lesson. Change the plan at the right, or press Run."), "dim", page_));
  } else if (title_.isEmpty()) {
    layout_->addWidget(make_label(
        tr("Pick a lab above, or open a scenario (.toml) or a recording (.mcap) with Ctrl+O. rankscope tcp://HOST:PORT "
           "watches a run elsewhere."),
        "dim", page_));
  }
  layout_->addStretch(1);
  if (lab_) add_next_lab();
  setWidget(page_);
  fit_width();
  // Another page begins at its top, and the lesson's texts take their heights once they are shown.
  QTimer::singleShot(0, page_, [this] { verticalScrollBar()->setValue(*std::exchange(place_, std::nullopt)); });
}

// The narrowest that breaks no word and cuts no number. A word that is longer than the panel should ever be is broken.
void LabPanel::fit_width() {
  int needed = least_width;
  for (const auto* text : page_->findChildren<LessonText*>()) needed = std::max(needed, text->longest_word());
  const QMargins around = layout_->contentsMargins();
  needed += around.left() + around.right();
  needed = std::max(needed, page_->minimumSizeHint().width()) + verticalScrollBar()->sizeHint().width();
  setMinimumWidth(std::min(needed, widest_least));
}

// A lesson is longer than the panel: whoever does not read to its end would not know why the answers are hidden.
void LabPanel::add_way_to_questions() {
  const auto open = std::count_if(answers_.begin(), answers_.end(), [](const Answer& answer) { return !answer.guess; });
  if (open == 0) return;
  const QString when = answered_by_looking() ? tr("before you look") : tr("before you run");
  auto* way =
      new QPushButton(open == 1 ? tr("A question %1 ↓").arg(when) : tr("%1 questions %2 ↓").arg(open).arg(when), page_);
  way->setProperty("role", QStringLiteral("link"));
  way->setToolTip(tr("What they ask for is hidden until they are answered"));
  connect(way, &QPushButton::clicked, this, &LabPanel::show_question);
  layout_->addWidget(way, 0, Qt::AlignLeft);
}

void LabPanel::add_lesson() {
  const LessonParts parts = parts_of(QString::fromStdString(lab_->text));
  add_text(parts.before);
  for (std::size_t i = 0; i < answers_.size(); ++i) add_question(i);
  add_text(parts.run);
  const bool told = std::all_of(answers_.begin(), answers_.end(), [](const Answer& answer) { return answer.open(); });
  if (told)
    add_text(parts.after);
  else if (!parts.after.isEmpty())
    layout_->addWidget(make_label(answered_by_looking()
                                      ? tr("What to compare, and why it is so, opens when you have answered.")
                                      : tr("What to compare, and why it is so, opens when you have answered and run."),
                                  "dim", page_));
}

void LabPanel::add_text(const QString& markdown) {
  if (markdown.isEmpty()) return;
  auto* text = new LessonText(page_);
  text->setAccessibleName(tr("The lesson"));
  text->set_lesson(markdown);
  layout_->addWidget(text);
}

void LabPanel::add_question(std::size_t index) {
  const Answer& answer = answers_[index];
  auto* card = new QFrame(page_);
  card->setProperty("role", QStringLiteral("card"));
  auto* column = new QVBoxLayout(card);
  column->setContentsMargins(12, 10, 12, 12);
  column->setSpacing(8);
  const QString before = simulated_ || answer.of_paths() ? tr("Before you look") : tr("Before you run");
  column->addWidget(make_label(answer.guess ? tr("Your prediction") : before, "caption", card));
  column->addWidget(make_label(QString::fromStdString(answer.question.ask), "text", card));
  const bool share = answer.question.unit == "%";
  if (answer.question.drawn() && (!answer.guess || !answer.drawn.empty())) add_sketch(index, *column, card);
  if (!answer.guess) {
    if (!answer.question.drawn()) add_guess(index, *column, card);
  } else if (!answer.open()) {
    if (share) add_drawn(answer, *column, card);
    const QString kept = answer.drawn.empty() ? tr("%1 is kept.").arg(value_text(answer.question, *answer.guess))
                                              : tr("What you drew is kept.");
    const QString then = answer.of_paths() ? tr(" The optimizers walk.")
                         : simulated_      ? tr(" The simulation is under way.")
                                           : tr(" Press Run to see.");
    column->addWidget(make_label(kept + then, "dim", card));
  } else {
    if (share) add_drawn(answer, *column, card);
    if (!answer.drawn.empty())
      column->addWidget(
          make_label(tr("What you drew is %1 off, on average.").arg(value_text(answer.question, answer.distance())),
                     "text", card));
    else
      column->addWidget(make_label(tr("You said %1, %2: %3.")
                                       .arg(value_text(answer.question, *answer.guess), told_by(answer),
                                            value_text(answer.question, *answer.measured)),
                                   "text", card));
    column->addWidget(make_label(
        answer.right() ? tr("Right, within %1.").arg(value_text(answer.question, answer.question.tolerance))
                       : tr("More than %1 apart.").arg(value_text(answer.question, answer.question.tolerance)),
        answer.right() ? "good" : "bad", card));
    if (!answer.question.why.empty())
      column->addWidget(make_label(QString::fromStdString(answer.question.why), "dim", card));
    if (answer.of_paths()) {
      auto* look = new QPushButton(tr("Look at these paths"), card);
      look->setProperty("role", QStringLiteral("link"));
      connect(look, &QPushButton::clicked, this,
              [this, request = *answer.question.paths] { emit paths_wanted(request); });
      column->addWidget(look, 0, Qt::AlignLeft);
    }
  }
  if (room_ != nullptr && room_->teaching()) add_class(index, *column, card);
  layout_->addWidget(card);
  if (first_question_ == nullptr && !answer.guess) first_question_ = card;
}

void LabPanel::show_question() {
  if (first_question_ != nullptr) verticalScrollBar()->setValue(first_question_->y() - layout_->spacing());
}

QString LabPanel::told_by(const Answer& answer) const {
  if (answer.of_paths()) return tr("computed");
  const auto figures = figures_.latest();
  return simulated_ && !figures->run ? tr("simulated") : run_column_name(*figures);
}

bool LabPanel::answered_by_looking() const {
  return simulated_ ||
         std::all_of(answers_.begin(), answers_.end(), [](const Answer& answer) { return answer.of_paths(); });
}

void LabPanel::add_drawn(const Answer& answer, QVBoxLayout& column, QWidget* card) {
  auto* drawn = new ShareGuess(*colours_, card);
  drawn->set_value(*answer.guess);
  drawn->set_kept(true);
  drawn->set_measured(answer.measured, told_by(answer));
  column.addWidget(drawn);
}

void LabPanel::add_sketch(std::size_t index, QVBoxLayout& column, QWidget* card) {
  const Answer& answer = answers_[index];
  const Question& question = answer.question;
  const QString path = QString::fromStdString(question.answer_from);
  const std::size_t count = answer.guess ? answer.drawn.size() : series_size(figures_.latest()->scenario, path);
  if (count == 0) {
    waits_for_size_ = true;
    return;
  }
  auto* sketch = new Sketch(*colours_, count, question.most, QString::fromStdString(question.unit),
                            path.startsWith(QLatin1String("steps")) ? tr("step") : tr("rank"), card);
  sketch->setAccessibleName(QString::fromStdString(question.ask));
  column.addWidget(sketch);
  if (answer.guess) {
    sketch->set_values(answer.drawn);
    sketch->set_kept(true);
    if (answer.open()) sketch->set_measured(answer.series, told_by(answer));
    return;
  }
  auto* keep = new QPushButton(tr("Keep my drawing"), card);
  keep->setEnabled(false);
  connect(sketch, &Sketch::drawn, keep, [keep] { keep->setEnabled(true); });
  connect(keep, &QPushButton::clicked, this, [this, index, sketch] { keep_drawing(index, sketch->values()); });
  column.addWidget(keep);
}

void LabPanel::keep_drawing(std::size_t question, const std::vector<double>& values) {
  if (question >= answers_.size() || answers_[question].guess || values.empty()) return;
  answers_[question].drawn = values;
  keep_guess(question, std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
}

void LabPanel::add_guess(std::size_t index, QVBoxLayout& column, QWidget* card) {
  const Question& question = answers_[index].question;
  const bool share = question.unit == "%";
  auto* box = new QDoubleSpinBox(card);
  box->setRange(0, share ? 100 : 1e12);
  box->setDecimals(share || question.unit == "steps" ? 0 : 2);
  if (!question.unit.empty()) box->setSuffix(QLatin1Char(' ') + QString::fromStdString(question.unit));
  box->setButtonSymbols(QAbstractSpinBox::NoButtons);
  box->setAccessibleName(QString::fromStdString(question.ask));
  box->setFont(number_font());
  // As wide as there is room, not as the greatest number that could be typed: the page would be wider than the panel.
  box->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  const QString widest = share ? QStringLiteral("100 %") : box->textFromValue(99'999) + box->suffix();
  box->setMinimumWidth(box->fontMetrics().horizontalAdvance(widest) + 26);  // with the style's padding
  if (share) {
    auto* drawn = new ShareGuess(*colours_, card);
    drawn->setAccessibleName(QString::fromStdString(question.ask));
    connect(drawn, &ShareGuess::value_changed, box, &QDoubleSpinBox::setValue);
    connect(box, &QDoubleSpinBox::valueChanged, drawn, &ShareGuess::set_value);
    column.addWidget(drawn);
  }
  auto* row = new QHBoxLayout;
  auto* keep = new QPushButton(tr("Keep my answer"), card);
  connect(keep, &QPushButton::clicked, this, [this, index, box] { keep_guess(index, box->value()); });
  row->addWidget(box, 1);
  row->addWidget(keep);
  column.addLayout(row);
}

// What others have said would be a hint: the teacher's window, which all see, keeps it back until it is asked for.
void LabPanel::add_class(std::size_t index, QVBoxLayout& column, QWidget* card) {
  const auto guesses = [this, index] { return room_->guesses(lab_name(), static_cast<int>(index)); };
  const auto count = [guesses] {
    const auto answers = guesses().size();
    return answers == 1 ? tr("The class: 1 answer") : tr("The class: %1 answers").arg(answers);
  };
  if (told_to_class_.count(index) == 0) {
    auto* show = new QPushButton(card);
    connect(show, &QPushButton::clicked, this, [this, index] {
      told_to_class_.insert(index);
      rebuild();
    });
    class_updates_.push_back([show, count] { show->setText(tr("%1 · show").arg(count())); });
    column.addWidget(show);
  } else {
    const Answer& answer = answers_[index];
    auto* line = make_label({}, "caption", card);
    auto* histogram = new GuessHistogram(*colours_, QString::fromStdString(answer.question.unit), card);
    if (answer.open()) histogram->set_measured(answer.measured);
    class_updates_.push_back([line, histogram, guesses, count] {
      line->setText(count());
      histogram->set_guesses(guesses());
    });
    column.addWidget(line);
    column.addWidget(histogram);
  }
  class_updates_.back()();
}

QString LabPanel::hidden_until() const {
  return answered_by_looking() ? tr("until the question is answered")
                               : tr("until the question is answered and the plan has run");
}

QString LabPanel::lab_name() const {
  return lab_ ? QFileInfo(QString::fromStdString(lab_->file)).completeBaseName() : QString();
}

// In place where it can be: one may be about to type.
void LabPanel::take_class() {
  const bool in_class = room_->teaching() || room_->attending();
  if (in_class != (class_line_ != nullptr) || room_->teaching() != was_teaching_) {
    was_teaching_ = room_->teaching();
    rebuild();
  }
  if (class_line_ != nullptr) class_line_->setText(room_->words());
  for (const auto& update : class_updates_) update();
}

void LabPanel::add_next_lab() {
  for (std::size_t i = 0; i + 1 < labs_.size(); ++i) {
    if (labs_[i].file != lab_->file) continue;
    auto* next = new QPushButton(page_);
    const QString title = tr("Next: %1").arg(QString::fromStdString(labs_[i + 1].title));
    next->setText(in_lines(title, next->fontMetrics(), least_width - 26));
    next->setAccessibleName(title);
    const QString file = QString::fromStdString(labs_[i + 1].file);
    connect(next, &QPushButton::clicked, this, [this, file] { emit lab_wanted(file); });
    layout_->addWidget(next);
  }
}

void LabPanel::keep_guess(std::size_t question, double guess) {
  if (question >= answers_.size() || answers_[question].guess) return;
  answers_[question].guess = guess;
  answers_[question].measured.reset();
  if (room_ != nullptr) room_->answer(lab_name(), static_cast<int>(question), guess);
  take_figures();
  rebuild();
  emit answers_changed();
}

// An answer before the guess would be told by the tables: there it is hidden until the guess is kept.
std::optional<double> LabPanel::told_of(Answer& answer, const Report* told) const {
  if (!answer.guess) return std::nullopt;
  const QString from = QString::fromStdString(answer.question.answer_from);
  std::optional<double> value;
  if (answer.of_paths()) {
    if (const auto paths = paths_ != nullptr ? paths_->get(*answer.question.paths) : nullptr)
      value = path_value(*paths, from);
  } else if (told != nullptr && answer.question.drawn()) {
    answer.series = report_series(*told, from);
    double sum = 0;
    for (double& one : answer.series) sum += one *= answer.question.scale;
    if (answer.series.empty() || !std::isfinite(sum)) return std::nullopt;
    return sum / static_cast<double>(answer.series.size());
  } else if (told != nullptr) {
    value = report_value(*told, from);
  }
  return value ? std::optional(*value * answer.question.scale) : std::nullopt;
}

void LabPanel::take_figures() {
  const auto figures = figures_.latest();
  const Report* told = figures->run                       ? &*figures->run
                       : simulated_ && figures->predicted ? &*figures->predicted
                                                          : nullptr;
  bool changed = std::exchange(waits_for_size_, false) && figures->scenario;
  for (Answer& answer : answers_) {
    if (answer.open() && (edited_ || answer.of_paths())) continue;
    const std::optional<double> measured = told_of(answer, told);
    if (measured == answer.measured) continue;
    // Live, the value moves with every step: only what a person reads as another value redraws the card.
    changed = changed || !answer.measured || !measured ||
              value_text(answer.question, *measured) != value_text(answer.question, *answer.measured);
    answer.measured = measured;
  }
  if (!changed) return;
  rebuild();
  emit answers_changed();
}

}  // namespace rankscope::app
