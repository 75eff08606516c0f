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

  /// False while a worker thread computes a result: a picture taken now would be out of date.
  virtual bool settled() const { return true; }
  /// What it shows, for CSV; no rows while it is veiled. No titles: it is no table.
  ViewTable table() const final;
  /// What is selected in it, as text to copy: the chosen row of its table; where nothing is chosen, the whole table. A
  /// line a row, cells between tabs. Empty while it is veiled or shows nothing.
  virtual QString selected_text() const;
  /// Sets what a lesson's link or evidence asks for, by key (engine/lesson/lab/view_inputs.hpp); what is not named
  /// stays as it is.
  virtual void show_inputs(const std::map<std::string, std::string>&) {}
  /// How its content was obtained, if it is not of the open run; empty: it is.
  virtual QString own_source() const { return {}; }
  /// The enlargement of the view for a presentation; 1: none. Its letters must then not be smaller than the interface
  /// font, so that none is below 24 px.
  virtual void set_presentation(double scale);
  double presentation() const { return presentation_; }
  bool presents() const { return presentation_ > 1; }
  /// Shows only the reason, and a button to see it anyway: a question about it is still open.
  void set_veiled(bool veiled);
  bool veiled() const { return veiled_; }

 signals:
  /// The view's menu is about to open: receivers add actions to save the view or to show it alone.
  void menu_opens(QMenu* menu);
  /// Asks to show the hidden content without an answer.
  void show_anyway_wanted();
  /// A click on a rank; on a unit's uplink ("node", 3); on the bytes from one rank to another.
  void rank_pointed(int rank);
  void uplink_pointed(const QString& level, int unit);
  void link_pointed(int from, int to);

 protected:
  /// Paints its content besides its children, on its background, in the interface's font. Not called while it is
  /// veiled.
  virtual void paint(QPainter&) {}
  /// The rows of table().
  virtual ViewTable rows_shown() const { return {}; }
  /// Places its parts, and hides those that are not visible: at every change of its size, of the veil and of the
  /// enlargement.
  virtual void arrange() {}
  /// It comes into view: what was not computed while it was hidden is needed.
  virtual void on_show() {}
  virtual void on_veil() { arrange(); }
  virtual QString veil_words() const { return tr("Hidden until you answer the question on the left and run."); }
  /// False if only some texts of it are veiled: then it has no button to show it anyway.
  virtual bool veils_all() const { return true; }
  /// Adds the actions for the item at that place.
  virtual void fill_menu(QMenu&, QPoint) {}
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent*) override { arrange(); }
  void showEvent(QShowEvent*) override { on_show(); }
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

/// Paints in the middle of `area` what is missing, and below it how to fill the view.
void paint_empty(QPainter& painter, const QRectF& area, const Palette& colours, const QString& title,
                 const QString& hint);

/// The least that an entry of a legend takes, with the gap behind it.
qreal legend_entry_width(const QFontMetricsF& metrics, const QString& name);
/// Coloured squares with their names, from the left, in one line: entries that do not fit are left out.
/// Returns the width used.
qreal paint_legend(QPainter& painter, QPointF at, qreal width, const Palette& colours,
                   const std::vector<std::pair<Argb, QString>>& entries);

}  // namespace rankscope::app
