// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/timeline_view.hpp"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <set>

#include "app/models/dependencies.hpp"
#include "app/models/range_statistics.hpp"
#include "app/models/reuse.hpp"
#include "app/models/steps.hpp"
#include "app/models/translated.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

// After a gesture, drawing waits this long for the new frame if the last one was composed in less time: then the
// picture is exact. Otherwise the last frame is shown, shifted, until the new one is ready.
constexpr std::chrono::milliseconds longest_wait{5};
constexpr double quick_frame_ms = 6;
// If nothing is under the pointer, the nearest box within this distance is selected.
constexpr double reach_pixels = 3;
constexpr std::size_t most_near = 16;

// The legend's entries for that time, in the order of the classes; collectives have an entry for each lane with its
// own colour.
std::vector<LegendEntry> legend_of(const StoreView& view, Obtained shown, TimeRange range) {
  std::set<std::pair<SpanClass, Lane>> there;
  for (const LaneKey& key : view.lanes()) {
    if (key.obtained != shown) continue;
    PixelShare share;
    view.shares(key, range, {&share, 1});
    for (int c = 0; c < span_class_count; ++c) {
      const auto kind = static_cast<SpanClass>(c);
      if (share.busy[static_cast<std::size_t>(c)] <= 0) continue;
      const bool own = kind == SpanClass::collective && name_of(kind, key.lane) != name_of(kind);
      there.insert({kind, own ? key.lane : Lane::compute});
    }
  }
  std::vector<LegendEntry> legend;
  for (const auto& [kind, lane] : there) legend.push_back({kind, lane});
  return legend;
}

}  // namespace

TimelineView::TimelineView(SharedState& state, SnapshotSource& source, Navigator& navigator, BubbleSource* bubbles,
                           QWidget* parent)
    : DataView(state, source, parent),
      navigator_(navigator),
      bubbles_(bubbles),
      fonts_(interface_font(), number_font()) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMinimumSize(0, 0);  // the compare view has two, as small as its space is
  const auto later = [this](auto member) {
    return [this, member] { QMetaObject::invokeMethod(this, member, Qt::QueuedConnection); };
  };
  composer_ = std::make_unique<Composer>(later([this] { update(); }));
  overview_composer_ = std::make_unique<Composer>(later([this] { update(scene_.layout.overview); }), 1);
  scene_.rows = std::make_shared<TimelineRows>();
  scene_.colours = &colours();

  connect(&source, &SnapshotSource::changed, this, &TimelineView::take_in);
  connect(&state, &SharedState::shown_changed, this, &TimelineView::take_in);
  connect(&state, &SharedState::extent_changed, this, &TimelineView::compose_overview);
  connect(&state, &SharedState::visible_changed, this, [this] {
    scene_.visible = this->state().visible();
    hurry_ = true;
    compose_frame();
    compose_overview();
    if (pointer_inside_ && gesture_ == Gesture::none) hover(pointer_.toPoint());
    describe_selection();
  });
  connect(&state, &SharedState::step_changed, this, [this] {
    describe_step();
    compose_frame();
    compose_overview();
  });
  connect(&state, &SharedState::selected_changed, this, &TimelineView::describe_selection);
  connect(&state, &SharedState::selected_range_changed, this, &TimelineView::describe_selection);
  connect(&state, &SharedState::cursor_changed, this, qOverload<>(&QWidget::update));
  connect(&state, &SharedState::playback_changed, this, qOverload<>(&QWidget::update));
  take_in();
}

TimelineView::~TimelineView() = default;

void TimelineView::take_colours() {
  scene_.colours = &colours();
  compose_frame();
  compose_overview();
}

void TimelineView::set_presentation(double scale) {
  DataView::set_presentation(scale);
  fonts_ = TimelineFonts(interface_font(), number_font());
  if (presents()) {  // all text at least as large as the interface font
    fonts_.small = fonts_.tiny = fonts_.text;
    fonts_.number = TextWidths(number_font());
  }
  lay_out();
  describe_step();
}

bool TimelineView::settled() const { return composer_->settled() && overview_composer_->settled(); }

void TimelineView::take_in() {
  const auto view = source().view();
  if (view->hello() != planned_for_) {
    planned_for_ = view->hello();
    scene_.plan = plan_of(*view);
    parts_measured_at_ = 0;
  }
  scene_.run = view;
  measure_parts(*view);
  const auto lanes = view->lanes();
  const std::int32_t ranks = view->hello() ? std::clamp(view->hello()->ranks, 0, 1 << 16) : 0;
  auto sets = lane_sets(lanes, state().shown(), ranks);
  const auto predicted = source().prediction();
  const bool with_prediction =
      state().shown() != Obtained::simulated && !(predicted ? *predicted : *view).extent(Obtained::simulated).empty();
  if (sets != lanes_ || with_prediction != with_prediction_) {
    lanes_ = std::move(sets);
    with_prediction_ = with_prediction;
    lay_out();
  }
  compose_frame();
  compose_overview();
  describe_step();
  describe_selection();
}

void TimelineView::measure_parts(const StoreView& view) {
  const std::size_t steps = view.steps(state().shown()).size();
  if (steps == 0 || (parts_shown_ == state().shown() && parts_measured_at_ > 0 && steps < 2 * parts_measured_at_))
    return;
  const PartLengths parts = part_lengths(view, state().shown());
  if (parts == PartLengths{}) return;  // no step is complete yet
  parts_ = parts;
  parts_measured_at_ = steps;
  parts_shown_ = state().shown();
}

FoldScale TimelineView::fold_scale() const {
  const double device_scale = devicePixelRatioF() * presentation();
  const PixelScale logical{state().visible(), static_cast<double>(scene_.layout.plot.width())};
  return {logical.ns_per_pixel() / device_scale, parts_, device_scale};
}

void TimelineView::compose_frame() {
  if (state().visible().empty() || scene_.layout.plot.isEmpty() || !isVisible()) return;
  FrameRequest request;
  request.run = source().view();
  request.prediction = source().prediction();
  request.shown = state().shown();
  request.rows = scene_.rows;
  request.range = state().visible();
  request.parts = parts_;
  request.device_scale = devicePixelRatioF() * presentation();
  request.width = static_cast<int>(std::lround(scene_.layout.plot.width() * request.device_scale));
  request.height = static_cast<int>(std::lround(scene_.layout.plot.height() * request.device_scale));
  request.scroll = scene_.scroll;
  request.theme = colours().theme;
  request.step = state().step();
  request.bubbles = bubbles_;
  wanted_frame_ = composer_->request(std::move(request));
  update();
}

void TimelineView::compose_overview() {
  const QRect area = scene_.layout.overview;
  if (area.isEmpty() || state().extent().empty() || !isVisible()) return;
  // The step's range if the view shows one step, else the complete range.
  const auto view = source().view();
  TimeRange range = state().extent();
  if (state().step())
    if (const auto step = step_with_forecast(*view, source().prediction() ? *source().prediction() : *view,
                                             state().shown(), *state().step())) {
      const TimeRange room = widened(*step, 0.06);
      if (state().visible().begin_ns >= room.begin_ns && state().visible().end_ns <= room.end_ns)
        range = widened(*step, 0.01);
    }
  FrameRequest request;
  request.run = view;
  request.shown = state().shown();
  request.range = range;
  request.device_scale = devicePixelRatioF() * presentation();
  request.width = static_cast<int>(std::lround(area.width() * request.device_scale));
  request.height = static_cast<int>(std::lround((area.height() - 2) * request.device_scale));
  request.theme = colours().theme;
  request.overview = true;
  const auto [last, number] = overview_composer_->latest();
  // Of an imported run the first ranks may be without a trace.
  const auto seen = std::ranges::find_if(lanes_, [](const LaneSet& set) { return is_observed(set.compute.front()); });
  request.rows =
      std::make_shared<TimelineRows>(lay_out_overview(static_cast<std::int32_t>(lanes_.size()), area.height() - 2,
                                                      seen == lanes_.end() ? Lane::compute : seen->compute.front()));
  // The extent may be known before the lanes: later the same snapshot has other rows.
  const bool same = last && last->request.rows->rows == request.rows->rows &&
                    last->request.run->revision() == view->revision() && last->request.run == view &&
                    last->request.range == range && last->request.width == request.width &&
                    last->request.theme == request.theme && last->request.shown == request.shown;
  scene_.overview_range = range;
  if (same && overview_composer_->settled()) return;
  overview_composer_->request(std::move(request));
}

std::shared_ptr<const StepInsight> TimelineView::insight_of(std::uint32_t step) const {
  return bubbles_ ? bubbles_->insight(source().view(), source().prediction(), state().shown(), step) : nullptr;
}

void TimelineView::describe_step() {
  scene_.summary.clear();
  scene_.legend.clear();
  step_range_ = {};
  if (!state().step()) return;
  const auto view = source().view();
  const auto range = view->step_range(state().shown(), *state().step());
  if (!range) return;
  step_range_ = *range;
  const auto insight = insight_of(*state().step());
  const std::int32_t identical_ranks = scene_.plan ? scene_.plan->identical_ranks : 1;
  scene_.summary = QString::fromStdString(
      step_summary(*state().step(), static_cast<std::int32_t>(lanes_.size()) * identical_ranks, *range, insight.get()));
  scene_.legend = legend_of(*view, state().shown(), *range);
  place_legend();
  update();
}

void TimelineView::describe_selection() {
  scene_.selected.reset();
  scene_.links.clear();
  scene_.details.clear();
  const auto view = source().view();
  if (const auto ref = state().selected()) {
    scene_.selected = box_of(*ref);
    if (const auto span = view->find(ref->rank, ref->step, ref->op, ref->obtained))
      scene_.links = links_of(*view, linked_of(ref->step).get(), ref->obtained, *span);
    if (scene_.selected) {
      SpanDetails details = details_of_box(*scene_.selected);
      // The line may be cut at its end, so the op's dependency is first.
      std::stable_partition(details.lines.begin(), details.lines.end(),
                            [](const std::string& line) { return is_wait(line); });
      scene_.details = QString::fromStdString(details.title);
      for (const std::string& line : details.lines)
        scene_.details += QStringLiteral(" · ") + QString::fromStdString(line);
    }
  }
  if (!state().selected_range().empty()) {
    const auto statistics = statistics_of(*view, state().shown(), state().selected_range());
    scene_.details = tr("range %1").arg(QString::fromStdString(summary_of(statistics)));
  }
  emit described(scene_.details);
  update();
}

QString TimelineView::selected_text() const {
  if (!state().selected_range().empty() || !scene_.selected)
    return scene_.details.isEmpty() ? DataView::selected_text() : scene_.details;
  const SpanDetails details = details_of_box(*scene_.selected);
  QStringList lines{QString::fromStdString(details.title)};
  for (const std::string& line : details.lines) lines << QString::fromStdString(line);
  return lines.join(QLatin1Char('\n'));
}

std::int64_t TimelineView::time_at(double x) const { return scene_.scale().time_at(x - scene_.layout.plot.left()); }

Lane TimelineView::first_lane(std::int32_t rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return at < lanes_.size() ? lanes_[at].compute.front() : Lane::compute;
}

QPoint TimelineView::point_of(std::int32_t rank, std::int64_t time_ns) const {
  const auto row = scene_.rows->find(rank, RowKind::compute, Lane::compute);
  const TimelineRow* found = row ? &scene_.rows->rows[*row] : nullptr;
  const int y = found ? scene_.rows->view_y(*found, scene_.scroll) + found->height / 2 : -scene_.scroll;
  const double x = PixelScale{state().visible(), double(scene_.layout.plot.width())}.x_of(time_ns);
  return {scene_.layout.plot.left() + static_cast<int>(std::floor(x)), scene_.layout.plot.top() + y};
}

std::optional<ShownBox> TimelineView::box_at(QPoint at) const {
  if (!scene_.layout.plot.contains(at)) return std::nullopt;
  const auto index = scene_.rows->row_at(scene_.rows->content_y(at.y() - scene_.layout.plot.top(), scene_.scroll));
  if (!index) return std::nullopt;
  const TimelineRow& row = scene_.rows->rows[*index];
  if (row.rank_count > 1) return std::nullopt;  // the row shows several ranks
  const auto view = source().view();
  const double ns_per_pixel = scene_.scale().ns_per_pixel();
  const std::int64_t time = time_at(at.x() + 0.5);
  if (row.kind == RowKind::ghost) {
    const auto predicted = source().prediction();
    const StoreView& there = predicted ? *predicted : *view;
    std::optional<PredictedStep> under;
    // The chosen step's forecast is drawn over those of later steps.
    if (const auto range = state().step() ? view->step_range(state().shown(), *state().step()) : std::nullopt)
      under = predicted_for(there, {*state().step(), *range});
    if (!under || time < under->range.begin_ns || time >= under->forecast_end_ns()) {
      const auto step = step_at(*view, state().shown(), time);
      under = step ? predicted_for(there, *step) : std::nullopt;
    }
    const LaneKey lane{row.rank, row.lane, Obtained::simulated};
    const auto span = under ? there.span_at(lane, time - under->shift_ns) : std::nullopt;
    if (!span) return std::nullopt;
    Box box = drawn_box(there, lane, *span, fold_scale());
    for (std::int64_t* stamp : {&box.begin_ns, &box.active_ns, &box.end_ns}) *stamp += under->shift_ns;
    return ShownBox{lane, row.kind, box};
  }
  const LaneKey lane{row.rank, row.lane, state().shown()};
  auto span = view->span_at(lane, time);
  if (!span) {
    const auto reach = static_cast<std::int64_t>(reach_pixels * ns_per_pixel);
    std::int64_t nearest = reach + 1;
    for (const Span& near : view->spans(lane, {time - reach, time + reach + 1}, 0, most_near)) {
      const std::int64_t distance = near.end_ns <= time ? time - near.end_ns : near.begin_ns - time;
      if (distance < nearest) {
        nearest = distance;
        span = near;
      }
    }
  }
  if (!span) return std::nullopt;
  return ShownBox{lane, row.kind, drawn_box(*view, lane, *span, fold_scale())};
}

const FrameBubble* TimelineView::bubble_at(QPoint at) const {
  if (!scene_.frame || scene_.frame->request.rows != scene_.rows || !scene_.layout.plot.contains(at)) return nullptr;
  const auto row = scene_.rows->row_at(scene_.rows->content_y(at.y() - scene_.layout.plot.top(), scene_.scroll));
  const std::int64_t time = time_at(at.x() + 0.5);
  for (const FrameBubble& bubble : scene_.frame->bubbles)
    if (row == bubble.row && bubble.stretch.begin_ns <= time && time < bubble.stretch.end_ns) return &bubble;
  return nullptr;
}

std::optional<ShownBox> TimelineView::box_of(const SpanRef& ref) const {
  if (ref.obtained != state().shown()) return std::nullopt;
  const auto view = source().view();
  const auto span = view->find(ref.rank, ref.step, ref.op, ref.obtained);
  if (!span) return std::nullopt;
  const LaneKey lane{ref.rank, ref.op.lane(), ref.obtained};
  return ShownBox{lane, is_compute(lane.lane) ? RowKind::compute : RowKind::communication,
                  drawn_box(*view, lane, *span, fold_scale())};
}

std::shared_ptr<const Step> TimelineView::linked_of(std::uint32_t step) const {
  return bubbles_ ? bubbles_->linked(step) : nullptr;
}

SpanDetails TimelineView::details_of_box(const ShownBox& box) const {
  const auto view = source().view();
  const auto predicted = source().prediction();
  const auto insight = insight_of(box.box.step);
  const auto linked = linked_of(box.box.step);
  SpanDetails details = details_of(*view, predicted.get(), insight.get(), linked.get(), box.lane, box.box);
  if (box.row == RowKind::ghost) {
    details.title += " · " + translated("predicted");
  } else if (linked) {
    if (const auto span = view->find(box.lane.rank, box.box.step, box.box.first_op, box.lane.obtained)) {
      const auto needs = dependencies_of(*view, *linked, box.lane.obtained, *span);
      for (std::string& line : dependency_lines(*view, needs, *span)) details.lines.push_back(std::move(line));
    }
  }
  return details;
}

void TimelineView::paintEvent(QPaintEvent*) {
  const bool hurry = std::exchange(hurry_, false);
  scene_.frame = composer_->latest().first;
  if (scene_.frame && !scene_.frame->reused) full_frame_ms_ = scene_.frame->milliseconds;
  if (hurry && scene_.frame) {
    FrameRequest moved_request = scene_.frame->request;
    moved_request.range = state().visible();
    const bool only_moved =
        moved_request.range != scene_.frame->request.range && reuse_of(*scene_.frame, moved_request);
    if ((only_moved || full_frame_ms_ < quick_frame_ms) && composer_->wait_for(wanted_frame_, longest_wait))
      scene_.frame = composer_->latest().first;
  }
  scene_.overview = overview_composer_->latest().first;
  scene_.visible = state().visible();
  // Times are counted from the step's begin if the view shows one step, else from the run's.
  const bool within_step = !step_range_.empty() && scene_.visible.length() <= 3 * step_range_.length();
  scene_.origin_ns = within_step ? step_range_.begin_ns : state().extent().begin_ns;
  scene_.selected_range = state().selected_range();
  scene_.cursor = state().cursor();
  scene_.playing = state().playing();
  scene_.device_scale = devicePixelRatioF() * presentation();
  QPainter painter(this);
  // Filling the area of a frame would cost as much as drawing it.
  QRect covered;
  if (scene_.frame && scene_.frame->request.rows == scene_.rows && scene_.frame->request.scroll == scene_.scroll &&
      !lanes_.empty())
    covered = covered_by(*scene_.frame, scene_.layout.plot, scene_.visible);
  const QRegion around = QRegion(rect()) - covered;
  for (const QRect& part : around) painter.fillRect(part, color(colours().ground));
  if (lanes_.empty() || state().visible().empty())
    paint_empty(painter, rect(), colours(), empty_title_, empty_hint_);
  else
    TimelinePainter(painter, scene_, fonts_).paint();
}

void TimelineView::set_empty_words(const QString& title, const QString& hint) {
  if (empty_title_ == title && empty_hint_ == hint) return;
  empty_title_ = title;
  empty_hint_ = hint;
  if (lanes_.empty()) update();
}

void TimelineView::arrange() {
  lay_out();
  place_legend();
}

}  // namespace rankscope::app
