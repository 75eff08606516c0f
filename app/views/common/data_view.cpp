// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/data_view.hpp"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QTableView>

#include "app/views/common/style.hpp"

namespace rankscope::app {

DataView::DataView(SharedState& state, SnapshotSource& source, QWidget* parent)
    : QWidget(parent), state_(state), source_(source), colours_(&palette_of(Theme::dark)) {}

void DataView::set_theme(Theme theme) {
  colours_ = &palette_of(theme);
  update();
}

void DataView::set_presentation(double scale) {
  presentation_ = scale;
  update();
}

QString DataView::selected_text() const {
  if (veiled_) return {};
  for (const QTableView* rows : findChildren<QTableView*>())
    if (rows->isVisible() && rows->selectionModel() != nullptr && rows->selectionModel()->hasSelection())
      return to_tabs(table_of(*rows->model()), rows->selectionModel()->selectedRows());
  return to_tabs(table());
}

void DataView::contextMenuEvent(QContextMenuEvent* event) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fill_menu(*menu, event->pos());
  if (!menu->isEmpty()) menu->addSeparator();
  emit menu_opens(menu);
  if (menu->isEmpty()) return delete menu;
  menu->popup(event->globalPos());
}

void DataView::set_veiled(bool veiled) {
  if (veiled == veiled_) return;
  veiled_ = veiled;
  on_veil();
  update();
}

void paint_veil(QPainter& painter, const QRectF& area, const Palette& colours) {
  paint_empty(
      painter, area, colours, DataView::tr("Hidden for now"),
      DataView::tr("A question at the left asks for this. It opens once your answer is kept and the plan has run; on a "
                   "machine that is not here, once it is simulated."));
}

void paint_empty(QPainter& painter, const QRectF& area, const Palette& colours, const QString& title,
                 const QString& hint) {
  painter.save();
  QFont bold = painter.font();
  bold.setWeight(QFont::DemiBold);
  const qreal width = std::min<qreal>(area.width() - 32, 440);
  const QRectF column(area.center().x() - width / 2, area.top(), width, area.height());
  painter.setFont(bold);
  const QRectF title_box = painter.boundingRect(column, Qt::AlignHCenter | Qt::TextWordWrap, title);
  bold.setWeight(QFont::Normal);
  painter.setFont(bold);
  const QRectF hint_box = painter.boundingRect(column, Qt::AlignHCenter | Qt::TextWordWrap, hint);
  const qreal height = title_box.height() + 6 + hint_box.height();
  qreal y = area.top() + std::max<qreal>(8, (area.height() - height) / 2);
  bold.setWeight(QFont::DemiBold);
  painter.setFont(bold);
  painter.setPen(color(colours.text));
  painter.drawText(QRectF(column.left(), y, width, title_box.height()), Qt::AlignHCenter | Qt::TextWordWrap, title);
  y += title_box.height() + 6;
  bold.setWeight(QFont::Normal);
  painter.setFont(bold);
  painter.setPen(color(colours.dim));
  painter.drawText(QRectF(column.left(), y, width, hint_box.height() + 2), Qt::AlignHCenter | Qt::TextWordWrap, hint);
  painter.restore();
}

namespace {

constexpr qreal legend_square = 15, legend_gap = 6;  ///< with the room to its name; the least between two entries

}  // namespace

qreal legend_entry_width(const QFontMetricsF& metrics, const QString& name) {
  return legend_square + metrics.horizontalAdvance(name) + legend_gap;
}

qreal paint_legend(QPainter& painter, QPointF at, qreal width, const Palette& colours,
                   const std::vector<std::pair<Argb, QString>>& entries) {
  constexpr qreal square = legend_square, widest_gap = 14, narrowest_gap = legend_gap;
  const QFontMetricsF metrics(painter.font());
  qreal all = 0;
  for (const auto& [fill, name] : entries) all += square + metrics.horizontalAdvance(name);
  const auto gaps = static_cast<qreal>(std::max<std::size_t>(entries.size(), 2) - 1);
  const qreal gap = std::clamp((width - all) / gaps, narrowest_gap, widest_gap);
  qreal x = 0;
  for (const auto& [fill, name] : entries) {
    const qreal entry = square + metrics.horizontalAdvance(name);
    if (x + entry > width) break;
    painter.fillRect(QRectF(at.x() + x, at.y() + 3, 10, 10), color(fill));
    painter.setPen(color(colours.dim));
    painter.drawText(QRectF(at.x() + x + square, at.y(), entry - square + 4, 16), Qt::AlignLeft | Qt::AlignVCenter,
                     name);
    x += entry + gap;
  }
  return x;
}

}  // namespace rankscope::app
