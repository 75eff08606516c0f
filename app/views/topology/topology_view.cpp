// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/topology/topology_view.hpp"

#include <QHeaderView>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int margin = 12, line = 20, side_label = 92;

}  // namespace

TopologyView::TopologyView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent),
      figures_(figures),
      words_(new ElidedLabel(this)),
      table_(new RowsTable(topology_titles(), 1, tr("Load of the links by kind"), this)),
      latest_([this](Topology topology) {
        topology_ = std::move(topology);
        table_->set_rows(topology_rows(topology_));
        words_->set_text(tr("%1 · %2 in a step of %3, as rings; a shade says how busy a unit's way out is")
                             .arg(topology_.cluster,
                                  topology_.counted ? tr("bytes as counted") : tr("bytes as predicted"),
                                  text::seconds(topology_.step_seconds)));
        arrange();
        update();
      }) {
  setMinimumSize(320, 140);
  setMouseTracking(true);
  words_->setProperty("role", QStringLiteral("dim"));
  table_->horizontalHeader()->setStretchLastSection(true);
  connect(&figures, &FiguresModel::changed, this, &TopologyView::refresh);
  arrange();
}

void TopologyView::set_theme(Theme theme) {
  DataView::set_theme(theme);
  table_->set_theme(theme);
}

void TopologyView::refresh() {
  if (!isVisible()) return;
  const auto figures = figures_.latest();
  TopologyRequest request;
  request.context = figures->context;
  request.summaries = figures->summaries;
  if (const Report* report = figures->shown()) request.step_seconds = report->step_seconds;
  latest_.request([request = std::move(request)] { return topology_of(request); });
}

void TopologyView::showEvent(QShowEvent* event) {
  DataView::showEvent(event);
  refresh();
}

void TopologyView::resizeEvent(QResizeEvent*) { arrange(); }

void TopologyView::arrange() {
  const bool there = topology_.failure.isEmpty() && !topology_.loads.empty() && !veiled();
  words_->setVisible(there);
  table_->setVisible(there);
  words_->setGeometry(margin, 6, width() - 2 * margin, line);
  const int rows = table_->height_of(table_->rows().rowCount());
  table_->setGeometry(4, height() - rows - 4, width() - 8, rows);
}

QRectF TopologyView::area() const {
  const double top = line + 16;
  return {margin + side_label, top, width() - 2.0 * margin - side_label, table_->y() - top - 12};
}

TopologyLayout TopologyView::layout_now() const { return lay_out_topology(topology_, area()); }

void TopologyView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours().ground));
  if (veiled()) return paint_veil(painter, rect(), colours());
  if (!topology_.failure.isEmpty() || topology_.loads.empty())
    return paint_empty(painter, rect(), colours(), tr("No links to show"),
                       topology_.failure.isEmpty()
                           ? tr("Open a scenario: its cluster's links stand here, with what the "
                                "plan puts on them.")
                           : topology_.failure);
  const TopologyLayout layout = layout_now();
  const QFontMetricsF metrics(painter.font());
  const auto middle = [](const QRectF& box) { return box.center().x(); };
  // Links first: each unit hangs on the one that holds it.
  for (std::size_t level = 0; level < layout.boxes.size(); ++level) {
    const int devices = topology_.levels[level].devices;
    for (std::size_t unit = 0; unit < layout.boxes[level].size(); ++unit) {
      const QRectF& box = layout.boxes[level][unit];
      double above = layout.network.isEmpty() ? -1 : layout.network.bottom();
      if (level + 1 < layout.boxes.size()) {
        const std::size_t parent =
            unit * static_cast<std::size_t>(devices) / static_cast<std::size_t>(topology_.levels[level + 1].devices);
        above = layout.boxes[level + 1][parent].bottom();
      }
      if (above < 0 || box.width() < 2) continue;
      const double share = std::clamp(topology_.share(level, unit), 0.0, 1.0);
      painter.setPen(
          QPen(color(mixed(colours().line, colours().accent, static_cast<float>(std::sqrt(share)))), 1 + 7 * share));
      painter.drawLine(QPointF(middle(box), box.top()), QPointF(middle(box), above));
    }
  }
  for (std::size_t level = 0; level < layout.boxes.size(); ++level) {
    if (layout.boxes[level].empty()) continue;
    painter.setPen(color(colours().dim));
    painter.drawText(QRectF(margin, layout.boxes[level][0].top(), side_label - 8, layout.boxes[level][0].height()),
                     Qt::AlignLeft | Qt::AlignVCenter, QObject::tr(topology_.levels[level].name));
    for (std::size_t unit = 0; unit < layout.boxes[level].size(); ++unit) {
      const QRectF& box = layout.boxes[level][unit];
      const double share = topology_.share(level, unit);
      const Argb fill =
          mixed(colours().panel, colours().accent, static_cast<float>(0.06 + 0.94 * std::clamp(share, 0.0, 1.0)));
      painter.fillRect(box, color(fill));
      const bool lit = hovered_ == std::pair{static_cast<int>(level), static_cast<int>(unit)};
      painter.setPen(QPen(color(lit ? colours().text : colours().line), lit ? 2 : 1));
      if (box.width() > 3) painter.drawRect(box);
      painter.setPen(color(colours().ink_on(fill)));
      const QString number = topology_.levels[level].devices == 1 ? tr("rank %1").arg(unit) : QString::number(unit);
      const QString words = text::percent(share);
      if (box.height() >= 36 && metrics.horizontalAdvance(number) < box.width() - 4 &&
          metrics.horizontalAdvance(words) < box.width() - 4) {
        painter.drawText(box.adjusted(0, 0, 0, -box.height() / 2), Qt::AlignHCenter | Qt::AlignBottom, number);
        painter.drawText(box.adjusted(0, box.height() / 2, 0, 0), Qt::AlignHCenter | Qt::AlignTop, words);
      } else if (box.height() >= 16 && metrics.horizontalAdvance(words) < box.width() - 4) {
        painter.drawText(box, Qt::AlignCenter, words);
      }
    }
  }
  if (layout.network.isEmpty()) return;
  painter.setPen(QPen(color(colours().line), 1));
  painter.setBrush(color(colours().panel));
  painter.drawRect(layout.network);
  painter.setPen(color(colours().dim));
  painter.drawText(layout.network, Qt::AlignCenter, tr("the network between them"));
}

void TopologyView::mouseMoveEvent(QMouseEvent* event) {
  const auto at = layout_now().at(event->position());
  if (at == hovered_) return;
  hovered_ = at;
  update();
}

void TopologyView::leaveEvent(QEvent*) {
  hovered_ = {-1, -1};
  update();
}

bool TopologyView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || veiled() || topology_.loads.empty()) return DataView::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const auto [level, unit] = layout_now().at(help->pos());
  if (level >= 0)
    QToolTip::showText(help->globalPos(),
                       describe(topology_, static_cast<std::size_t>(level), static_cast<std::size_t>(unit)), this);
  else
    QToolTip::hideText();
  return true;
}

}  // namespace rankscope::app
