// SPDX-License-Identifier: GPL-3.0-or-later
// Standard actions of the window: find (Ctrl+F), copy (Ctrl+C), print, the manual, About.
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QPrintDialog>
#include <QPrinter>

#include "app/models/steps.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/manual.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/language.hpp"
#include "app/views/common/text.hpp"
#include "app/views/memory/memory_view.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "engine/lesson/lab/lab.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/resources.hpp"

namespace rankscope::app {
namespace {

constexpr std::size_t most_found = 40;  ///< of each kind: more than fits a list of this size

QString kind_of(const Found& found) {
  switch (found.kind) {
    case Found::Kind::rank: return QString::fromStdString(found.detail);
    case Found::Kind::op: return QString::fromStdString(found.detail);
    case Found::Kind::tensor:
      return QStringLiteral("%1, %2").arg(QString::fromStdString(found.detail),
                                          text::bytes(static_cast<double>(found.bytes)));
  }
  return {};
}

/// The title of a lesson; empty if the file is not one.
QString lesson_title(const std::filesystem::path& file) {
  try {
    const auto lab = read_lab(file.string());
    if (!lab) return {};
    const Lab shown = in_language(*lab, lesson_language());
    return with_language(shown.title, shown.language);
  } catch (const ScenarioError&) {
    return {};  // it is reported when the file is opened
  }
}

}  // namespace

void MainWindow::make_find_actions(QMenu* menu) {
  QAction* find = add_action(tr("Find an op, a rank, a tensor, a mark or a lesson…"), QKeySequence::Find, [this] {
    show_choices(tr("Find"), tr("Find an op, a rank, a tensor, a mark or a lesson…"),
                 [this](const QString& query) { return choices_for(query); });
  });
  QAction* copy = add_action(tr("Copy selection"), QKeySequence::Copy, [this] {
    const QString text = active_view()->selected_text();
    if (text.isEmpty()) return add_log(tr("Nothing to copy: the view shows no table and nothing is selected"), false);
    QApplication::clipboard()->setText(text);
  });
  QAction* print = add_action(tr("Print this view…"), {}, [this] { print_view(); });
  QAction* manual = add_action(tr("Manual"), QKeySequence::HelpContents, [this] { show_manual(this); });
  QAction* about = add_action(tr("About Rankscope"), {}, [this] {
    auto* box = new QMessageBox(QMessageBox::NoIcon, tr("About Rankscope"), about_text(session_.engine_program()),
                                QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    box->show();
  });
  for (QAction* action : {find, copy, print, manual, about}) menu->addAction(action);
}

void MainWindow::show_choices(const QString& name, const QString& placeholder,
                              std::function<Choices(const QString&)> choices_for) {
  auto* palette = new ChoicePalette(name, placeholder, std::move(choices_for), this);
  palette->move(mapToGlobal(QPoint((width() - palette->width()) / 2, 64)));
  palette->show();
}

Choices MainWindow::choices_for(const QString& query) {
  Choices choices = marks_for(query);
  const std::string words = query.toStdString();
  if (query.trimmed().isEmpty()) {
    choices.note = tr("Words of a name in any order: “backward m3 rank 2”, “c_fc weight”, “zero”");
    return choices;
  }
  const auto plan = plan_of(*session_.view());
  Findings findings;
  if (plan != nullptr)
    findings =
        find_in([this](std::int32_t rank) { return session_.insights().program(rank); }, *plan, words, most_found);
  for (const Found& found : findings.found)
    choices.list << Choice{QString::fromStdString(found.title), kind_of(found), [this, found] { go_to(found); }};
  for (const auto& file : resource_files("labs"))
    if (const QString title = lesson_title(file); has_words(title.toStdString(), words))
      choices.list << Choice{title, tr("lesson"), [this, name = QString::fromStdString(file.string())] { open(name); }};
  if (choices.list.isEmpty())
    choices.note = plan == nullptr ? tr("No lesson has these words; open a plan or a run to find ops")
                                   : tr("Nothing matches all of these words");
  else if (!findings.complete)
    choices.note = tr("More matches: add a word");
  return choices;
}

// The rank's row; for an op or a tensor also the op in the current step.
void MainWindow::go_to(const Found& found) {
  if (found.op.valid()) {
    const auto view = session_.view();
    const auto step = state_.step() ? state_.step() : last_whole_step(*view, state_.shown());
    if (!step || !view->find(found.rank, *step, found.op, state_.shown()))
      return add_log(
          tr("%1 is in the program, but not in the data of this step").arg(QString::fromStdString(found.title)), false);
    state_.set_selected_range({});
    state_.set_selected(SpanRef{found.rank, *step, found.op, state_.shown()});
    state_.hold();
    navigator_.fit();
  }
  timeline_->reveal(found.rank);
  if (found.kind == Found::Kind::tensor) workspace_->bring(views_[QStringLiteral("memory")]);
  static_cast<MemoryView*>(views_[QStringLiteral("memory")])->set_rank(found.rank);
  timeline_->setFocus();
}

void MainWindow::print_view() {
  QPrinter printer(QPrinter::HighResolution);
  printer.setPageOrientation(QPageLayout::Landscape);
  QPrintDialog dialog(&printer, this);
  if (dialog.exec() == QDialog::Accepted) print_on(printer);
}

void MainWindow::print_on(QPrinter& printer) {
  DataView* view = active_view();
  QPainter painter(&printer);
  const QRectF page = printer.pageLayout().paintRectPixels(printer.resolution());
  const double scale = std::min(page.width() / view->width(), page.height() / view->height());
  painter.scale(scale, scale);
  const Theme theme = theme_;
  view->set_theme(Theme::light);  // paper is white
  view->render(&painter);
  view->set_theme(theme);
}

}  // namespace rankscope::app
