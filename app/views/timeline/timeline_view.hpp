// SPDX-License-Identifier: GPL-3.0-or-later
// The time line: every rank's lanes over one time axis, the prediction as a ghost under the measurement, idle stretches
// hatched and named.
//
// Never blocks: frames are composed on worker threads; until the new one is ready, the last one is shown shifted or
// stretched to the current range (the view waits for a frame that is expected within a few milliseconds).
//
//   W S  zoom in, out          A D  left, right        F  fit the selection or the step       wheel  zoom at the
//   pointer . ,  next, previous op     [ ]  previous, next step   R  selection to range               drag   move ↑ ↓
//   same time, other rank    N P  next, previous op of all ranks in time    Esc  drops the selection   Home  everything
//   Space  plays     shift-drag  range    G  groups ranks otherwise    T  pins the selected op's rank to the top
#pragma once
#include <memory>

#include "app/models/bubble_source.hpp"
#include "app/models/composer.hpp"
#include "app/models/navigator.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/timeline/timeline_painter.hpp"

class QKeyEvent;

namespace rankscope::app {

/// A short text about what is marked: "step 3 · B:c2:m3 on rank 2".
QString words_of(const TraceMark& mark);

class TimelineView : public DataView {
  Q_OBJECT
 public:
  /// `navigator` and `bubbles` outlive the view; without `bubbles` idle stretches have no names.
  TimelineView(SharedState& state, SnapshotSource& source, Navigator& navigator, BubbleSource* bubbles,
               QWidget* parent = nullptr);
  ~TimelineView() override;

  void set_presentation(double scale) override;
  Grouping grouping() const { return grouping_; }
  void set_grouping(Grouping grouping);
  /// To the next kind of grouping that the plan has.
  void next_grouping();
  void set_pinned(std::int32_t rank, bool pinned);
  const RowChoice& row_choice() const { return choice_; }
  bool settled() const override;
  QSize sizeHint() const override { return {1100, 420}; }
  QSize minimumSizeHint() const override { return {320, 160}; }

  /// The selected op with the text of its card, or the selected range; else the table.
  QString selected_text() const override;
  /// Scrolls to a rank, and opens the group that hides it.
  void reveal(std::int32_t rank);

  /// Handles the key; false for a key without a meaning here. For a window whose focus is elsewhere.
  bool press(int key);

  /// Shown as flags; `can_mark`: more can be made.
  void set_marks(const std::vector<TraceMark>& marks, bool can_mark);

  /// The text and the hint while there is nothing to show.
  void set_empty_words(const QString& title, const QString& hint);

  // The content of the screen, for tests and pictures.
  const TimelineLayout& layout_now() const { return scene_.layout; }
  const TimelineRows& rows() const { return *scene_.rows; }
  std::shared_ptr<const Frame> frame() const { return scene_.frame; }
  const TimelineScene& scene() const { return scene_; }
  /// The position on the widget of that time on that rank's compute lane.
  QPoint point_of(std::int32_t rank, std::int64_t time_ns) const;

 signals:
  /// The op under the pointer or the selected one, as one line; empty for none.
  void described(const QString& text);
  /// The user wants to see the selected op in that view.
  void view_wanted(const QString& name);
  /// The user's actions on marks: by their indices in the list of set_marks(), and a new one without a note.
  void mark_wanted(std::size_t mark);
  void mark_change_wanted(std::size_t mark);
  void mark_delete_wanted(std::size_t mark);
  void new_mark_wanted(const TraceMark& mark);

 protected:
  void take_colours() override;
  /// The spans of the visible time.
  ViewTable rows_shown() const override;
  void paintEvent(QPaintEvent* event) override;
  void arrange() override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void on_show() override { lay_out(); }
  void fill_menu(QMenu& menu, QPoint at) override;

 private:
  enum class Gesture { none, pressed, panning, selecting, overview };

  // timeline_view.cpp: the visible content
  void take_in();        ///< another snapshot, or other settings
  void compose_frame();  ///< requests the picture of the current range
  void compose_overview();
  void describe_step();  ///< the header's line, the legend
  void describe_selection();
  std::optional<ShownBox> box_at(QPoint at) const;
  const FrameBubble* bubble_at(QPoint at) const;
  std::optional<ShownBox> box_of(const SpanRef& ref) const;
  std::shared_ptr<const StepInsight> insight_of(std::uint32_t step) const;
  /// Null while it is not known.
  std::shared_ptr<const Step> linked_of(std::uint32_t step) const;
  SpanDetails details_of_box(const ShownBox& box) const;
  std::int64_t time_at(double x) const;
  /// The lane of a rank's first compute row.
  Lane first_lane(std::int32_t rank = 0) const;
  void measure_parts(const StoreView& view);
  FoldScale fold_scale() const;  ///< of the picture of the current range

  // timeline_arrange.cpp: positions of the rows
  void lay_out();  ///< rows and parts, after a change of size, lanes, groups or open bands
  void place_legend();
  void fill_op_menu(QMenu& menu, const ShownBox& box);
  void toggle(const RankBand& band);
  void open_all(bool open);
  const RankBand* band_at(int y) const;  ///< y of the widget
  std::optional<HoverCard> group_card(QPoint at) const;

  // timeline_marks.cpp
  std::optional<std::size_t> mark_at(QPoint at) const;
  std::optional<HoverCard> mark_card(QPoint at) const;
  void fill_mark_menu(QMenu& menu, QPoint at);

  // timeline_input.cpp: user input
  void hover(QPoint at);
  void click(QPoint at);
  void select(const ShownBox& box);
  void step_op(int by);
  void step_rank(int by);
  void step_in_time(int by);  ///< to the op of any rank and lane that begins next
  void bring_on_screen(TimeRange range, std::int32_t rank);
  void scroll_to(int y);
  void pan_by(double share);
  std::int64_t zoom_centre() const;

  Navigator& navigator_;
  BubbleSource* bubbles_;
  TimelineFonts fonts_;
  TimelineScene scene_;
  RowChoice choice_;
  Grouping grouping_ = Grouping::automatic;
  std::vector<LaneSet> lanes_;
  bool with_prediction_ = false, legend_line_ = false, can_mark_ = false;
  TimeRange step_range_;               ///< of the current step
  const void* planned_for_ = nullptr;  ///< the hello that scene_.plan was read from

  // How far ops are opened. Measured again only when the run has twice as many steps, so that open ops stay open.
  PartLengths parts_;
  std::size_t parts_measured_at_ = 0;  ///< steps
  Obtained parts_shown_ = Obtained::measured;

  Gesture gesture_ = Gesture::none;
  QPoint pressed_at_;
  QPointF pointer_;
  TimeRange pressed_visible_;
  int pressed_scroll_ = 0;
  bool pointer_inside_ = false;

  std::uint64_t wanted_frame_ = 0;
  double full_frame_ms_ = 0;  ///< time to compose the last complete frame
  QString empty_title_ = tr("Nothing to show yet"), empty_hint_;
  bool hurry_ = false;  ///< the requested frame follows a gesture: wait for it a short time
  std::unique_ptr<Composer> composer_, overview_composer_;  ///< last: their threads call this object
};

}  // namespace rankscope::app
