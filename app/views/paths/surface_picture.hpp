// SPDX-License-Identifier: GPL-3.0-or-later
// The surface with the paths on it: drawn up to the current step, faintly after it, with a mark at the position of each
// optimizer.
#pragma once
#include <memory>
#include <set>

#include "app/session/latest.hpp"
#include "app/views/common/painted_widget.hpp"
#include "app/views/paths/surface_image.hpp"
#include "engine/lesson/descent/path.hpp"

namespace rankscope::app {

class SurfacePicture : public PaintedWidget {
  Q_OBJECT
 public:
  explicit SurfacePicture(QWidget* parent);
  /// Null: there is nothing yet; `failure` has the reason, if known.
  void show_paths(std::shared_ptr<const Paths> paths, const QString& failure);
  /// Which optimizers are drawn.
  void set_drawn(const std::set<std::string>& optimizers);
  void set_step(int step);
  /// The rectangle of the surface, within its axes.
  SurfaceScale scale() const;
  /// False while its contours are composed.
  bool settled() const { return latest_.settled(); }
  /// The text for the pointer there; empty: none.
  QString tip_at(QPoint at) const override;
  QSize minimumSizeHint() const override { return {200, 120}; }

 signals:
  /// The user points at a new start of the paths.
  void start_wanted(Point start);

 protected:
  void take_colours() override { compose(); }
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  struct Composed {
    QImage image;
    SurfaceWindow shown;
    std::string name;
    double condition = 0;
    Theme theme = Theme::dark;
  };
  void compose();
  void paint_axes(QPainter& painter, const SurfaceScale& scale) const;
  void paint_levels(QPainter& painter, const SurfaceScale& scale) const;
  void paint_places(QPainter& painter, const SurfaceScale& scale) const;
  void paint_path(QPainter& painter, const SurfaceScale& scale, const OptimizerPath& path) const;
  void paint_names(QPainter& painter, const SurfaceScale& scale) const;
  std::vector<const OptimizerPath*> drawn() const;
  /// The current position of an optimizer's mark, and whether the optimizer itself is there.
  std::pair<QPointF, bool> mark_of(const OptimizerPath& path, const SurfaceScale& scale) const;
  enum class PlaceKind { minimum, shallow_minimum, saddle, start };
  static QString name_of(PlaceKind kind);
  /// Minima, saddles and the start that are inside the picture.
  std::vector<std::pair<QPointF, PlaceKind>> places(const SurfaceScale& scale) const;

  std::shared_ptr<const Paths> paths_;
  Surface surface_;
  QString failure_;
  std::set<std::string> optimizers_;
  int step_ = 0;
  Composed composed_;
  Latest<Composed> latest_;
};

}  // namespace rankscope::app
