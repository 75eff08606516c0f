// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/paths/surface_picture.hpp"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/views/common/axis.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/paths/optimizer_marker.hpp"

namespace rankscope::app {
namespace {

constexpr double left = 50, bottom = 40, top = 26, right = 64;
constexpr double bar_width = 10, bar_gap = 12;  ///< of the scale of levels at the right
constexpr double tick_width = 56, tick_height = 34;
constexpr double mark_size = 6.5, hand = 12;  ///< largest distance of the pointer
constexpr double least_dot_gap = 5;           ///< pixels between steps with a dot each

/// Limits coordinates to numbers that painters can handle.
QPointF within_reach(QPointF at) { return {std::clamp(at.x(), -1e5, 1e5), std::clamp(at.y(), -1e5, 1e5)}; }

QString point_words(Point point) { return QStringLiteral("(%1, %2)").arg(point.x, 0, 'g', 4).arg(point.y, 0, 'g', 4); }

}  // namespace

SurfacePicture::SurfacePicture(QWidget* parent)
    : PaintedWidget(parent), surface_(make_surface("ravine")), latest_([this](Composed made) {
        composed_ = std::move(made);
        update();
      }) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Paths on the surface"));
}

void SurfacePicture::show_paths(std::shared_ptr<const Paths> paths, const QString& failure) {
  paths_ = std::move(paths);
  failure_ = failure;
  if (paths_) {
    surface_ = make_surface(paths_->request.surface, paths_->request.condition);
    compose();
  }
  update();
}

void SurfacePicture::set_drawn(const std::set<std::string>& optimizers) {
  optimizers_ = optimizers;
  update();
}

void SurfacePicture::set_step(int step) {
  step_ = step;
  update();
}

SurfaceScale SurfacePicture::scale() const {
  return scale_for(surface_.window,
                   QRectF(left, top, std::max(40.0, width() - left - right), std::max(40.0, height() - top - bottom)));
}

// The last picture is shown until the next one is ready.
void SurfacePicture::compose() {
  if (!paths_ || width() < 40 || height() < 40) return;
  const SurfaceScale now = scale();
  const double ratio = devicePixelRatioF();
  const QSize pixels = (now.area.size() * ratio).toSize();
  const PathRequest& request = paths_->request;
  latest_.request([surface = surface_, shown = now.shown, pixels, ratio, colours = colours(),
                   condition = request.condition]() -> Composed {
    return {compose_surface(surface, shown, pixels, ratio, colours), shown, surface.name, condition, colours.theme};
  });
}

std::vector<const OptimizerPath*> SurfacePicture::drawn() const {
  std::vector<const OptimizerPath*> there;
  if (!paths_) return there;
  for (const OptimizerPath& path : paths_->each)
    if (optimizers_.count(path.optimizer) > 0) there.push_back(&path);
  return there;
}

void SurfacePicture::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours().ground));
  if (!paths_)
    return paint_empty(painter, rect(), colours(), failure_.isEmpty() ? tr("Computing the paths…") : tr("No paths"),
                       failure_.isEmpty() ? tr("rankscope-engine paths is running.") : failure_);
  painter.setRenderHint(QPainter::Antialiasing);
  const SurfaceScale now = scale();
  painter.fillRect(now.area, color(contour_fill(0.5, colours())));
  if (!composed_.image.isNull() && composed_.name == surface_.name) painter.drawImage(now.area, composed_.image);
  paint_axes(painter, now);
  paint_levels(painter, now);
  painter.save();
  painter.setClipRect(now.area);
  for (const OptimizerPath* path : drawn()) paint_path(painter, now, *path);
  painter.restore();
  paint_places(painter, now);
  for (const OptimizerPath* path : drawn()) {
    const Argb colour = colour_of(path->optimizer, colours());
    paint_mark(painter, mark_of(*path, now).first, mark_size, path->optimizer, colour, colours().ink_on(colour));
  }
  paint_names(painter, now);
}

void SurfacePicture::paint_axes(QPainter& painter, const SurfaceScale& scale) const {
  painter.setFont(number_font());
  const QRectF& area = scale.area;
  painter.setPen(QPen(color(colours().line), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(area);
  const auto words = [](double value) { return QString::number(std::fabs(value) < 1e-12 ? 0 : value, 'g', 6); };
  for (const double x :
       round_ticks(scale.shown.x_low, scale.shown.x_high, static_cast<int>(area.width() / tick_width))) {
    const double at = scale.at({x, 0}).x();
    painter.setPen(color(colours().faint));
    painter.drawLine(QPointF(at, area.bottom()), QPointF(at, area.bottom() + 4));
    draw_text(painter, QRectF(at - tick_width / 2, area.bottom() + 4, tick_width, 18), Qt::AlignCenter, words(x),
              colours().dim);
  }
  for (const double y :
       round_ticks(scale.shown.y_low, scale.shown.y_high, std::max(2, static_cast<int>(area.height() / tick_height)))) {
    const double at = scale.at({0, y}).y();
    painter.setPen(color(colours().faint));
    painter.drawLine(QPointF(area.left() - 4, at), QPointF(area.left(), at));
    draw_text(painter, QRectF(0, at - 9, area.left() - 7, 18), at_right, words(y), colours().dim);
  }
  painter.setFont(interface_font());
  painter.drawText(QRectF(area.left(), area.bottom() + 20, area.width(), 18), Qt::AlignCenter, tr("x"));
  painter.drawText(QRectF(0, area.top() - 26, area.left() - 7, 16), at_right, tr("y"));
}

// At the right, the meaning of the fills.
void SurfacePicture::paint_levels(QPainter& painter, const SurfaceScale& scale) const {
  const ContourRange range = contours_of(surface_, scale.shown);
  const QRectF bar(scale.area.right() + bar_gap, scale.area.top(), bar_width, scale.area.height());
  const int parts = std::max(1, static_cast<int>(bar.height()));
  for (int i = 0; i < parts; ++i)
    painter.fillRect(QRectF(bar.left(), bar.bottom() - i - 1, bar.width(), 1),
                     color(contour_fill(static_cast<double>(i) / parts, colours())));
  painter.setPen(QPen(color(colours().line), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(bar);
  painter.setFont(number_font());
  double free_above = 1e9;
  for (double decade = range.low; decade <= range.high + 1e-9; decade += 1) {
    const double y = bar.bottom() - bar.height() * (decade - range.low) / (range.high - range.low);
    painter.setPen(color(colours().faint));
    painter.drawLine(QPointF(bar.right(), y), QPointF(bar.right() + 3, y));
    if (y + 9 > free_above) continue;  // labels that would overlap are omitted
    draw_text(painter, QRectF(bar.right() + 5, y - 9, width() - bar.right() - 5, 18), at_left,
              decade < -3 || decade > 3 ? QStringLiteral("1e%1").arg(decade) : QString::number(std::pow(10, decade)),
              colours().dim);
    free_above = y - 9;
  }
  painter.setFont(interface_font());
  draw_line(painter, QRectF(scale.area.left(), 2, width() - scale.area.left() - 4, 18), at_right,
            tr("contours: loss above the minimum, at 1, 2, 5, 10, …"), colours().dim);
}

// Minima, saddles and the start, if they are inside the picture.
void SurfacePicture::paint_places(QPainter& painter, const SurfaceScale& scale) const {
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(color(colours().text), 1.5));
  for (const auto& [at, kind] : places(scale)) {
    if (kind == PlaceKind::minimum || kind == PlaceKind::shallow_minimum) {
      const double arm = kind == PlaceKind::minimum ? 6 : 4;
      painter.drawLine(at - QPointF(arm, 0), at + QPointF(arm, 0));
      painter.drawLine(at - QPointF(0, arm), at + QPointF(0, arm));
    } else if (kind == PlaceKind::saddle) {
      painter.drawLine(at - QPointF(4, 4), at + QPointF(4, 4));
      painter.drawLine(at - QPointF(4, -4), at + QPointF(4, -4));
    } else {
      painter.drawEllipse(at, 6, 6);
    }
  }
}

// An optimizer outside the picture has its mark at the nearest point of the edge.
std::pair<QPointF, bool> SurfacePicture::mark_of(const OptimizerPath& path, const SurfaceScale& scale) const {
  const QPointF at = scale.at(path.points[static_cast<std::size_t>(std::min(step_, path.steps()))]);
  const QRectF inner = scale.area.adjusted(mark_size, mark_size, -mark_size, -mark_size);
  return {{std::clamp(at.x(), inner.left(), inner.right()), std::clamp(at.y(), inner.top(), inner.bottom())},
          scale.area.contains(at)};
}

QString SurfacePicture::name_of(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::minimum: return tr("minimum");
    case PlaceKind::shallow_minimum: return tr("shallow minimum");
    case PlaceKind::saddle: return tr("saddle");
    case PlaceKind::start: return tr("start");
  }
  return {};
}

std::vector<std::pair<QPointF, SurfacePicture::PlaceKind>> SurfacePicture::places(const SurfaceScale& scale) const {
  std::vector<std::pair<QPointF, PlaceKind>> all;
  const auto add = [&](Point point, PlaceKind kind) {
    if (scale.area.contains(scale.at(point))) all.emplace_back(scale.at(point), kind);
  };
  for (const Point& minimum : surface_.minima) add(minimum, PlaceKind::minimum);
  for (const Point& minimum : surface_.shallow_minima) add(minimum, PlaceKind::shallow_minimum);
  for (const Point& saddle : surface_.saddles) add(saddle, PlaceKind::saddle);
  add(paths_->request.start.value_or(surface_.start), PlaceKind::start);
  return all;
}

// The later part of the path is drawn faintly, so that the current position in the complete path is visible.
void SurfacePicture::paint_path(QPainter& painter, const SurfaceScale& scale, const OptimizerPath& path) const {
  const Argb colour = colour_of(path.optimizer, colours());
  const int now = std::min(step_, path.steps());
  QPainterPath walked(within_reach(scale.at(path.points.front())));
  QPainterPath now_at(within_reach(scale.at(path.points[static_cast<std::size_t>(now)])));
  double length = 0;
  for (int t = 1; t <= path.steps(); ++t) {
    const QPointF at = within_reach(scale.at(path.points[static_cast<std::size_t>(t)]));
    if (t <= now) {
      length += std::hypot((at - walked.currentPosition()).x(), (at - walked.currentPosition()).y());
      walked.lineTo(at);
    } else {
      now_at.lineTo(at);
    }
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(faded(colour, 0.28), 1.2));
  painter.drawPath(now_at);
  painter.setPen(QPen(faded(colours().ground, 0.55), 3.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.drawPath(walked);
  painter.setPen(QPen(color(colour), 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.drawPath(walked);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color(colour));
  QPointF last(1e9, 1e9);
  for (int t = 1; t <= now; ++t) {
    const QPointF at = within_reach(scale.at(path.points[static_cast<std::size_t>(t)]));
    if (std::hypot(at.x() - last.x(), at.y() - last.y()) < least_dot_gap) continue;
    painter.drawEllipse(at, 2.1, 2.1);
    last = at;
  }
}

// Each mark and place has its name beside it, or one or two lines away, where it covers no other name.
void SurfacePicture::paint_names(QPainter& painter, const SurfaceScale& scale) const {
  const QFontMetricsF metrics(painter.font());
  const auto labels = places(scale);
  std::vector<QRectF> taken;
  const auto mark_at = [&](QPointF at) {
    taken.emplace_back(at.x() - mark_size, at.y() - mark_size, 2 * mark_size, 2 * mark_size);
  };
  std::vector<std::pair<QPointF, QString>> named;
  for (const OptimizerPath* path : drawn()) {
    const auto [at, within] = mark_of(*path, scale);
    const QString name = QString::fromStdString(path->optimizer);
    mark_at(at);
    named.emplace_back(at, within ? name : tr("%1, beyond").arg(name));
  }
  for (const auto& [at, kind] : labels) mark_at(at);
  const auto write = [&](QPointF at, const QString& words, Argb ink) {
    const double wide = metrics.horizontalAdvance(words) + 8, high = metrics.height() + 2;
    for (int further = 0; further < 3; ++further)
      for (const double y : {at.y() - high - 5 - further * high, at.y() + 6 + further * high})
        for (const double x : {at.x() + 9, at.x() - 9 - wide}) {
          const QRectF box(x, y, wide, high);
          if (!scale.area.contains(box) ||
              std::any_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(box); }))
            continue;
          taken.push_back(box);
          painter.setPen(Qt::NoPen);
          painter.setBrush(faded(colours().ground, 0.75));
          painter.drawRoundedRect(box, 3, 3);
          draw_text(painter, box, Qt::AlignCenter, words, ink);
          return;
        }
  };
  for (const auto& [at, words] : named) write(at, words, colours().text);
  for (const auto& [at, kind] : labels) write(at, name_of(kind), colours().dim);
}

QString SurfacePicture::tip_at(QPoint at) const {
  if (!paths_) return {};
  const SurfaceScale now = scale();
  const OptimizerPath* nearest = nullptr;
  int step = 0;
  double least = hand;
  for (const OptimizerPath* path : drawn())
    for (int t = 0; t <= path->steps(); ++t) {
      const QPointF by = now.at(path->points[static_cast<std::size_t>(t)]) - at;
      if (std::hypot(by.x(), by.y()) >= least) continue;
      least = std::hypot(by.x(), by.y());
      nearest = path;
      step = t;
    }
  if (nearest == nullptr) {
    if (!now.area.contains(at)) return {};
    const Point point = now.point_at(at);
    return tr("%1: loss %2\nDouble click: start here.").arg(point_words(point), text::number(surface_.value(point)));
  }
  const auto i = static_cast<std::size_t>(step);
  return tr("%1, step %2\n%3: loss %4\nlength of its last step %5, rate %6")
      .arg(QString::fromStdString(nearest->optimizer))
      .arg(step)
      .arg(point_words(nearest->points[i]), text::number(nearest->losses[i]), text::number(nearest->step_length(step)),
           text::number(nearest->rate));
}

void SurfacePicture::resizeEvent(QResizeEvent*) { compose(); }

void SurfacePicture::mouseDoubleClickEvent(QMouseEvent* event) {
  const SurfaceScale now = scale();
  if (event->button() == Qt::LeftButton && paths_ && now.area.contains(event->position()))
    emit start_wanted(now.point_at(event->position()));
}

}  // namespace rankscope::app
