// SPDX-License-Identifier: GPL-3.0-or-later
// The base class of all views except the time line: shared state, source, theme, and the explanation of an empty
// view. Views never own data.
#pragma once
#include <QWidget>

#include "app/models/palette.hpp"
#include "app/models/shared_state.hpp"
#include "app/models/snapshot_source.hpp"
#include "app/views/common/view_table.hpp"

class QMenu;
class QPainter;
class QPushButton;

namespace rankscope::app {

/// Properties of a view or a part of one: true where '.', ',', Space, Home and End play it while it has the focus, and
/// not the time line; and how high it would be, in front of other tabs, to show what it has, as far as the time line
/// yields.
inline constexpr const char *plays_property = "plays", *preferred_height_property = "wantedHeight";

class DataView : public QWidget, public TableSource {
  Q_OBJECT
 public:
  DataView(SharedState& state, SnapshotSource& source, QWidget* parent = nullptr);

  const Palette& colours() const { return *colours_; }
  virtual void set_theme(Theme theme);
  /// False while an answer from a worker thread is under way: a picture taken now would be out of date.
  virtual bool settled() const { return true; }
  /// What it shows, for CSV; no rows while it is veiled. No titles: it is no table.
  ViewTable table() const final;
  /// What is selected in it, as text to copy: the chosen row of its table; where nothing is chosen, the whole table. A
  /// line a row, cells between tabs. Empty while it is veiled or shows nothing.
  virtual QString selected_text() const;
  /// How what it shows was obtained, where that is not the open run; empty: it is.
  virtual QString own_source() const { return {}; }
  /// Painted so many times as large as it paints itself, for the last row of a class; 1: not so. Its letters must then
  /// be no smaller than the interface font's: none is below 24 px.
  virtual void set_presentation(double scale);
  double presentation() const { return presentation_; }
  bool presents() const { return presentation_ > 1; }
  /// Shows nothing but why, and a way to see it all the same: a question about it is still open.
  void set_veiled(bool veiled);
  bool veiled() const { return veiled_; }

 signals:
  /// The view's menu is about to open: whoever can save the view or show it alone adds it.
  void menu_opens(QMenu* menu);
  /// Asks to show the hidden content without an answer.
  void show_anyway_wanted();
  /// A rank was clicked; a unit's way out ("node", 3); what one rank sends to another one.
  void rank_pointed(int rank);
  void uplink_pointed(const QString& level, int unit);
  void link_pointed(int from, int to);

 protected:
  /// What it shows beside its children: on its ground, in the interface's font. Not asked for while it is veiled.
  virtual void paint(QPainter&) {}
  /// What a tool tip says at that place of it; empty: none. Not asked for while it is veiled.
  virtual QString tip_at(QPoint) const { return {}; }
  /// All that table() is of.
  virtual ViewTable rows_shown() const { return {}; }
  /// Places its parts, and hides those that are not to be seen: again at every change of its size and of the veil.
  virtual void arrange() {}
  virtual void on_veil() { arrange(); }
  virtual QString veil_words() const { return tr("Hidden until you answer the question on the left and run."); }
  /// False where only some words of it are veiled: then there is nothing to be shown all the same.
  virtual bool veils_all() const { return true; }
  /// Adds what a person can do with what is at that place.
  virtual void fill_menu(QMenu&, QPoint) {}
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent*) override { arrange(); }
  bool event(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  SharedState& state() const { return state_; }
  SnapshotSource& source() const { return source_; }

 private:
  bool is_hidden() const { return veiled_ && veils_all(); }
  SharedState& state_;
  SnapshotSource& source_;
  const Palette* colours_;
  bool veiled_ = false;
  QPushButton* show_anyway_ = nullptr;  ///< null until it is veiled for the first time
  double presentation_ = 1;
};

/// In the middle of `area`: what is missing, and beneath it what would fill the view.
void paint_empty(QPainter& painter, const QRectF& area, const Palette& colours, const QString& title,
                 const QString& hint);

/// The least that an entry of a legend takes, with the gap behind it.
qreal legend_entry_width(const QFontMetricsF& metrics, const QString& name);
/// Coloured squares with their names, from the left; wraps never: entries that do not fit are left out.
/// Returns the width used.
qreal paint_legend(QPainter& painter, QPointF at, qreal width, const Palette& colours,
                   const std::vector<std::pair<Argb, QString>>& entries);

}  // namespace rankscope::app
