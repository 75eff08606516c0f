// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/paths/paths_model.hpp"

#include <QIcon>
#include <QPainter>
#include <QPixmap>
#include <algorithm>
#include <cmath>

#include "app/views/common/text.hpp"
#include "app/views/paths/optimizer_marker.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"

namespace rankscope::app {
namespace {

constexpr int icon_side = 14, icon_ratio = 2;  // also sharp on high-resolution screens

QIcon icon_of(const std::string& optimizer, const Palette& colours) {
  QPixmap picture(icon_side * icon_ratio, icon_side * icon_ratio);
  picture.setDevicePixelRatio(icon_ratio);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  painter.setRenderHint(QPainter::Antialiasing);
  const Argb fill = colour_of(optimizer, colours);
  paint_mark(painter, QPointF(icon_side / 2.0, icon_side / 2.0), icon_side / 2.0 - 1, optimizer, fill, fill);
  painter.end();
  return QIcon(picture);
}

/// Three digits, without trailing zeros.
QString short_number(double value) {
  if (!std::isfinite(value)) return text::unknown();
  const double size = std::fabs(value);
  if (size != 0 && (size < 1e-3 || size >= 99'999.5)) return QString::number(value, 'e', 1);
  return size >= 999.5 ? QString::number(value, 'f', 0) : QString::number(value, 'g', 3);
}

QString bytes_words(double bytes) { return bytes == 0 ? QStringLiteral("0") : QString::number(bytes, 'g', 3); }

}  // namespace

PathsModel::PathsModel(QObject* parent)
    : RowsModel({tr("optimizer"), tr("rate"), tr("loss"), tr("distance"), tr("step length"), tr("within 1 %"),
                 tr("state, B")},
                rate, parent),
      names_(walking_optimizers()),
      surface_(make_surface("ravine")) {
  set_words_column(reached);
  set_title_help({tr("Ticked ones are drawn"), tr("Learning rate: a double click changes it"),
                  tr("At the present step"), tr("At the present step, to the nearest minimum"),
                  tr("Of the step that led here"),
                  tr("From where on the loss stays within 1 % of the way from the start's to the least"),
                  tr("Bytes of optimizer state per parameter of a large fp32 matrix")});
  fill();
}

void PathsModel::set_paths(std::shared_ptr<const Paths> paths) {
  paths_ = std::move(paths);
  if (paths_) surface_ = make_surface(paths_->request.surface, paths_->request.condition);
  fill();
}

void PathsModel::set_step(int step) {
  step_ = step;
  fill();
}

void PathsModel::set_drawn(std::set<std::string> optimizers) {
  if (optimizers == drawn_) return;
  drawn_ = std::move(optimizers);
  fill();
  emit drawn_changed();
}

void PathsModel::fill() {
  std::vector<std::vector<Cell>> rows;
  for (const std::string& name : names_) {
    const OptimizerPath* path = paths_ ? paths_->of(name) : nullptr;
    const Tone tone = drawn_.contains(name) ? Tone::text : Tone::dim;
    std::vector<Cell>& row = rows.emplace_back();
    row.push_back({QString::fromStdString(name), tone, text::utf8(optimizer_rule(name).what)});
    for (int column = rate; column < column_count; ++column)
      row.push_back({path != nullptr ? words_of(*path, column) : text::unknown(), tone, {}});
    row[rate].help = tr("The learning rate. A double click, or typing, changes it.");
    if (path != nullptr && path->diverged) row[reached].tone = Tone::bad;
  }
  set_rows(std::move(rows));
}

QString PathsModel::words_of(const OptimizerPath& path, int column) const {
  const int at = std::min(step_, path.steps());
  const auto i = static_cast<std::size_t>(at);
  const bool gone = path.diverged && step_ >= *path.diverged;
  switch (column) {
    case rate: return QString::number(path.rate, 'g', 6);
    case loss: return short_number(path.losses[i]);
    case distance: return short_number(surface_.distance(path.points[i]));
    case last_step: return short_number(path.step_length(at));
    case reached:
      if (path.diverged) return gone ? tr("diverged, %1").arg(*path.diverged) : tr("diverges");
      return path.reached ? tr("from step %1").arg(*path.reached) : tr("not yet");
    case state: return bytes_words(path.bytes_per_parameter);
    default: return {};
  }
}

QStringList PathsModel::longest_words(int column) {
  switch (column) {
    case optimizer: return text::list(walking_optimizers());
    case rate: return {QStringLiteral("0.00015")};
    case reached: return {tr("diverged, %1").arg(1000), tr("from step %1").arg(1000)};
    case state: return {QStringLiteral("0.00781")};
    default: return {QStringLiteral("-0.00123"), QStringLiteral("1.2e+04")};
  }
}

QVariant PathsModel::data(const QModelIndex& index, int role) const {
  if (index.isValid() && index.column() == optimizer) {
    const std::string& name = names_[static_cast<std::size_t>(index.row())];
    if (role == Qt::CheckStateRole) return drawn_.contains(name) ? Qt::Checked : Qt::Unchecked;
    if (role == Qt::DecorationRole) return icon_of(name, colours());
  }
  return RowsModel::data(index, role == Qt::EditRole ? Qt::DisplayRole : role);
}

bool PathsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  const std::string name = names_[static_cast<std::size_t>(index.row())];
  if (index.column() == optimizer && role == Qt::CheckStateRole) {
    std::set<std::string> now = drawn_;
    if (value.toInt() == Qt::Checked)
      now.insert(name);
    else
      now.erase(name);
    set_drawn(std::move(now));
    return true;
  }
  if (index.column() != rate || role != Qt::EditRole) return false;
  bool is_number = false;
  const double requested = value.toString().trimmed().replace(QLatin1Char(','), QLatin1Char('.')).toDouble(&is_number);
  if (!is_number || !(requested > 0) || !std::isfinite(requested)) return false;
  emit rate_wanted(name, requested);
  return true;
}

Qt::ItemFlags PathsModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
  if (index.column() == optimizer) flags |= Qt::ItemIsUserCheckable;
  if (index.column() == rate) flags |= Qt::ItemIsEditable;
  return flags;
}

}  // namespace rankscope::app
