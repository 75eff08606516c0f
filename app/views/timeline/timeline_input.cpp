// SPDX-License-Identifier: GPL-3.0-or-later
// User input of the time line: pointer, wheel and keys.
#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "app/models/dependencies.hpp"
#include "app/models/time_window.hpp"
#include "app/views/timeline/timeline_view.hpp"

namespace rankscope::app {
namespace {

constexpr double key_zoom = 1.35, key_pan = 0.15;
// One notch of a wheel (120 eighths of a degree) zooms by a quarter; finer steps in proportion.
constexpr double wheel_zoom_per_eighth = 0.00186;

}  // namespace

void TimelineView::hover(QPoint at) {
  scene_.hover.reset();
  const auto mark = mark_card(at);
  setCursor(mark || scene_.layout.labels.contains(at) ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (mark) {
    scene_.hover = mark;
  } else if (const auto box = box_at(at)) {
    scene_.hover = HoverCard{at, details_of_box(*box), box};
  } else if (const FrameBubble* bubble = bubble_at(at)) {
    scene_.hover = HoverCard{
        at, details_of(*source().view(), bubble->stretch, insight_of(bubble->step).get(), time_at(at.x() + 0.5)),
        std::nullopt};
  } else {
    scene_.hover = group_card(at);
  }
  update();
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->position();
  pointer_inside_ = true;
  const QPoint at = pointer_.toPoint();
  const QRect plot = scene_.layout.plot;
  if (!state().playing() && plot.contains(at)) state().set_cursor(time_at(at.x()));
  if (gesture_ == Gesture::pressed && (at - pressed_at_).manhattanLength() >= QApplication::startDragDistance())
    gesture_ = event->modifiers() & Qt::ShiftModifier ? Gesture::selecting : Gesture::panning;
  switch (gesture_) {
    case Gesture::none: hover(at); break;
    case Gesture::pressed: break;
    case Gesture::panning: {
      scene_.hover.reset();
      state().hold();
      const double moved_pixels = at.x() - pressed_at_.x();
      const double ns_per_pixel = static_cast<double>(pressed_visible_.length()) / plot.width();
      state().set_visible(moved(pressed_visible_, -std::llround(moved_pixels * ns_per_pixel)));
      scroll_to(pressed_scroll_ - (at.y() - pressed_at_.y()));
      break;
    }
    case Gesture::selecting: {
      scene_.hover.reset();
      const PixelScale scale = scene_.scale();
      const std::int64_t a = scale.time_at(pressed_at_.x() - plot.left()), b = scale.time_at(at.x() - plot.left());
      state().set_selected_range({std::min(a, b), std::max(a, b)});
      break;
    }
    case Gesture::overview: {
      const QRect area = scene_.layout.overview;
      const PixelScale scale{scene_.overview_range, double(area.width())};
      const std::int64_t middle = scale.time_at(at.x() - area.left());
      const std::int64_t length = state().visible().length();
      state().hold();
      state().set_visible({middle - length / 2, middle - length / 2 + length});
      break;
    }
  }
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return DataView::mousePressEvent(event);
  const QPoint at = event->position().toPoint();
  pressed_at_ = at;
  pressed_visible_ = state().visible();
  pressed_scroll_ = scene_.scroll;
  if (scene_.layout.overview.contains(at) && !state().visible().empty()) {
    gesture_ = Gesture::overview;
    mouseMoveEvent(event);
  } else if (scene_.layout.plot.contains(at) || scene_.layout.axis.contains(at) || scene_.layout.labels.contains(at) ||
             mark_at(at)) {
    gesture_ = Gesture::pressed;
  }
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return DataView::mouseReleaseEvent(event);
  const Gesture was = std::exchange(gesture_, Gesture::none);
  if (was == Gesture::pressed) click(event->position().toPoint());
  hover(event->position().toPoint());
}

void TimelineView::click(QPoint at) {
  const RankBand* row = band_at(at.y());
  const std::optional<int> rank = row != nullptr && row->group < 0 ? std::optional<int>(row->rank) : std::nullopt;
  if (scene_.layout.labels.contains(at)) {
    if (row != nullptr) toggle(RankBand(*row));
    if (rank) emit rank_pointed(*rank);
    return;
  }
  if (const auto mark = mark_at(at)) return emit mark_wanted(*mark);
  state().set_selected_range({});
  const auto box = box_at(at);
  if (box && box->row != RowKind::ghost)
    select(*box);
  else
    state().set_selected(std::nullopt);
  if (rank && scene_.layout.plot.contains(at)) emit rank_pointed(*rank);
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  // A double click on an op zooms in to it.
  if (event->button() == Qt::LeftButton && scene_.layout.plot.contains(event->position().toPoint()))
    if (const auto box = box_at(event->position().toPoint()); box && box->row != RowKind::ghost) {
      select(*box);
      state().hold();
      state().set_visible(widened({box->box.begin_ns, box->box.end_ns}, 1.0));
    }
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPoint angle = event->angleDelta();
  const QPoint at = event->position().toPoint();
  event->accept();
  if (state().visible().empty()) return;
  if (event->modifiers() & Qt::ControlModifier || scene_.layout.labels.contains(at)) {
    scroll_to(scene_.scroll - angle.y() / 2);
    compose_frame();
    return;
  }
  if (angle.x() != 0 || event->modifiers() & Qt::ShiftModifier) {
    const int by = angle.x() != 0 ? angle.x() : angle.y();
    pan_by(-static_cast<double>(by) / 120.0 * 0.1);
    return;
  }
  navigator_.zoom(std::exp(-angle.y() * wheel_zoom_per_eighth), time_at(event->position().x()));
}

// By integer pixels: then only the new columns must be composed.
void TimelineView::pan_by(double share) {
  const int width = scene_.layout.plot.width();
  navigator_.pan(std::round(share * width) / width);
}

std::int64_t TimelineView::zoom_centre() const {
  const TimeRange visible = state().visible();
  const auto cursor = state().cursor();
  if (cursor && *cursor >= visible.begin_ns && *cursor <= visible.end_ns) return *cursor;
  return visible.begin_ns + visible.length() / 2;
}

bool TimelineView::press(int key) {
  if (state().visible().empty()) return false;
  // Keys hide the card at the pointer until the pointer moves again.
  pointer_inside_ = false;
  scene_.hover.reset();
  switch (key) {
    case Qt::Key_W: navigator_.zoom(1 / key_zoom, zoom_centre()); return true;
    case Qt::Key_S: navigator_.zoom(key_zoom, zoom_centre()); return true;
    case Qt::Key_A:
    case Qt::Key_Left: pan_by(-key_pan); return true;
    case Qt::Key_D:
    case Qt::Key_Right: pan_by(key_pan); return true;
    case Qt::Key_F: navigator_.fit(); return true;
    case Qt::Key_Home:
      state().hold();
      navigator_.fit_all();
      return true;
    case Qt::Key_Period: step_op(+1); return true;
    case Qt::Key_Comma: step_op(-1); return true;
    case Qt::Key_N: step_in_time(+1); return true;
    case Qt::Key_P: step_in_time(-1); return true;
    case Qt::Key_Up: step_rank(-1); return true;
    case Qt::Key_Down: step_rank(+1); return true;
    case Qt::Key_BracketLeft: navigator_.step_by(-1); return true;
    case Qt::Key_BracketRight: navigator_.step_by(+1); return true;
    case Qt::Key_R:
      if (scene_.selected) state().set_selected_range({scene_.selected->box.begin_ns, scene_.selected->box.end_ns});
      return true;
    case Qt::Key_G: next_grouping(); return true;
    case Qt::Key_T:
      if (const auto selected = state().selected())
        set_pinned(selected->rank, choice_.pinned.count(selected->rank) == 0);
      return true;
    case Qt::Key_Space: navigator_.toggle_playing(); return true;
    case Qt::Key_PageUp: scroll_to(scene_.scroll - scene_.layout.plot.height()); return true;
    case Qt::Key_PageDown: scroll_to(scene_.scroll + scene_.layout.plot.height()); return true;
    case Qt::Key_Escape:
      state().set_selected_range({});
      state().set_selected(std::nullopt);
      return true;
    default: return false;
  }
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  // Ctrl and Alt belong to the window; brackets need Shift or AltGr on many keyboards.
  const bool plain = !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
  int key = event->key();
  if (event->text() == QLatin1String("[")) key = Qt::Key_BracketLeft;
  if (event->text() == QLatin1String("]")) key = Qt::Key_BracketRight;
  const bool bracket = key == Qt::Key_BracketLeft || key == Qt::Key_BracketRight;
  if (!(plain || bracket) || !press(key)) DataView::keyPressEvent(event);
}

void TimelineView::select(const ShownBox& box) {
  state().set_selected(SpanRef{box.lane.rank, box.box.step, box.box.first_op, box.lane.obtained});
}

void TimelineView::step_op(int by) {
  const auto view = source().view();
  if (!scene_.selected) {
    // The first op on the screen, of the first rank.
    const LaneKey lane{0, first_lane(), state().shown()};
    const auto first = view->spans(lane, state().visible(), 0, 1);
    if (!first.empty()) select({lane, RowKind::compute, drawn_box(*view, lane, first.front(), fold_scale())});
    return;
  }
  const ShownBox from = *scene_.selected;
  const auto next = by > 0 ? box_after(*view, from.lane, from.box, fold_scale())
                           : box_before(*view, from.lane, from.box, fold_scale());
  if (!next) return;
  select({from.lane, from.row, *next});
  bring_on_screen({next->begin_ns, next->end_ns}, from.lane.rank);
}

// As in a debugger: the next or previous op over all ranks and lanes, in the order in which they began.
void TimelineView::step_in_time(int by) {
  const auto view = source().view();
  const auto at = state().selected();
  const auto span = at ? view->find(at->rank, at->step, at->op, at->obtained) : std::nullopt;
  if (!span) return step_op(by);
  const auto next = in_time(*view, at->obtained, {at->rank, at->op.lane(), at->obtained}, *span, by);
  if (!next) return;
  const auto& [lane, op] = *next;
  state().set_selected(SpanRef{lane.rank, op.step, op.op, lane.obtained});
  state().set_cursor(op.begin_ns);
  bring_on_screen({op.begin_ns, op.end_ns}, lane.rank);
}

void TimelineView::step_rank(int by) {
  if (!scene_.selected) return step_op(by);
  const auto view = source().view();
  const ShownBox from = *scene_.selected;
  const std::int32_t rank = from.lane.rank + by;
  if (rank < 0 || rank >= static_cast<std::int32_t>(lanes_.size())) return;
  const LaneKey lane{rank, first_lane(rank), state().shown()};
  const std::int64_t middle = from.box.begin_ns + from.box.length_ns() / 2;
  auto span = view->span_at(lane, middle);
  if (!span) {
    const auto near = view->spans(lane, {middle, state().extent().end_ns}, 0, 1);
    if (near.empty()) return;
    span = near.front();
  }
  const Box box = drawn_box(*view, lane, *span, fold_scale());
  select({lane, RowKind::compute, box});
  bring_on_screen({box.begin_ns, box.end_ns}, rank);
}

void TimelineView::bring_on_screen(TimeRange range, std::int32_t rank) {
  const TimeRange visible = state().visible();
  if (range.begin_ns < visible.begin_ns || range.end_ns > visible.end_ns) {
    state().hold();
    const std::int64_t middle = range.begin_ns + range.length() / 2;
    state().set_visible({middle - visible.length() / 2, middle - visible.length() / 2 + visible.length()});
  }
  const RankBand* band = scene_.rows->band_of(rank);
  if (band == nullptr || band->pinned) return;
  if (band->y - scene_.rows->pinned_height < scene_.scroll) scroll_to(band->y - scene_.rows->pinned_height - 4);
  if (band->y + band->height > scene_.scroll + scene_.layout.plot.height())
    scroll_to(band->y + band->height - scene_.layout.plot.height() + 4);
}

void TimelineView::scroll_to(int y) {
  const int longest = std::max(scene_.rows->height - scene_.layout.plot.height(), 0);
  const int to = std::clamp(y, 0, longest);
  if (to == scene_.scroll) return;
  scene_.scroll = to;
  hurry_ = true;
  compose_frame();
}

void TimelineView::leaveEvent(QEvent*) {
  pointer_inside_ = false;
  scene_.hover.reset();
  if (!state().playing()) state().set_cursor(std::nullopt);
  update();
}

}  // namespace rankscope::app
