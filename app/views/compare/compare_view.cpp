// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/compare/compare_view.hpp"

#include <QFileDialog>
#include <QHeaderView>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>

#include "app/models/steps.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/compare/compare_rows.hpp"
#include "app/views/timeline/timeline_view.hpp"

namespace rankscope::app {
namespace {

constexpr int line = 20, control_height = 30;
constexpr int table_width = 480;      ///< five columns of numbers
constexpr int least_time_line = 150;  ///< of a run, to be readable
constexpr int most_recordings_listed = 8;

}  // namespace

CompareView::CompareView(SharedState& state, Session& session, Navigator& navigator, QWidget* parent)
    : DataView(state, session, parent),
      session_(session),
      navigator_(navigator),
      other_navigator_(other_state_, other_),
      choice_(new QPushButton(this)),
      menu_(new QMenu(this)),
      by_(new QComboBox(this)),
      name_a_(new ElidedLabel(this)),
      name_b_(new ElidedLabel(this)),
      words_(new ElidedLabel(this, "text")),
      table_(new RowsTable(compare_titles(), 1, tr("Differences of the two runs"), this)) {
  time_a_ = new TimelineView(state, session, navigator, &session.insights(), this);
  time_b_ = new TimelineView(other_state_, other_, other_navigator_, &other_.insights(), this);
  time_a_->setAccessibleName(tr("Time line of run A"));
  time_b_->setAccessibleName(tr("Time line of run B"));
  make_controls();
  connect(&session, &Session::run_left, this, &CompareView::take_previous);
  connect(&session.figures(), &FiguresModel::changed, this, &CompareView::take_figures);
  connect(&session, &Session::scenario_changed, this, &CompareView::take_figures);
  connect(&other_.figures(), &FiguresModel::changed, this, &CompareView::take_figures);
  connect(&other_, &OtherRun::state_changed, this, &CompareView::take_other);
  connect(&state, &SharedState::visible_changed, this, &CompareView::align);
  connect(&state, &SharedState::step_changed, this, &CompareView::align);
  connect(&other_state_, &SharedState::visible_changed, this, &CompareView::follow_other);
  connect(&state, &SharedState::selected_changed, this, [this] {
    couple_selection(this->state(), other_state_, *other_.view(), other_state_.shown(), other_state_.step());
  });
  connect(&other_state_, &SharedState::selected_changed, this, [this] {
    couple_selection(other_state_, this->state(), *session_.view(), this->state().shown(), this->state().step());
  });
  take_other();
}

// The time lines' threads read the other run: they are stopped first.
CompareView::~CompareView() {
  delete time_a_;
  delete time_b_;
}

void CompareView::make_controls() {
  choice_->setText(tr("Compare with…"));
  choice_->setProperty("role", QStringLiteral("menu"));
  choice_->setMenu(menu_);
  connect(menu_, &QMenu::aboutToShow, this, &CompareView::fill_menu);
  for (int i = 0; i < compare_by_count; ++i) by_->addItem(label_of(static_cast<CompareBy>(i)));
  by_->setAccessibleName(tr("Steps to compare"));
  connect(by_, &QComboBox::currentIndexChanged, this, &CompareView::take_figures);
}

bool CompareView::settled() const {
  return other_.settled() && (!time_b_->isVisible() || time_b_->settled()) &&
         (!time_a_->isVisible() || time_a_->settled());
}

void CompareView::fill_menu() {
  menu_->clear();
  const KeptRun& previous = session_.previous();
  QAction* before =
      menu_->addAction(previous.there() ? tr("Previous run: %1").arg(previous.name) : tr("Previous run (none)"));
  before->setEnabled(previous.there());
  connect(before, &QAction::triggered, this, [this] {
    chosen_ = false;
    other_.keep(session_.previous());
  });
  const KeptRun now = kept_run(session_);
  QAction* keep =
      menu_->addAction(now.there() ? tr("Current view, saved: %1").arg(now.name) : tr("Current view (empty)"));
  keep->setEnabled(now.there());
  connect(keep, &QAction::triggered, this, [this, now] {
    chosen_ = true;
    other_.keep(now);
  });
  menu_->addSeparator();
  const QFileInfoList files = session_.recordings();
  for (int i = 0; i < files.size() && i < most_recordings_listed; ++i) {
    const QString file = files[i].absoluteFilePath();
    menu_->addAction(files[i].fileName(), this, [this, file] { open(file); });
  }
  menu_->addAction(tr("A recording…"), this, &CompareView::choose_recording);
  menu_->addSeparator();
  QAction* none = menu_->addAction(tr("Nothing"), this, [this] {
    chosen_ = true;
    other_.close();
  });
  none->setEnabled(other_.there());
}

void CompareView::choose_recording() {
  const QString file =
      QFileDialog::getOpenFileName(this, tr("Compare with a recording"), {}, tr("Recordings (*.mcap)"));
  if (!file.isEmpty()) open(file);
}

void CompareView::open(const QString& trace) {
  chosen_ = true;
  other_.open(trace);
}

void CompareView::compare_with(const KeptRun& kept) {
  chosen_ = true;
  other_.keep(kept);
}

void CompareView::take_previous() {
  if (chosen_) return;
  if (session_.previous().there())
    other_.keep(session_.previous());
  else
    other_.close();
}

void CompareView::take_other() {
  if (other_.there()) {
    other_state_.set_shown(other_.obtained());
    other_state_.hold();
    align();
  }
  take_figures();
}

std::optional<TimeRange> CompareView::step_of_a() const {
  return state().step() ? session_.view()->step_range(state().shown(), *state().step()) : std::nullopt;
}

std::optional<TimeRange> CompareView::step_of_b() const {
  return other_state_.step() ? other_.view()->step_range(other_state_.shown(), *other_state_.step()) : std::nullopt;
}

void CompareView::align() {
  if (coupling_ || !other_.there()) return;
  coupling_ = true;
  // The step of the same number, else the last complete one: a plan's steps are identical after the first.
  const auto view = other_.view();
  const Obtained obtained = other_state_.shown();
  std::optional<std::uint32_t> step = state().step();
  if (!step || !view->step_range(obtained, *step)) step = last_whole_step(*view, obtained);
  other_state_.set_extent(view->extent(obtained));
  other_state_.set_step(step);
  other_.choose_step(step);
  const auto a = step_of_a(), b = step_of_b();
  if (a && b) {
    // The view is fitted to this run's step. If the other run's step is longer, both are shown at its length.
    if (isVisible() && navigator_.shows_fitted_step() && b->length() > a->length())
      state().set_visible(widened({a->begin_ns, a->begin_ns + b->length()}, Navigator::step_margin));
    other_state_.set_visible(moved(state().visible(), b->begin_ns - a->begin_ns));
  }
  coupling_ = false;
}

void CompareView::follow_other() {
  if (coupling_ || !isVisible()) return;
  if (other_navigator_.shows_fitted_step()) {
    if (time_b_->hasFocus()) navigator_.fit_step();  // the user requests it there
    return align();
  }
  coupling_ = true;
  const auto a = step_of_a(), b = step_of_b();
  if (a && b) {
    state().hold();
    state().set_visible(moved(other_state_.visible(), a->begin_ns - b->begin_ns));
  }
  coupling_ = false;
}

void CompareView::couple_selection(const SharedState& from, SharedState& to, const StoreView& run, Obtained obtained,
                                   std::optional<std::uint32_t> step) {
  if (coupling_ || !other_.there()) return;
  coupling_ = true;
  std::optional<SpanRef> same;
  if (const auto selected = from.selected();
      selected && step && run.find(selected->rank, *step, selected->op, obtained))
    same = SpanRef{selected->rank, *step, selected->op, obtained};
  to.set_selected(same);
  coupling_ = false;
}

void CompareView::take_figures() {
  const Figures &a = *session_.figures().latest(), &b = *other_.figures().latest();
  const QString title = session_.scenario() ? QString::fromStdString(session_.scenario()->title) : QString();
  const QString how = a.run ? tr("as it ran") : tr("predicted");
  name_a_->set_text(title.isEmpty() ? tr("A") : tr("A: %1, %2").arg(title, how));
  name_b_->set_text(other_.there() ? tr("B: %1").arg(other_.name()) : QString());
  choice_->setText(tr("Compare with…"));
  table_->set_rows(other_.there() ? compare_rows(a, b, static_cast<CompareBy>(by_->currentIndex()))
                                  : std::vector<std::vector<Cell>>{});
  words_->set_text(!other_.failure().isEmpty() ? other_.failure() : compare_sentence(a, b));
  arrange();
  update();
}

// The names of rows must stay readable: if there is too little space, the change is hidden first, then the difference.
void CompareView::fit_columns() {
  constexpr int spare[] = {4, 3};
  const int room = table_->width() - table_->verticalScrollBar()->sizeHint().width();
  const bool fits = table_->hide_until_fits(spare, room) <= room;
  table_->horizontalHeader()->setSectionResizeMode(0, fits ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
}

void CompareView::arrange() {
  const bool there = other_.there() && !veiled();
  const int top = control_height + 8;
  const int table = std::min(table_width, std::max(260, width() * 2 / 5)), left = width() - table - 8;
  // In the window, the main time line shows the first run; alone, the view shows both.
  const bool both = height() - top >= 2 * (least_time_line + line);
  choice_->setGeometry(view_margin, 4, choice_->sizeHint().width(), control_height);
  words_->setGeometry(view_margin + choice_->width() + 12, 4, width() - choice_->width() - 2 * view_margin - 12,
                      control_height);
  by_->setGeometry(left + 16, top, table - view_margin - 16, control_height);
  table_->setGeometry(left + 8, top + control_height + 4, table - view_margin / 2, height() - top - control_height - 8);
  int y = top;
  const int each = (height() - top) / (both ? 2 : 1);
  const auto place = [&](ElidedLabel* name, TimelineView* time) {
    name->setGeometry(view_margin + 4, y, left - 2 * view_margin, line);
    time->setGeometry(0, y + line, left, each - line);
    y += each;
  };
  if (both) place(name_a_, time_a_);
  place(name_b_, time_b_);
  choice_->setVisible(!veiled());
  show_all(there, {name_b_, by_, table_, time_b_});
  words_->setVisible((there || !other_.failure().isEmpty()) && !veiled());
  show_all(there && both, {name_a_, time_a_});
  fit_columns();
}

void CompareView::paint(QPainter& painter) {
  if (other_.there()) return;
  if (other_.reading())
    return paint_empty(painter, rect(), colours(), tr("Reading %1").arg(other_.name()),
                       tr("%1 % read.").arg(static_cast<int>(other_.progress() * 100)));
  paint_empty(painter, rect(), colours(), tr("Nothing to compare with yet"),
              tr("Run, change the plan on the right and run again: the two runs are shown here side by side, step "
                 "by step. Or choose a recording or save the current view with the button above."));
}

}  // namespace rankscope::app
