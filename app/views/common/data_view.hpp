// SPDX-License-Identifier: GPL-3.0-or-later
// The base class of all views: shared state, source, and the explanation of an empty view. Views never own data.
#pragma once
#include <map>
#include <string>

#include "app/models/shared_state.hpp"
#include "app/models/snapshot_source.hpp"
#include "app/views/common/painted_widget.hpp"
#include "app/views/common/view_table.hpp"

class QMenu;
class QPainter;
class QPushButton;

namespace rankscope::app {

/// Properties of a view or a part of one: true if '.', ',', Space, Home and End play it instead of the time line while
/// it has the focus; and the height that it needs to show all its content, in front of other tabs, as far as the time
/// line can shrink.
inline constexpr const char *plays_property = "plays", *preferred_height_property = "wantedHeight";

class DataView : public PaintedWidget, public TableSource {
  Q_OBJECT
 public:
  DataView(SharedState& state, SnapshotSource& source, QWidget* parent = nullptr);

  /// False while a worker thread computes a result: a picture taken now would be outdated.
  virtual bool settled() const { return true; }
  /// Its content, for CSV; no rows while it is veiled. No titles: it is no table.
  ViewTable table() const final;
  /// The selected content as text to copy: the chosen row of its table, or the complete table if nothing is chosen.
  /// One line per row, tabs between cells. Empty while it is veiled or shows nothing.
  virtual QString selected_text() const;
  /// Sets the values of a lesson's link or evidence, by key (engine/lesson/lab/view_inputs.hpp); other values
  /// are not changed.
  virtual void show_inputs(const std::map<std::string, std::string>&) {}
  /// How its content was obtained, if it is not of the open run; empty: it is.
  virtual QString own_source() const { return {}; }
  /// The enlargement of the view for a presentation; 1: none. Its letters must then not be smaller than the interface
  /// font, so that none is below 24 px.
  virtual void set_presentation(double scale);
  double presentation() const { return presentation_; }
  bool presents() const { return presentation_ > 1; }
  /// Shows only the reason, and a button to show the content anyway: a question about it is still open.
  void set_veiled(bool veiled);
  bool veiled() const { return veiled_; }

 signals:
  /// The view's menu is about to open: receivers add actions to save the view or to show it alone.
  void menu_opens(QMenu* menu);
  /// Requests to show the hidden content without an answer.
  void show_anyway_wanted();
  /// A click on a rank; on a unit's uplink ("node", 3); on the bytes from one rank to another.
  void rank_pointed(int rank);
  void uplink_pointed(const QString& level, int unit);
  void link_pointed(int from, int to);

 protected:
  /// Paints its content except its children, on its background, in the interface's font. Not called while it is
  /// veiled.
  virtual void paint(QPainter&) {}
  /// The rows of table().
  virtual ViewTable rows_shown() const { return {}; }
  /// Places its parts, and hides those without space: at every change of its size, of the veil and of the
  /// enlargement.
  virtual void arrange() {}
  /// It becomes visible: what was not computed while it was hidden is needed.
  virtual void on_show() {}
  /// It may stay visible: while a window opens, all views are shown for a moment, and those behind other tabs are then
  /// hidden again.
  virtual void on_stay() {}
  virtual void on_veil() { arrange(); }
  virtual QString veil_words() const { return tr("Hidden until you answer the question on the left and run."); }
  /// False if only some of its texts are veiled: then it has no button to show them anyway.
  virtual bool veils_all() const { return true; }
  /// Adds the actions for the item at that position.
  virtual void fill_menu(QMenu&, QPoint) {}
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent*) override { arrange(); }
  void showEvent(QShowEvent* event) override;
  bool event(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  SharedState& state() const { return state_; }
  SnapshotSource& source() const { return source_; }

 private:
  bool is_hidden() const { return veiled_ && veils_all(); }
  SharedState& state_;
  SnapshotSource& source_;
  bool veiled_ = false;
  QPushButton* show_anyway_ = nullptr;  ///< null until it is veiled for the first time
  double presentation_ = 1;
};

/// Paints what is missing in the middle of `area`, and below it how to fill the view.
void paint_empty(QPainter& painter, const QRectF& area, const Palette& colours, const QString& title,
                 const QString& hint);

/// The least width of a legend's entry, with the gap after it.
qreal legend_entry_width(const QFontMetricsF& metrics, const QString& name);
/// Coloured squares with their names, from the left, in one line: entries that do not fit are omitted.
/// Returns the width used.
qreal paint_legend(QPainter& painter, QPointF at, qreal width, const Palette& colours,
                   const std::vector<std::pair<Argb, QString>>& entries);

}  // namespace rankscope::app
