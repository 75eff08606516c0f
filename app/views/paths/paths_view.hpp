// SPDX-License-Identifier: GPL-3.0-or-later
// The paths view: optimizer paths on a surface of two parameters over its contours, the loss by step, and a table
// to select optimizers and set their rates. The engine computes the paths (`rankscope-engine paths`); no model
// is trained, and the view does not depend on the open content.
#pragma once
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QTimer>
#include <map>

#include "app/session/path_cache.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/elided_label.hpp"
#include "app/views/paths/path_player.hpp"
#include "app/views/paths/paths_model.hpp"
#include "app/views/paths/surface_picture.hpp"
#include "app/views/plot/plot_chart.hpp"

namespace rankscope::app {

class PathsView : public DataView {
  Q_OBJECT
 public:
  PathsView(SharedState& state, SnapshotSource& source, PathCache& cache, QWidget* parent = nullptr);

  bool settled() const override;
  QString own_source() const override;

  /// Shows these paths: surface, rates and all other settings; draws the optimizers in the request.
  void show_request(const PathRequest& request);
  /// The current request to the engine.
  PathRequest request() const;
  const std::shared_ptr<const Paths>& paths() const { return paths_; }
  PathsModel& model() { return model_; }
  PathPlayer& player() { return *player_; }
  SurfacePicture& picture() { return *picture_; }
  QTableView& optimizers() { return *table_; }
  QComboBox* surfaces() { return surfaces_; }
  QDoubleSpinBox* condition() { return condition_; }
  QDoubleSpinBox* noise() { return noise_; }
  QSpinBox* steps() { return steps_; }
  QPushButton* reset_button() { return reset_; }
  /// The loss by step, as drawn, and its position; empty without space for it.
  Plot plot() const;
  QRectF plot_area() const;

 protected:
  void take_colours() override;
  void arrange() override;
  ViewTable rows_shown() const override;
  QString veil_words() const override { return tr("Hidden until you answer the questions on the left."); }
  void fill_menu(QMenu& menu, QPoint at) override;
  void paint(QPainter& painter) override;
  void on_show() override { patience_.start(); }
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// The user's choices for one surface; the others have their defaults.
  struct Chosen {
    std::map<std::string, double> rates;
    std::optional<Point> start;
    int steps = 0;
    double noise = 0;
    double condition = usual_condition;
    std::vector<std::string> settings;
  };
  void make_controls();
  void show_chosen();
  void ask_soon();
  void ask();
  void take_answer();
  void take_step(int step);
  void fit_columns(int room);
  void show_plot();
  std::string surface_name() const;
  Chosen& chosen() { return chosen_[surface_name()]; }

  PathCache& cache_;
  QComboBox* surfaces_;
  QDoubleSpinBox *condition_, *noise_;
  QSpinBox* steps_;
  QPushButton* reset_;
  ElidedLabel *formula_, *source_;
  SurfacePicture* picture_;
  PathPlayer* player_;
  PathsModel model_;
  QTableView* table_;
  PlotChart* chart_;
  QTimer patience_;                       ///< while a box is stepped, only its last value is computed
  std::map<std::string, Chosen> chosen_;  ///< by surface
  std::shared_ptr<const Paths> paths_;
  QString failure_;
};

}  // namespace rankscope::app
