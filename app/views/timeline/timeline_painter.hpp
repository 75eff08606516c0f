// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the time line: the composed frame, and on top the few hundred items that need a painter. Independent of
// input; TimelineView collects the visible items in a TimelineScene.
#pragma once
#include <QFont>
#include <QHash>
#include <QPainter>
#include <QRect>
#include <QSize>
#include <QStaticText>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "app/models/frame.hpp"
#include "app/models/run_plan.hpp"
#include "app/models/shared_state.hpp"
#include "app/models/span_details.hpp"
#include "app/models/time_axis.hpp"
#include "telemetry/trace/marks.hpp"

namespace rankscope::app {

/// Positions of the parts of the time line in its widget, in logical pixels.
struct TimelineLayout {
  QRect header;    ///< title, summary, and the legend if that has no line of its own
  QRect legend;    ///< empty: it is in the header
  QRect overview;  ///< the complete step or run, above the plot's columns
  QRect axis;      ///< ticks
  QRect labels;    ///< ranks, to the left of the plot
  QRect plot;      ///< rows
  QRect details;   ///< one or two lines about the selection

  /// `line`: height of a line of text. Parts without space are empty: first the details, then the overview, then
  /// the legend's own line, then the header.
  static TimelineLayout of(QSize widget, int line, int label_width, bool legend_line = false);
};

/// Texts of one font, shaped and measured once each.
class TextWidths {
 public:
  explicit TextWidths(const QFont& font) : font_(font) {}
  const QFont& font() const { return font_; }
  qreal width(const QString& text) { return shaped(text).width; }
  /// Within `place`, aligned horizontally by `flags` (Qt::AlignLeft, AlignHCenter or AlignRight), in the middle of its
  /// height.
  void draw(QPainter& painter, const QRectF& place, int flags, const QString& text, const QColor& colour);

 private:
  struct Shaped {
    QStaticText text;
    qreal width = 0;
  };
  Shaped& shaped(const QString& text);

  QFont font_;
  static constexpr int generation = 1500;  ///< texts, until they are the older generation
  QHash<QString, Shaped> known_, before_;
};

struct TimelineFonts {
  explicit TimelineFonts(const QFont& base, const QFont& numbers);
  TextWidths title, text, small, tiny, number;
};

/// A box on the screen.
struct ShownBox {
  LaneKey lane;
  RowKind row = RowKind::compute;
  Box box;
};

/// The item under the pointer.
struct HoverCard {
  QPoint at;
  SpanDetails details;
  std::optional<ShownBox> box;  ///< outlined
};

/// A colour of the picture, by name: collectives of some lanes have their own.
struct LegendEntry {
  SpanClass kind = SpanClass::other;
  Lane lane = Lane::compute;
  bool operator==(const LegendEntry&) const = default;
};

/// The complete input of a picture of the time line.
struct TimelineScene {
  TimelineLayout layout;
  const Palette* colours = nullptr;
  TimeRange visible, selected_range, overview_range;
  std::int64_t origin_ns = 0;  ///< origin of the axis
  std::optional<std::int64_t> cursor;
  bool playing = false;
  int scroll = 0;
  double device_scale = 1;
  std::shared_ptr<const TimelineRows> rows;
  std::shared_ptr<const Frame> frame, overview;
  std::shared_ptr<const RunPlan> plan;
  std::shared_ptr<const StoreView> run;  ///< for the names of an imported run's ops and lanes
  QString summary, details;
  std::vector<LegendEntry> legend;
  std::optional<ShownBox> selected;
  std::vector<MessageLink> links;
  std::optional<HoverCard> hover;
  std::vector<TraceMark> marks;
  /// Whether a mark is in the visible time.
  bool shows(const TraceMark& mark) const;
  PixelScale scale() const { return {visible, static_cast<double>(layout.plot.width())}; }
};

/// The part of `place` that a frame covers when `shown` is visible there: all of it for the exact frame, less while an
/// older one is shifted or stretched.
QRect covered_by(const Frame& frame, QRect place, TimeRange shown);

class TimelinePainter {
 public:
  TimelinePainter(QPainter& painter, const TimelineScene& scene, TimelineFonts& fonts);
  void paint();

 private:
  void header();
  double legend(QRect area, double from, double right);
  void shapes();
  void overview();
  void axis();
  void bands();
  void frame();
  void grid();
  void box_labels();
  std::vector<std::string> labels_on(const FrameBox& box) const;
  void bubble_labels();
  void range();
  void selection();
  void links();
  void marks();
  void cursor();
  QString cursor_label() const;
  std::optional<QRectF> cursor_flag() const;
  void card();
  QString hint() const;
  void details();
  void scroll_bar();

  QRectF row_rect(std::size_t row) const;  ///< on the widget
  bool under_pinned(std::size_t row) const;
  std::optional<QRectF> box_rect(const ShownBox& box) const;
  QPointF end_point(const MessageEnd& end, bool arrives) const;
  void image(const Frame& frame, QRect place, TimeRange shown);
  void text(TextWidths& font, const QRectF& place, int flags, const QString& text, Argb colour);

  QPainter& p_;
  const TimelineScene& s_;
  TimelineFonts& fonts_;
  PixelScale scale_;
};

/// How a box's labels, from the longest to the shortest, fit it: the first that fits at all, and with a margin.
inline constexpr std::size_t no_label = static_cast<std::size_t>(-1);
struct LabelFit {
  double room = 0;
  std::size_t fits = no_label, fits_well = no_label;
};
/// The label that similar boxes of one lane share: it fits well on most of them, and fits on every one that is not much
/// narrower than the others.
std::size_t form_of_lane(std::vector<LabelFit> fits);

/// The free space for a label of [x0, x1) within [left, right), around the middle; empty if it is too
/// narrow.
std::optional<std::pair<double, double>> label_room(double x0, double x1, double left, double right, double padding);

}  // namespace rankscope::app
