// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/topology/topology_view.hpp"

#include <QHeaderView>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int line = 20, side_label = 92, drawing_top = 2 * line + 16;
/// Height of a level with the gap above it: the usual one, the least with a list of all units, and the least without.
constexpr int least_rows = 3, drawn_level = 76, least_level = 42, tightest_level = 32;
constexpr int scale_bar = 120, least_for_table = 260, preferred_height = 400;
constexpr int busiest_unit = 1, least_for_busiest = 700;  ///< the column of names, and the width that it needs
constexpr std::size_t most_units = 500;

QString source_words(LoadSource source) {
  switch (source) {
    case LoadSource::links: return QObject::tr("bytes counted from rank to rank");
    case LoadSource::senders: return QObject::tr("bytes counted by the senders, collectives as rings");
    case LoadSource::mean: return QObject::tr("bytes counted by the senders, mean of all steps, collectives as rings");
    case LoadSource::plan: return QObject::tr("predicted bytes, collectives as rings");
  }
  return {};
}

}  // namespace

TopologyView::TopologyView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent),
      figures_(figures),
      words_(new ElidedLabel(this)),
      table_(new RowsTable(topology_titles(), 2, tr("Load of the links by kind"), this)),
      units_(new RowsTable(unit_titles(), 2, tr("Load of every link, the busiest first"), this)),
      latest_([this](Topology topology) {
        if (topology.ranks != topology_.ranks || topology.levels.size() != topology_.levels.size()) clicked_ = {-1, -1};
        topology_ = std::move(topology);
        full_share_ = topology_.full_share();
        table_->set_rows(topology_rows(topology_));
        units_->set_rows(unit_rows(topology_, most_units));
        words_->set_text(
            tr("%1 · %2, in a step of %3")
                .arg(topology_.cluster, source_words(topology_.source), text::seconds(topology_.step_seconds)));
        arrange();
        update();
      }) {
  setProperty(preferred_height_property, preferred_height);
  setMouseTracking(true);
  for (RowsTable* table : {table_, units_}) {
    table->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
    table->setWordWrap(true);
  }
  const auto take_row = [this](const QModelIndex& index) {
    const auto units = busiest_units(topology_, most_units);
    if (index.row() < 0 || index.row() >= std::ssize(units)) return;
    const TopologyUnit& unit = units[static_cast<std::size_t>(index.row())];
    point_at(static_cast<int>(unit.level), static_cast<int>(unit.unit));
  };
  connect(units_, &QTableView::clicked, this, take_row);
  connect(units_, &QTableView::activated, this, take_row);  // Enter
  connect(&figures, &FiguresModel::changed, this, &TopologyView::refresh);
  arrange();
}

void TopologyView::refresh() {
  if (!isVisible()) return;
  const auto figures = figures_.latest();
  TopologyRequest request;
  request.context = figures->context;
  if (!figures->context && figures->shown() != nullptr) request.scenario = figures->scenario;
  request.summaries = figures->summaries;
  request.totals = figures->totals;
  if (const Report* report = figures->shown()) {
    request.links = report->links;
    request.step_seconds = report->step_seconds;
  }
  latest_.request([request = std::move(request)] { return topology_of(request); });
}

// The drawing; under it the table by kind; and, if the drawing stays high enough, the table of all units.
void TopologyView::arrange() {
  const bool there = topology_.failure.isEmpty() && !topology_.loads.empty() && !veiled();
  words_->setVisible(there);
  const int wide = width() - view_margin - cell_inset;
  words_->setGeometry(view_margin, 6, width() - 2 * view_margin, line);
  table_->setColumnHidden(busiest_unit, width() < least_for_busiest);
  for (RowsTable* table : {table_, units_}) {
    table->resize(wide, table->height());
    fit_rows(*table);
  }
  const int levels = static_cast<int>(topology_.loads.size()) + 1;
  // Only the drawing if its levels would not fit above their scale.
  const int rows = height_of_whole_rows(*table_, height() / 3);
  const bool is_high_enough =
      height() >= least_for_table && height() - drawing_top - rows - view_margin >= levels * tightest_level;
  table_->setVisible(there && is_high_enough);
  const int by_kind = is_high_enough ? rows : 0;
  const int room = height() - drawing_top - by_kind - view_margin;  // for the drawing and all units
  const int all = height_of_whole_rows(*units_, std::max(room - levels * drawn_level - view_margin, 0));
  const bool lists = there && is_high_enough && room - all - view_margin >= levels * least_level &&
                     all >= units_->height_of(std::min(least_rows, units_->rows().rowCount()));
  units_->setVisible(lists);
  const int drawing = lists ? room - all - view_margin : room;
  table_->setGeometry(cell_inset, drawing_top + drawing, wide, by_kind);
  units_->setGeometry(cell_inset, table_->geometry().bottom() + view_margin, wide, all);
}

QRectF TopologyView::area() const {
  return {view_margin + side_label, drawing_top, width() - 2.0 * view_margin - side_label,
          table_->y() - drawing_top - 12.0};
}

TopologyLayout TopologyView::layout_now() const { return lay_out_topology(topology_, area()); }

void TopologyView::paint(QPainter& painter) {
  if (!topology_.failure.isEmpty() || topology_.loads.empty())
    return paint_empty(painter, rect(), colours(), tr("No links to show"),
                       topology_.failure.isEmpty() ? tr("Open a scenario to see the links of its cluster and the "
                                                        "traffic of its plan.")
                                                   : topology_.failure);
  const TopologyLayout layout = layout_now();
  paint_scale(painter);
  paint_links(painter, layout);
  paint_boxes(painter, layout);
}

Argb TopologyView::fill_of(double share) const {
  const double strength = std::clamp(share / full_share_, 0.0, 1.0);
  return mixed(colours().panel, colours().accent, static_cast<float>(0.06 + 0.94 * strength));
}

void TopologyView::paint_scale(QPainter& painter) const {
  const QFontMetricsF metrics(painter.font());
  const auto percent = [](double share) { return QString::number(100 * share, 'g', 3) + QStringLiteral("\u00a0%"); };
  const QString what = tr("uplink busy"), none = percent(0), most = percent(full_share_);
  const double y = line + 10;
  double x = view_margin;
  painter.setPen(color(colours().dim));
  const auto write = [&](const QString& words) {
    const double wide = metrics.horizontalAdvance(words) + 2;
    painter.drawText(QRectF(x, y, wide, line), at_left, words);
    x += wide + 8;
  };
  write(what);
  write(none);
  const QRectF bar(x, y + 4, scale_bar, line - 8);
  for (int i = 0; i < scale_bar; ++i)
    painter.fillRect(QRectF(bar.left() + i, bar.top(), 1, bar.height()), color(fill_of(full_share_ * i / scale_bar)));
  x = bar.right() + 8;
  write(tr("%1 of the step").arg(most));
}

// Each unit is connected to the one that contains it.
void TopologyView::paint_links(QPainter& painter, const TopologyLayout& layout) const {
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
      const double share = std::clamp(topology_.share(level, unit) / full_share_, 0.0, 1.0);
      painter.setPen(
          QPen(color(mixed(colours().line, colours().accent, static_cast<float>(std::sqrt(share)))), 1 + 7 * share));
      painter.drawLine(QPointF(box.center().x(), box.top()), QPointF(box.center().x(), above));
    }
  }
}

void TopologyView::paint_boxes(QPainter& painter, const TopologyLayout& layout) const {
  const QFontMetricsF metrics(painter.font());
  for (std::size_t level = 0; level < layout.boxes.size(); ++level) {
    if (layout.boxes[level].empty()) continue;
    draw_text(painter,
              QRectF(view_margin, layout.boxes[level][0].top(), side_label - 8, layout.boxes[level][0].height()),
              at_left, QObject::tr(name_of(topology_.levels[level].unit)), colours().dim);
    // All units of a level have the same form of name: the longest that fits into each.
    qsizetype form = 0;
    for (std::size_t unit = 0; unit < layout.boxes[level].size(); ++unit) {
      const QStringList names = box_names(topology_, level, unit);
      const double room = layout.boxes[level][unit].width() - 4;
      while (form + 1 < names.size() && metrics.horizontalAdvance(names[form]) >= room) ++form;
    }
    for (std::size_t unit = 0; unit < layout.boxes[level].size(); ++unit) {
      const QRectF& box = layout.boxes[level][unit];
      const double share = topology_.share(level, unit);
      const Argb fill = fill_of(share);
      painter.fillRect(box, color(fill));
      const std::pair here{static_cast<int>(level), static_cast<int>(unit)};
      const bool lit = hovered_ == here || clicked_ == here;
      painter.setPen(QPen(color(lit ? colours().text : colours().line), lit ? 2 : 1));
      if (box.width() > 3) painter.drawRect(box);
      painter.setPen(color(colours().ink_on(fill)));
      const auto fits = [&](const QString& words) { return metrics.horizontalAdvance(words) < box.width() - 4; };
      const LinkLoad& load = topology_.loads[level][unit];
      const QString silent = tr("no traffic");
      const QString busy = load.out + load.in <= 0 && fits(silent) ? silent : text::percent(share);
      QString name = box_names(topology_, level, unit).value(form);
      if (!fits(name)) name.clear();
      if (!fits(busy)) continue;
      if (!name.isEmpty() && box.height() >= 2 * metrics.height() + 4) {
        painter.drawText(box.adjusted(0, 0, 0, -box.height() / 2), Qt::AlignHCenter | Qt::AlignBottom, name);
        painter.drawText(box.adjusted(0, box.height() / 2, 0, 0), Qt::AlignHCenter | Qt::AlignTop, busy);
      } else if (box.height() >= metrics.height()) {
        painter.drawText(box, Qt::AlignCenter, busy);
      }
    }
  }
  if (layout.network.isEmpty()) return;
  painter.setPen(QPen(color(colours().line), 1));
  painter.setBrush(color(colours().panel));
  painter.drawRect(layout.network);
  draw_text(painter, layout.network, Qt::AlignCenter, tr("the network between them"), colours().dim);
}

void TopologyView::mouseMoveEvent(QMouseEvent* event) {
  const auto at = layout_now().at(event->position());
  if (at == hovered_) return;
  hovered_ = at;
  update();
}

void TopologyView::mousePressEvent(QMouseEvent* event) {
  if (const auto [level, unit] = layout_now().at(event->position());
      event->button() == Qt::LeftButton && level >= 0 && !veiled())
    point_at(level, unit);
  DataView::mousePressEvent(event);
}

void TopologyView::point_at(int level, int unit) {
  clicked_ = {level, unit};
  update();
  emit uplink_pointed(QLatin1String(name_of(topology_.levels[static_cast<std::size_t>(level)].unit)), unit);
}

void TopologyView::leaveEvent(QEvent*) {
  hovered_ = {-1, -1};
  update();
}

QString TopologyView::tip_at(QPoint at) const {
  if (topology_.loads.empty()) return {};
  const auto [level, unit] = layout_now().at(at);
  if (level < 0) return {};
  return describe(topology_, static_cast<std::size_t>(level), static_cast<std::size_t>(unit));
}

}  // namespace rankscope::app
