// SPDX-License-Identifier: GPL-3.0-or-later
// A window as a user has it: its texts, and its keys and buttons.
#pragma once
#include <QAbstractButton>
#include <QFile>
#include <QLabel>
#include <QTemporaryDir>
#include <QTest>

#include "app/lesson/lab_panel.hpp"
#include "app/shell/main_window.hpp"
#include "app/views/common/style.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

namespace rankscope::app {

/// Made and shown; nothing is open in it.
inline std::unique_ptr<MainWindow> empty_window(SessionOptions options = {}, bool remember = false) {
  application().setFont(interface_font());  // like the program
  auto window = std::make_unique<MainWindow>(std::move(options), Theme::dark, remember);
  window->resize(1366, 720);
  window->show();
  window->activateWindow();
  return window;
}

inline bool is_ready(MainWindow& window) {
  return wait_until([&] { return window.session().state() == SessionState::ready && window.settled(); });
}

inline std::unique_ptr<MainWindow> window_on_lab(const QString& source, SessionOptions options = {}) {
  auto window = empty_window(std::move(options));
  window->open(source);
  REQUIRE(is_ready(*window));
  return window;
}

/// The same in a window of a fixed size, which is not the active one.
inline std::unique_ptr<MainWindow> window_on(const QString& source) {
  application().setFont(interface_font());  // like the program
  auto window = std::make_unique<MainWindow>(SessionOptions{}, Theme::dark, false);
  window->resize(1280, 800);
  window->show();
  window->open(source);
  REQUIRE(is_ready(*window));
  return window;
}

/// The visible button of that name; null for none.
inline QAbstractButton* button_named(QWidget& parent, const QString& text) {
  for (auto* button : parent.findChildren<QAbstractButton*>())
    if (button->text() == text && button->isVisible()) return button;
  return nullptr;
}

/// The texts of all visible labels.
inline QString words_in(QWidget& parent) {
  QStringList all;
  for (const auto* label : parent.findChildren<QLabel*>())
    if (label->isVisible()) all << label->text();
  return all.join(QLatin1Char('\n'));
}

inline QString write_file(const QTemporaryDir& folder, const char* name, const QByteArray& bytes) {
  QFile file(folder.filePath(name));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(bytes);
  file.close();
  return file.fileName();
}

/// Two stages on this machine, so small that steps take milliseconds.
inline QByteArray small_plan(int steps) {
  return "title = \"a small pipeline\"\n[model]\nlayers = 4\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 64\n"
         "[plan]\npipeline = 2\nmicro_batches = 4\n[train]\nglobal_batch = 16\nsteps = " +
         QByteArray::number(steps) + "\n";
}

/// The same with a lesson of these questions ([[lab.questions]] …).
inline QByteArray small_lesson(const QByteArray& questions, int steps = 4) {
  return small_plan(steps) + "[lab]\nsummary = \"How long two stages wait\"\ntext = \"\"\"\n## Read\n" +
         QByteArray("A line of words that is as long as a line of a lesson.\n\n").repeated(40) +
         "## Run\nPress it.\n## Explain\nSo it is.\n\"\"\"\n" + questions;
}
/// With this machine's run as the reference for answers.
inline const QByteArray bubble_question =
    "[[lab.questions]]\nask = \"What share is bubble?\"\nunit = \"%\"\nanswer_from = \"bubble.measured\"\n"
    "tolerance = 4\nwhy = \"It is so.\"\n";
inline const QByteArray memory_question =
    "[[lab.questions]]\nask = \"Draw the peak of each rank.\"\nunit = \"MiB\"\nanswer_from = \"memory.*.peak\"\n"
    "most = 8\ntolerance = 1\n";
inline const QByteArray formula_question =
    "[[lab.questions]]\nask = \"What share is bubble, by the formula?\"\nunit = \"%\"\nformula = \"100 * 1/5\"\n"
    "answer_from = \"bubble.measured\"\ntolerance = 1\nhint = \"Count the steps of a stage.\"\n"
    "mistakes = [{ near = 25, because = \"That is a share of the useful time.\" }]\nwhy = \"One of five.\"\n";

/// The same number for every question that accepts one; a drawing of it, or the first option, for the others.
inline Attempt some_attempt(const Answer& answer, double number) {
  switch (answer.question.kind) {
    case QuestionKind::choice: return answer.question.options.front();
    case QuestionKind::order: return shuffled(answer.question);
    case QuestionKind::draw: return std::vector<double>(4, number);
    case QuestionKind::point: return PointedOp{};
    case QuestionKind::number: break;
  }
  return number;
}

/// Answers everything until no question needs an answer, or a run must judge.
inline void answer_all(LabPanel& lab, double number) {
  for (std::size_t i = 0; i < lab.answers().size(); ++i)
    for (std::size_t t = 0; t < most_tries && lab.answers()[i].accepts_try(); ++t)
      lab.keep(i, some_attempt(lab.answers()[i], number));
}

inline SessionOptions real_engine() {
  SessionOptions options;
  options.engine = QString::fromStdString(test::program("rankscope-engine"));
  options.start_limit_ms = 60000;
  return options;
}

}  // namespace rankscope::app
