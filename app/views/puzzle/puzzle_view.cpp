// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/puzzle/puzzle_view.hpp"

#include <QPainter>
#include <QSignalBlocker>
#include <algorithm>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/puzzle/puzzle_words.hpp"

namespace rankscope::app {
namespace {

constexpr int control_height = 28, control_gap = 8, top = 6, words_height = 20, preferred_height = 380;

}  // namespace

PuzzleView::PuzzleView(SharedState& state, Session& session, QWidget* parent)
    : DataView(state, session, parent),
      session_(session),
      stages_(new QSpinBox(this)),
      micro_batches_(new QSpinBox(this)),
      kept_(new QSpinBox(this)),
      halves_(new QCheckBox(tr("halves"), this)),
      undo_(new QPushButton(tr("Undo"), this)),
      run_(new QPushButton(tr("Run it"), this)),
      known_(new QToolButton(this)),
      board_(new PuzzleBoard(nullptr)),
      scroll_(scroll_around(board_, this)) {
  setProperty(preferred_height_property, preferred_height);
  make_controls();
  connect(board_, &PuzzleBoard::changed, this, &PuzzleView::refresh);
  connect(board_, &PuzzleBoard::moved, this, [this](const QRect& box) {
    scroll_->ensureVisible(box.center().x(), box.center().y(), box.width() + 8, box.height() + 8);
  });
  connect(&session_, &Session::opened, this, &PuzzleView::take_plan);
  take_rules();
}

void PuzzleView::make_controls() {
  const auto set = [this](QSpinBox* box, const QString& name, const QString& suffix, int least, int most) {
    box->setAccessibleName(name);
    box->setSuffix(suffix);
    box->setRange(least, most);
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    connect(box, &QSpinBox::valueChanged, this, &PuzzleView::take_rules);
  };
  const PuzzleRules first;
  set(stages_, tr("Stages"), tr(" stages"), least_puzzle_stages, most_puzzle_stages);
  stages_->setToolTip(tr("Stages of the pipeline, with one chunk each. Another number begins with an empty board."));
  set(micro_batches_, tr("Micro-batches"), tr(" micro-batches"), 1, most_puzzle_micro_batches);
  micro_batches_->setToolTip(tr("Micro-batches of a step. Another number begins with an empty board."));
  set(kept_, tr("Micro-batches that a stage may keep"), tr(" kept at most"), 0, most_puzzle_micro_batches);
  kept_->setSpecialValueText(tr("keeps any number"));
  kept_->setToolTip(
      tr("How many micro-batches' activations a stage may keep at a time: from a forward to the end of its "
         "backward. Another number begins with an empty board."));
  {
    const QSignalBlocker stages(stages_), micro_batches(micro_batches_);
    stages_->setValue(first.stages);
    micro_batches_->setValue(first.micro_batches);
  }
  halves_->setToolTip(
      tr("Backward in halves: boxes I (input gradient, which the stage before waits for) and W (weight gradient) "
         "instead of B"));
  connect(halves_, &QCheckBox::toggled, this, &PuzzleView::take_rules);
  undo_->setToolTip(tr("The board before the last move"));
  connect(undo_, &QPushButton::clicked, board_, &PuzzleBoard::undo);
  run_->setProperty("role", QStringLiteral("primary"));
  run_->setToolTip(tr("Train the open scenario with this order: schedule = \"by-hand\""));
  connect(run_, &QPushButton::clicked, this, [this] {
    const PuzzleRules& rules = board_->puzzle().rules();
    asked_early_ = !board_->puzzle().complete();
    QWidget::update();
    if (asked_early_) return;
    emit run_wanted({"plan.pipeline=" + std::to_string(rules.stages), "plan.virtual=1",
                     "plan.micro_batches=" + std::to_string(rules.micro_batches), "plan.schedule=by-hand",
                     "plan.order=" + board_->puzzle().order_text()},
                    tr("puzzle, %1 units").arg(board_->puzzle().layout().end));
  });
  known_->setProperty("role", QStringLiteral("button"));
  known_->setText(tr("Orders"));
  known_->setToolTip(tr("Empty the board, or put a known schedule on it"));
  known_->setPopupMode(QToolButton::InstantPopup);
  known_->setMenu(new QMenu(known_));
}

void PuzzleView::take_rules() {
  board_->restart({stages_->value(), micro_batches_->value(), halves_->isChecked(), kept_->value()});
  fill_known();
}

void PuzzleView::fill_known() {
  const PuzzleRules rules = board_->puzzle().rules();
  QMenu* menu = known_->menu();
  menu->clear();
  menu->addAction(tr("empty board"), board_, &PuzzleBoard::clear);
  QAction* par = menu->addAction(tr("show par"), board_, &PuzzleBoard::show_par);
  par->setCheckable(true);
  par->setChecked(board_->shows_par());
  menu->addSeparator();
  for (const PuzzlePar& known : board_->known())
    menu->addAction(text::utf8(known.schedule.name()), board_,
                    [this, rules, known] { board_->fill(known_solution(known.schedule, rules)); });
}

void PuzzleView::take_plan() {
  const auto& scenario = session_.scenario();
  if (!scenario || board_->puzzle().placed_count() > 0) return;
  const int stages = scenario->plan.pipeline, micro_batches = scenario->plan.micro_batches;
  if (stages < least_puzzle_stages || stages > most_puzzle_stages || micro_batches > most_puzzle_micro_batches) return;
  {
    const QSignalBlocker first(stages_), second(micro_batches_);
    stages_->setValue(stages);
    micro_batches_->setValue(micro_batches);
  }
  take_rules();
}

void PuzzleView::show_inputs(const std::map<std::string, std::string>& inputs) {
  if (inputs.empty()) return;
  const auto number = [&](const char* key, int otherwise) {
    const auto input = inputs.find(key);
    return input == inputs.end() ? otherwise : QString::fromStdString(input->second).toInt();
  };
  {
    const QSignalBlocker stages(stages_), micro_batches(micro_batches_), kept(kept_), halves(halves_);
    stages_->setValue(number("stages", stages_->value()));
    micro_batches_->setValue(number("micro_batches", micro_batches_->value()));
    kept_->setValue(number("kept", 0));
    halves_->setChecked(number("halves", 0) != 0);
  }
  take_rules();
}

void PuzzleView::refresh() {
  asked_early_ = false;
  QWidget::update();
}

QString PuzzleView::own_source() const { return tr("textbook times: F 1 unit, B 2, messages 0; no run"); }

QString PuzzleView::state_words() const { return board_words(board_->puzzle(), board_->known()); }

QString PuzzleView::second_words() const {
  if (asked_early_) return tr("Place all boxes first.");
  const auto& fault = board_->fault();
  if (fault) return fault_words(*fault, board_->puzzle().rules());
  return board_->shows_par() ? par_words(board_->puzzle().rules(), board_->known()) : tr("Par is in the menu Orders.");
}

// Controls at the top, in as many lines as needed; then two lines of text, and then the board.
void PuzzleView::arrange() {
  const bool shown = !veiled();
  int x = view_margin, y = top;
  QWidget* controls[] = {stages_, micro_batches_, kept_, halves_, known_, undo_, run_};
  for (QWidget* control : controls) {
    control->setVisible(shown);
    const int wide = control->sizeHint().width();
    if (x > view_margin && x + wide > width() - view_margin) {
      x = view_margin;
      y += control_height + 4;
    }
    control->setGeometry(x, y, wide, control_height);
    x += wide + control_gap;
  }
  controls_bottom_ = y + control_height;
  const int upper = controls_bottom_ + 2 * words_height + 8;
  scroll_->setVisible(shown);
  scroll_->setGeometry(0, upper, width(), std::max(0, height() - upper));
}

QRect PuzzleView::words_area(int line) const {
  return {view_margin, controls_bottom_ + 4 + line * words_height, width() - 2 * view_margin, words_height};
}

void PuzzleView::paint(QPainter& painter) {
  draw_line(painter, words_area(0), at_left, state_words(), colours().text);
  draw_line(painter, words_area(1), at_left, second_words(),
            board_->fault() || asked_early_ ? colours().bad : colours().dim);
}

QString PuzzleView::tip_at(QPoint at) const {
  if (words_area(0).contains(at)) return state_words();
  return words_area(1).contains(at) ? second_words() : QString();
}

ViewTable PuzzleView::rows_shown() const { return table_of(board_->puzzle()); }

}  // namespace rankscope::app
