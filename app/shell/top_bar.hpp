// SPDX-License-Identifier: GPL-3.0-or-later
// The top bar: the open content, Run and Stop, how the data were obtained, and step navigation.
#pragma once
#include <QWidget>

#include "app/models/navigator.hpp"
#include "app/session/session.hpp"

class QAction;
class QComboBox;
class QLabel;
class QMenu;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace rankscope::app {

class ElidedLabel;

/// The text of a status label ("pill"). No widgets.
struct SourceWords {
  QString label;        ///< "LIVE", "ENDED", "DETACHED", "RECORDED", "SIMULATED"
  QString obtained;     ///< "measured", "emulated", "predicted"
  QString clock;        ///< "wall clock, ± 12 µs", "device clock: measured costs, modelled links"
  QString short_clock;  ///< the same for little space: "device clock"
};
SourceWords words_of(SourceLabel label, Obtained shown, const StoreView& view);

class TopBar : public QWidget {
  Q_OBJECT
 public:
  TopBar(Session& session, SharedState& state, Navigator& navigator, QWidget* parent = nullptr);
  /// The menu of the button at the left.
  void set_menu(QMenu* menu);
  void set_actions(QAction* run, QAction* stop, QAction* palette, QAction* help);
  QString source_text() const;
  /// Moves the keyboard focus to the button Run.
  void focus_run();
  bool run_has_focus() const;
  /// The labs, numbered, and other opened content, as listed; with headings between them.
  QStringList listed() const;

 signals:
  void scenario_wanted(const QString& file);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void dress();
  void lay_out();
  void list_labs();
  void connect_all();
  void add_heading(const QString& words);
  void take_scenario();
  void take_state();
  void take_step();
  void take_playback();
  void fit();  ///< to the width
  void fill_more();

  Session& session_;
  SharedState& state_;
  Navigator& navigator_;
  QToolButton *menu_, *palette_, *help_, *back_, *on_, *play_, *more_;
  QComboBox *scenarios_, *speeds_;
  QPushButton *run_, *stop_;
  QLabel *label_, *obtained_, *step_label_, *of_steps_;
  ElidedLabel* clock_;
  SourceWords words_;
  QProgressBar* progress_;
  QSpinBox* step_;
  int labs_end_ = 0;                           ///< of the list
  bool filling_ = false, any_opened_ = false;  ///< the list has an entry that is not a lab
};

}  // namespace rankscope::app
