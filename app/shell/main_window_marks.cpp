// SPDX-License-Identifier: GPL-3.0-or-later
// Marks: a note at a moment, a time range or an op, saved in the recording. Ctrl+D makes or changes one.
#include <QAction>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/models/steps.hpp"
#include "app/models/time_window.hpp"
#include "app/shell/banner.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/status_line.hpp"
#include "app/shell/view_history.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/text.hpp"
#include "app/views/timeline/timeline_view.hpp"

namespace rankscope::app {
namespace {

const QString mark_subject = QStringLiteral("mark");
constexpr int longest_note = 400;  ///< letters: with four bytes each they still fit a mark
constexpr int note_width = 420;
constexpr double same_pixels = 5;  ///< moments with this distance on the screen are the same

bool is_same_place(const TraceMark& a, const TraceMark& b) {
  return a.obtained == b.obtained && a.op == b.op && a.rank == b.rank && a.step == b.step &&
         (a.op.valid() || a.time == b.time);
}

}  // namespace

void MainWindow::make_mark_actions(QMenu* menu) {
  QAction* mark = add_action(tr("Mark this moment or op…"), Qt::CTRL | Qt::Key_D, [this] { mark_now(); });
  QAction* list = add_action(tr("Marks…"), Qt::CTRL | Qt::SHIFT | Qt::Key_D, [this] {
    show_choices(tr("Marks"), tr("Find a mark…"), [this](const QString& query) {
      Choices choices = marks_for(query);
      choices.note = !choices.list.isEmpty()      ? tr("Enter: go to the mark; Ctrl+D then changes or deletes it")
                     : !marks_.marks().empty()    ? tr("No mark has these words")
                     : marks_.why_not().isEmpty() ? tr("No marks yet: Ctrl+D makes one")
                                                  : marks_.why_not();
      return choices;
    });
  });
  menu->addAction(mark);
  menu->addAction(list);
  history_->keep_marks(marks_);
  const auto take = [this] {
    timeline_->set_marks(marks_.marks(), marks_.can_mark());
    status_->set_marks(marks_.marks().size());
  };
  connect(&marks_, &MarkBook::changed, this, take);
  connect(&marks_, &MarkBook::not_saved, this, [this](const QString& why) {
    banner_->show_message(mark_subject, BannerKind::error, tr("Not saved: %1").arg(why));
    add_log(why, true);
  });
  connect(&session_, &Session::left, this, [this] { banner_->clear(mark_subject); });
  connect(timeline_, &TimelineView::mark_wanted, this, [this](std::size_t i) { go_to(marks_.marks().at(i)); });
  connect(timeline_, &TimelineView::mark_change_wanted, this,
          [this](std::size_t i) { edit_mark(marks_.marks().at(i)); });
  connect(timeline_, &TimelineView::mark_delete_wanted, this,
          [this](std::size_t i) { put_mark(marks_.marks().at(i), {}); });
  connect(timeline_, &TimelineView::new_mark_wanted, this, &MainWindow::edit_mark);
  take();
}

// The chosen op, else the chosen range, else the cursor's moment, else the visible range.
void MainWindow::mark_now() {
  if (!marks_.can_mark()) return banner_->show_message(mark_subject, BannerKind::info, marks_.why_not());
  TraceMark mark;
  mark.obtained = state_.shown();
  if (const auto& box = timeline_->scene().selected; box && state_.selected()) {
    mark.time = {box->box.begin_ns, box->box.end_ns};
    mark.op = box->box.first_op;
    mark.rank = box->lane.rank;
    mark.step = box->box.step;
    return edit_mark(mark);
  }
  mark.time = state_.visible();
  if (!state_.selected_range().empty())
    mark.time = state_.selected_range();
  else if (const auto cursor = state_.cursor())
    mark.time = {*cursor, *cursor};
  if (const auto step = step_at(*session_.view(), mark.obtained, mark.time.begin_ns)) mark.step = step->step;
  // A moment near a mark means that mark.
  const double near = same_pixels * timeline_->scene().scale().ns_per_pixel();
  for (const TraceMark& known : marks_.marks())
    if (mark.time.empty() && known.time.empty() && known.obtained == mark.obtained &&
        std::abs(static_cast<double>(known.time.begin_ns - mark.time.begin_ns)) < near)
      return edit_mark(known);
  edit_mark(mark);
}

void MainWindow::edit_mark(const TraceMark& place) {
  const auto& marks = marks_.marks();
  const auto known =
      std::find_if(marks.begin(), marks.end(), [&](const TraceMark& mark) { return is_same_place(mark, place); });
  const bool is_new = known == marks.end();
  const TraceMark old = is_new ? place : *known;
  auto* dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setModal(true);
  dialog->setWindowTitle(is_new ? tr("New mark") : tr("Change a mark"));
  auto* column = new QVBoxLayout(dialog);
  auto* where = make_label(words_of(old), "dim", dialog);
  auto* note = new QLineEdit(QString::fromStdString(old.text), dialog);
  note->setMaxLength(longest_note);
  note->setMinimumWidth(note_width);
  note->setPlaceholderText(tr("A note, saved in the recording"));
  note->setAccessibleName(tr("Note on %1").arg(where->text()));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, dialog);
  for (QWidget* widget : {static_cast<QWidget*>(where), static_cast<QWidget*>(note), static_cast<QWidget*>(buttons)})
    column->addWidget(widget);
  QPushButton* save = buttons->button(QDialogButtonBox::Save);
  save->setDefault(true);
  const auto take_text = [save, note] { save->setEnabled(!note->text().trimmed().isEmpty()); };
  connect(note, &QLineEdit::textChanged, save, take_text);
  take_text();
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
  connect(buttons, &QDialogButtonBox::accepted, dialog, [this, dialog, note, old] {
    TraceMark mark = old;
    mark.text = note->text().trimmed().toStdString();
    put_mark(old, mark);
    dialog->close();
  });
  if (!is_new)
    connect(buttons->addButton(tr("Delete"), QDialogButtonBox::DestructiveRole), &QPushButton::clicked, dialog,
            [this, dialog, old] {
              put_mark(old, {});
              dialog->close();
            });
  dialog->show();
  note->setFocus();
  note->selectAll();
}

// Replaces `old`, which may be new, by `mark`; none: removes it.
void MainWindow::put_mark(const TraceMark& old, const std::optional<TraceMark>& mark) {
  if (!marks_.can_mark()) return banner_->show_message(mark_subject, BannerKind::info, marks_.why_not());
  banner_->clear(mark_subject);
  std::vector<TraceMark> marks = marks_.marks();
  if (const auto known = std::find(marks.begin(), marks.end(), old); known != marks.end()) marks.erase(known);
  if (mark) marks.push_back(*mark);
  marks_.set(std::move(marks));
}

Choices MainWindow::marks_for(const QString& query) {
  Choices choices;
  for (const TraceMark& mark : marks_.marks()) {
    const QString note = QString::fromStdString(mark.text).simplified(), where = words_of(mark);
    if (query.trimmed().isEmpty() || has_words((note + QLatin1Char(' ') + where).toStdString(), query.toStdString()))
      choices.list << Choice{note, where, [this, mark] { go_to(mark); }};
  }
  return choices;
}

// To its step, its range and its op.
void MainWindow::go_to(const TraceMark& mark) {
  const auto view = session_.view();
  const TimeRange there = view->extent(mark.obtained);
  const bool op_there = mark.op.valid() && mark.step && view->find(mark.rank, *mark.step, mark.op, mark.obtained);
  if (there.empty() || mark.time.end_ns < there.begin_ns || mark.time.begin_ns > there.end_ns)
    return add_log(tr("“%1” marks a time that is not in the data").arg(QString::fromStdString(mark.text)), false);
  const TimeRange time{std::max(mark.time.begin_ns, there.begin_ns), std::min(mark.time.end_ns, there.end_ns)};
  if (state_.shown() != mark.obtained) state_.set_shown(mark.obtained);
  state_.hold();
  if (mark.step && view->step_range(mark.obtained, *mark.step)) state_.set_step(mark.step);
  state_.set_selected(op_there ? std::optional(SpanRef{mark.rank, *mark.step, mark.op, mark.obtained}) : std::nullopt);
  state_.set_selected_range(op_there ? TimeRange{} : time);
  const std::int64_t length = state_.visible().length(), middle = time.begin_ns + time.length() / 2;
  if (!time.empty())
    state_.set_visible(widened(time, op_there ? 3.0 : 0.05));
  else if (time.begin_ns < state_.visible().begin_ns || time.begin_ns > state_.visible().end_ns)
    state_.set_visible({middle - length / 2, middle - length / 2 + length});
  if (op_there) timeline_->reveal(mark.rank);
  timeline_->setFocus();
  state_.set_cursor(time.begin_ns);
}

}  // namespace rankscope::app
