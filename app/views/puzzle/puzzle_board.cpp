// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/puzzle/puzzle_board.hpp"

#include <QApplication>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/puzzle/puzzle_words.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {
namespace {

constexpr double label_width = 160, least_row = 26, most_row = 34, row_gap = 6, axis_height = 26;
constexpr double board_margin = 4, widest_unit = 34, widest_tray_box = 34, tray_gap = 4;
constexpr std::int64_t tick_steps[] = {1, 2, 5, 10, 20, 50};

}  // namespace

PuzzleBoard::PuzzleBoard(QWidget* parent) : PaintedWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setProperty(own_keys_property, true);
  setAccessibleName(tr("Board of the puzzle"));
  restart(PuzzleRules{});
}

void PuzzleBoard::restart(const PuzzleRules& rules) {
  puzzle_ = Puzzle(rules);
  known_ = known_solutions(rules);
  at_ = puzzle_.boxes(0).front();
  drag_.reset();
  fit();
  after_change();
}

void PuzzleBoard::undo() {
  if (puzzle_.undo()) after_change();
}

void PuzzleBoard::clear() {
  puzzle_.clear();
  after_change();
}

void PuzzleBoard::fill(const ChunkSchedule& schedule) {
  if (puzzle_.fill(schedule)) after_change();
}

void PuzzleBoard::show_par(bool shown) {
  shows_par_ = shown;
  fault_.reset();
  update();
  emit changed();
}

void PuzzleBoard::after_change() {
  layout_ = puzzle_.layout();
  fault_.reset();
  const QString keys =
      tr("Arrow keys choose a box, Enter places it, Delete takes it back, Shift with an arrow moves it.");
  setAccessibleDescription(box_words(at_) + QStringLiteral(". ") + board_words(puzzle_, known_) + QLatin1Char(' ') +
                           keys);
  update();
  emit changed();
}

void PuzzleBoard::place(OpId box, int stage, int position) {
  fault_ = puzzle_.fault_of(box, stage, position);
  if (fault_) {
    update();
    return emit changed();
  }
  puzzle_.place(box, stage, position);
  after_change();
}

void PuzzleBoard::take_back(OpId box) {
  if (puzzle_.take_back(box)) after_change();
}

void PuzzleBoard::fit() {
  const int stages = puzzle_.rules().stages;
  setMinimumSize(least_width(), static_cast<int>(2 * board_margin + 2 * stages * least_row + axis_height));
}

// About the length of a good order; not exactly the best one, since the axis must not reveal par.
std::int64_t PuzzleBoard::units_shown() const {
  const PuzzleRules& rules = puzzle_.rules();
  return std::max<std::int64_t>({layout_.end, shows_par_ ? par() : 0, 3 * (rules.micro_batches + rules.stages)}) + 1;
}

double PuzzleBoard::unit_width() const {
  const double room = width() - label_width - 2.0 * view_margin;
  return std::clamp(room / static_cast<double>(units_shown()), 1.0, widest_unit);
}

double PuzzleBoard::x_of(std::int64_t units) const {
  return view_margin + label_width + static_cast<double>(units) * unit_width();
}

QRectF PuzzleBoard::row_rect(int stage) const {
  const double high = row_height();
  return {view_margin + label_width, board_margin + stage * high, width() - label_width - 2.0 * view_margin, high};
}

double PuzzleBoard::row_height() const {
  const double rows = (height() - 2 * board_margin - axis_height) / (2.0 * puzzle_.rules().stages);
  return std::clamp(std::floor(rows), least_row, most_row);
}

double PuzzleBoard::rows_bottom() const { return board_margin + puzzle_.rules().stages * row_height(); }

QRectF PuzzleBoard::tray_rect(OpId box) const {
  const int stage = Puzzle::stage_of(box);
  const std::vector<OpId> all = puzzle_.boxes(stage);
  const auto slot = static_cast<double>(std::find(all.begin(), all.end(), box) - all.begin());
  const double room = width() - label_width - 2.0 * view_margin;
  const double step = std::min(widest_tray_box + tray_gap, room / static_cast<double>(all.size()));
  const double high = row_height();
  return {view_margin + label_width + slot * step, rows_bottom() + axis_height + stage * high, step - tray_gap,
          high - row_gap};
}

QRectF PuzzleBoard::box_rect(OpId box) const {
  const auto stage = static_cast<std::size_t>(Puzzle::stage_of(box));
  const auto& boxes = puzzle_.rows()[stage];
  const auto found = std::find(boxes.begin(), boxes.end(), box);
  if (found == boxes.end()) return tray_rect(box);
  const std::int64_t begin = layout_.begin[stage][static_cast<std::size_t>(found - boxes.begin())];
  const double left = x_of(begin), right = x_of(begin + units_of(box.kind()));
  return {left, row_rect(static_cast<int>(stage)).top() + row_gap / 2, right - left, row_height() - row_gap};
}

std::optional<OpId> PuzzleBoard::box_at(QPointF at) const {
  for (int stage = 0; stage < puzzle_.rules().stages; ++stage)
    for (const OpId box : puzzle_.boxes(stage))
      if (box_rect(box).contains(at)) return box;
  return std::nullopt;
}

std::optional<PuzzleBoard::Place> PuzzleBoard::place_at(QPointF at) const {
  for (int stage = 0; stage < puzzle_.rules().stages; ++stage) {
    if (at.y() < row_rect(stage).top() || at.y() >= row_rect(stage).bottom()) continue;
    const auto& boxes = puzzle_.rows()[static_cast<std::size_t>(stage)];
    const auto before =
        std::count_if(boxes.begin(), boxes.end(), [&](OpId box) { return box_rect(box).center().x() < at.x(); });
    return Place{stage, static_cast<int>(before)};
  }
  return std::nullopt;
}

Argb PuzzleBoard::colour_of(OpId box) const { return colours().of(class_of(box)); }

void PuzzleBoard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), color(colours().ground));
  painter.setFont(interface_font());
  paint_rows(painter);
  paint_axis(painter);
  paint_tray(painter);
  if (drag_ && drag_->moved) paint_drag(painter);
}

void PuzzleBoard::paint_box(QPainter& painter, OpId box, const QRectF& rect, bool solid) const {
  const Argb colour = colour_of(box);
  const QRectF inside = rect.adjusted(0.5, 0.5, -1.5, -0.5);
  painter.setPen(QPen(color(solid ? colour : colours().line), 1));
  painter.setBrush(solid ? QBrush(color(colour)) : QBrush(Qt::NoBrush));
  painter.drawRect(inside);
  painter.setFont(number_font());
  if (QFontMetricsF(painter.font()).horizontalAdvance(box_name(box)) + 3 <= rect.width()) {
    draw_text(painter, inside, Qt::AlignCenter, box_name(box), solid ? colours().ink_on(colour) : colours().dim);
  }
  painter.setFont(interface_font());
  if (!hasFocus() || box != at_) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(color(colours().accent), 2));
  painter.drawRect(rect.adjusted(0, 0, -1, 0));
}

void PuzzleBoard::paint_rows(QPainter& painter) const {
  const PuzzleRules& rules = puzzle_.rules();
  for (int stage = 0; stage < rules.stages; ++stage) {
    const QRectF area = row_rect(stage);
    const std::vector<int> kept = puzzle_.kept_after(stage);
    const int now = kept.empty() ? 0 : kept.back();
    const QRectF label(view_margin, area.top(), label_width - 12, area.height());
    draw_text(painter, label, at_left, tr("stage %1").arg(stage), colours().text);
    draw_text(painter, label, at_right,
              puzzle_.complete() ? tr("peak: %1 kept").arg(*std::max_element(kept.begin(), kept.end()))
              : rules.kept > 0   ? tr("keeps %1 of %2").arg(now).arg(rules.kept)
                                 : tr("keeps %1").arg(now),
              rules.kept > 0 && now == rules.kept ? colours().text : colours().dim);
    // Idle until the end of the placed boxes.
    const QRectF until(area.left(), area.top() + row_gap / 2, x_of(layout_.end) - area.left(), area.height() - row_gap);
    painter.fillRect(until, QBrush(color(colours().hatch), Qt::BDiagPattern));
    for (const OpId box : puzzle_.rows()[static_cast<std::size_t>(stage)]) {
      const QRectF rect = box_rect(box);
      painter.fillRect(rect, color(colours().ground));
      paint_box(painter, box, rect, true);
    }
  }
}

void PuzzleBoard::paint_axis(QPainter& painter) const {
  const double line = rows_bottom() + 1;
  const QFontMetricsF metrics(number_font());
  const std::int64_t shown = units_shown();
  std::int64_t step = tick_steps[0];
  for (const std::int64_t wanted : tick_steps) {
    step = wanted;
    if (static_cast<double>(step) * unit_width() >= metrics.horizontalAdvance(QStringLiteral("100")) + 8) break;
  }
  painter.setPen(color(colours().line));
  painter.drawLine(QPointF(x_of(0), line), QPointF(x_of(shown), line));
  const QString words = tr("par %1").arg(par());
  const double wide = std::ceil(QFontMetricsF(interface_font()).horizontalAdvance(words)) + 2;
  const QRectF par_place(std::min(x_of(par()) - wide / 2, width() - view_margin - wide), line + 4, wide, 16);
  painter.setFont(number_font());
  for (std::int64_t tick = 0; tick <= shown; tick += step) {
    painter.setPen(color(colours().faint));
    painter.drawLine(QPointF(x_of(tick), line), QPointF(x_of(tick), line + 4));
    const double half = std::ceil(metrics.horizontalAdvance(QString::number(tick))) / 2 + 2;
    const QRectF place(x_of(tick) - half, line + 4, 2 * half, 16);
    if (place.right() > width() || (par() > 0 && shows_par_ && place.adjusted(-4, 0, 4, 0).intersects(par_place)))
      continue;
    draw_text(painter, place, Qt::AlignCenter, QString::number(tick), colours().dim);
  }
  painter.setFont(interface_font());
  draw_text(painter, QRectF(view_margin, line + 4, label_width - 16, 16), at_left,
            puzzle_.complete() ? tr("units") : tr("units; to place:"), colours().dim);
  if (par() == 0 || !shows_par_) return;
  painter.setPen(QPen(color(colours().accent), 1, Qt::DashLine));
  painter.drawLine(QPointF(x_of(par()), 0), QPointF(x_of(par()), line + 3));
  painter.drawText(par_place, Qt::AlignCenter, words);
}

void PuzzleBoard::paint_tray(QPainter& painter) const {
  if (puzzle_.complete()) return;
  for (int stage = 0; stage < puzzle_.rules().stages; ++stage) {
    const std::vector<OpId> all = puzzle_.boxes(stage);
    painter.setPen(color(colours().text));
    const QRectF first = tray_rect(all.front());
    painter.drawText(QRectF(view_margin, first.top(), label_width - 12, first.height()), at_left,
                     tr("stage %1").arg(stage));
    for (const OpId box : all)
      if (!puzzle_.placed(box)) {
        const bool ready = !puzzle_.fault_of(box, stage, puzzle_.box_count());
        paint_box(painter, box, tray_rect(box), ready);
      }
  }
}

void PuzzleBoard::paint_drag(QPainter& painter) const {
  const QRectF from = box_rect(drag_->box);
  const double wide = std::max(from.width(), widest_tray_box);
  painter.setOpacity(0.85);
  paint_box(painter, drag_->box, {drag_->at.x() - wide / 2, drag_->at.y() - from.height() / 2, wide, from.height()},
            true);
  painter.setOpacity(1);
  const auto place = place_at(drag_->at);
  if (!place) return;
  // A line at the position of the box.
  const auto stage = static_cast<std::size_t>(place->stage);
  const auto& boxes = puzzle_.rows()[stage];
  const auto position = static_cast<std::size_t>(place->position);
  const double x = boxes.empty()             ? x_of(0)
                   : position < boxes.size() ? box_rect(boxes[position]).left()
                                             : box_rect(boxes.back()).right();
  painter.setPen(QPen(color(fault_ ? colours().bad : colours().good), 3));
  painter.drawLine(QPointF(x, row_rect(place->stage).top() + 1), QPointF(x, row_rect(place->stage).bottom() - 1));
}

void PuzzleBoard::mousePressEvent(QMouseEvent* event) {
  const auto box = event->button() == Qt::LeftButton ? box_at(event->position()) : std::nullopt;
  if (!box) return QWidget::mousePressEvent(event);
  at_ = *box;
  drag_ = Drag{*box, event->position(), event->position()};
  update();
}

void PuzzleBoard::mouseMoveEvent(QMouseEvent* event) {
  if (!drag_) {
    setCursor(box_at(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
    return;
  }
  drag_->at = event->position();
  if ((drag_->at - drag_->from).manhattanLength() >= QApplication::startDragDistance()) drag_->moved = true;
  if (!drag_->moved) return;
  const auto place = place_at(drag_->at);
  fault_ = place ? puzzle_.fault_of(drag_->box, place->stage, place->position) : std::nullopt;
  update();
  emit changed();
}

void PuzzleBoard::mouseReleaseEvent(QMouseEvent* event) {
  if (!drag_ || event->button() != Qt::LeftButton) return QWidget::mouseReleaseEvent(event);
  const Drag drag = *drag_;
  drag_.reset();
  update();
  if (!drag.moved) {
    if (!puzzle_.placed(drag.box)) place(drag.box, Puzzle::stage_of(drag.box), puzzle_.box_count());
    return;
  }
  if (const auto place_there = place_at(event->position()))
    return place(drag.box, place_there->stage, place_there->position);
  take_back(drag.box);
}

void PuzzleBoard::mouseDoubleClickEvent(QMouseEvent* event) {
  const auto box = event->button() == Qt::LeftButton ? box_at(event->position()) : std::nullopt;
  // Two quick clicks place two boxes.
  if (box && puzzle_.placed(*box) && at_ == *box && row_rect(Puzzle::stage_of(*box)).contains(event->position()))
    return take_back(*box);
  mousePressEvent(event);
}

void PuzzleBoard::move_along(int by) {
  const auto& boxes = puzzle_.rows()[static_cast<std::size_t>(Puzzle::stage_of(at_))];
  const auto found = std::find(boxes.begin(), boxes.end(), at_);
  if (found == boxes.end()) return;
  // Positions include the box itself: one further is after its neighbour.
  const auto position = static_cast<int>(found - boxes.begin()) + (by > 0 ? 2 : -1);
  if (position >= 0 && position <= static_cast<int>(boxes.size())) place(at_, Puzzle::stage_of(at_), position);
}

void PuzzleBoard::move_cursor(int stages, int boxes) {
  const int stage = Puzzle::stage_of(at_);
  const std::vector<OpId> here = puzzle_.boxes(stage);
  const auto last = static_cast<int>(here.size()) - 1;
  const auto slot = static_cast<int>(std::find(here.begin(), here.end(), at_) - here.begin());
  const int to = std::clamp(stage + stages, 0, puzzle_.rules().stages - 1);
  at_ = puzzle_.boxes(to)[static_cast<std::size_t>(std::clamp(slot + boxes, 0, last))];
  setAccessibleDescription(box_words(at_));
  emit moved(box_rect(at_).toAlignedRect());
  update();
}

void PuzzleBoard::keyPressEvent(QKeyEvent* event) {
  const bool moves = event->modifiers().testFlag(Qt::ShiftModifier);
  switch (event->key()) {
    case Qt::Key_Left: return moves ? move_along(-1) : move_cursor(0, -1);
    case Qt::Key_Right: return moves ? move_along(1) : move_cursor(0, 1);
    case Qt::Key_Up: return move_cursor(-1, 0);
    case Qt::Key_Down: return move_cursor(1, 0);
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (!puzzle_.placed(at_)) place(at_, Puzzle::stage_of(at_), puzzle_.box_count());
      return;
    case Qt::Key_Delete:
    case Qt::Key_Backspace: return take_back(at_);
    case Qt::Key_Escape:
      if (!drag_) break;
      drag_.reset();
      fault_.reset();
      update();
      return emit changed();
    default: break;
  }
  QWidget::keyPressEvent(event);
}

QString PuzzleBoard::tip_at(QPoint at) const {
  const auto box = box_at(at);
  if (!box || (drag_ && drag_->moved)) return {};
  const int stage = Puzzle::stage_of(*box);
  if (!puzzle_.placed(*box)) {
    const auto fault = puzzle_.fault_of(*box, stage, puzzle_.box_count());
    return fault ? fault_words(*fault, puzzle_.rules()) : tr("%1 is ready. A click places it.").arg(box_words(*box));
  }
  const auto& boxes = puzzle_.rows()[static_cast<std::size_t>(stage)];
  const auto i = static_cast<std::size_t>(std::find(boxes.begin(), boxes.end(), *box) - boxes.begin());
  const std::int64_t begin = layout_.begin[static_cast<std::size_t>(stage)][i];
  return tr("%1: from %2 to %3 units; %4 kept after it.\nDrag it to move it, or out of its row to take it back.")
      .arg(box_words(*box))
      .arg(begin)
      .arg(begin + units_of(box->kind()))
      .arg(kept_words(puzzle_.kept_after(stage)[i]));
}

}  // namespace rankscope::app
