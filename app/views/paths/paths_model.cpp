// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/paths/paths_model.hpp"

#include <QIcon>
#include <QPainter>
#include <QPixmap>
#include <algorithm>
#include <cmath>

#include "app/views/common/style.hpp"
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
    : QAbstractTableModel(parent),
      names_(walking_optimizers()),
      surface_(make_surface("ravine")),
      colours_(&palette_of(Theme::dark)) {}

void PathsModel::set_theme(const Palette& colours) {
  colours_ = &colours;
  emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
}

void PathsModel::set_paths(std::shared_ptr<const Paths> paths) {
  paths_ = std::move(paths);
  if (paths_) surface_ = make_surface(paths_->request.surface, paths_->request.condition);
  emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
}

void PathsModel::set_step(int step) {
  step_ = step;
  emit dataChanged(index(0, loss), index(rowCount() - 1, last_step));
}

void PathsModel::set_drawn(std::set<std::string> optimizers) {
  if (optimizers == drawn_) return;
  drawn_ = std::move(optimizers);
  emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
  emit drawn_changed();
}

const OptimizerPath* PathsModel::path_of(int row) const {
  return paths_ ? paths_->of(names_[static_cast<std::size_t>(row)]) : nullptr;
}

int PathsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(names_.size());
}

int PathsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QString PathsModel::words(int row, int column) const {
  if (column == optimizer) return QString::fromStdString(names_[static_cast<std::size_t>(row)]);
  const OptimizerPath* path = path_of(row);
  if (path == nullptr) return text::unknown();
  const int at = std::min(step_, path->steps());
  const auto i = static_cast<std::size_t>(at);
  const bool gone = path->diverged && step_ >= *path->diverged;
  switch (column) {
    case rate: return QString::number(path->rate, 'g', 6);
    case loss: return short_number(path->losses[i]);
    case distance: return short_number(surface_.distance(path->points[i]));
    case last_step: return short_number(path->step_length(at));
    case reached:
      if (path->diverged) return gone ? tr("diverged, %1").arg(*path->diverged) : tr("diverges");
      return path->reached ? tr("from step %1").arg(*path->reached) : tr("not yet");
    case state: return bytes_words(path->bytes_per_parameter);
    default: return {};
  }
}

QStringList PathsModel::longest_words(int column) {
  switch (column) {
    case optimizer: {
      QStringList names;
      for (const std::string& name : walking_optimizers()) names << QString::fromStdString(name);
      return names;
    }
    case rate: return {QStringLiteral("0.00015")};
    case reached: return {tr("diverged, %1").arg(1000), tr("from step %1").arg(1000)};
    case state: return {QStringLiteral("0.00781")};
    default: return {QStringLiteral("-0.00123"), QStringLiteral("1.2e+04")};
  }
}

QVariant PathsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const std::string& name = names_[static_cast<std::size_t>(index.row())];
  const bool shown = drawn_.count(name) > 0;
  const OptimizerPath* path = path_of(index.row());
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole: return words(index.row(), index.column());
    case Qt::CheckStateRole:
      return index.column() == optimizer ? QVariant(shown ? Qt::Checked : Qt::Unchecked) : QVariant();
    case Qt::DecorationRole: return index.column() == optimizer ? QVariant(icon_of(name, *colours_)) : QVariant();
    case Qt::TextAlignmentRole:
      return index.column() == optimizer || index.column() == reached ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                                                                      : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::FontRole: return index.column() == optimizer ? QVariant() : QVariant(number_font());
    case Qt::ForegroundRole:
      if (index.column() == reached && path != nullptr && path->diverged) return color(colours_->bad);
      return color(shown ? colours_->text : colours_->dim);
    case Qt::ToolTipRole:
      if (index.column() == optimizer)
        return QString::fromUtf8(optimizer_rule(name).what.data(),
                                 static_cast<qsizetype>(optimizer_rule(name).what.size()));
      if (index.column() == rate) return tr("The learning rate. A double click, or typing, changes it.");
      return {};
    default: return {};
  }
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

QVariant PathsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  struct Title {
    QString words, help;
  };
  const Title titles[column_count] = {
      {tr("optimizer"), tr("Ticked ones are drawn")},
      {tr("rate"), tr("Learning rate: a double click changes it")},
      {tr("loss"), tr("At the present step")},
      {tr("distance"), tr("At the present step, to the nearest minimum")},
      {tr("step length"), tr("Of the step that led here")},
      {tr("within 1 %"), tr("From where on the loss stays within 1 % of the way from the start's to the least")},
      {tr("state, B"), tr("Bytes of optimizer state per parameter of a large fp32 matrix")},
  };
  if (role == Qt::DisplayRole) return titles[section].words;
  if (role == Qt::ToolTipRole) return titles[section].help;
  if (role == Qt::TextAlignmentRole)
    return QVariant((section == optimizer || section == reached ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  return {};
}

}  // namespace rankscope::app
