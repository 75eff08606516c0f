// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/grid/grid_view.hpp"

#include <QHeaderView>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int header_height = 36, side_label = 92, top_label = 22;
constexpr int least_place = 72, highest_place = 240, least_rows = 3;
constexpr int least_cell = 20;  ///< where rows would be lower, they are folded: a cell's value needs a line
constexpr int scale_bar = 160;
constexpr int column_of(GridQuantity quantity) { return 1 + static_cast<int>(quantity); }
/// What a presentation of the ranking can omit.
constexpr int spare_columns[] = {column_of(GridQuantity::unknown_time), column_of(GridQuantity::exposed)};

RankGrid grid_of(const Figures& figures) {
  const Report* report = figures.shown();
  return report ? report->plan.grid() : RankGrid{0, 0, 0};
}

}  // namespace

GridView::GridView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent),
      figures_(figures),
      quantities_(new QComboBox(this)),
      ranking_(new RowsTable(ranking_titles(), 1, tr("Ranks sorted by the quantity"), this)) {
  setMouseTracking(true);
  for (int i = 0; i < grid_quantity_count; ++i) quantities_->addItem(label_of(static_cast<GridQuantity>(i)));
  quantities_->setAccessibleName(tr("Quantity shown by colour"));
  quantities_->move(view_margin, 4);
  quantities_->adjustSize();
  connect(quantities_, &QComboBox::currentIndexChanged, this,
          [this](int index) { set_quantity(static_cast<GridQuantity>(index)); });
  ranking_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  ranking_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  const auto take_row = [this](const QModelIndex& index) {
    const bool known = index.row() >= 0 && index.row() < static_cast<int>(ranked_.size());
    hovered_ = known ? fold_.cell_of(ranked_[static_cast<std::size_t>(index.row())]) : -1;
    if (known) emit rank_pointed(ranked_[static_cast<std::size_t>(index.row())]);
    update();
  };
  connect(ranking_, &QTableView::clicked, this, take_row);
  connect(ranking_, &QTableView::activated, this, take_row);  // Enter
  connect(&figures, &FiguresModel::changed, this, &GridView::take);
  take();
}

// All quantities of all ranks are computed only if the view is visible.
void GridView::take() {
  const Report* report = figures_.latest()->shown();
  if (report != nullptr && report->folded && !chosen_) {
    const QSignalBlocker quiet(quantities_);
    quantity_ = GridQuantity::peak_memory;
    quantities_->setCurrentIndex(static_cast<int>(quantity_));
  }
  if (isVisible()) {
    GridRanking ranking = rank_by(*figures_.latest(), quantity_);
    ranked_ = std::move(ranking.ranks);
    ranking_->set_rows(std::move(ranking.rows));
  }
  arrange();
  update();
}

void GridView::set_quantity(GridQuantity quantity) {
  chosen_ = true;
  quantity_ = quantity;
  quantities_->setCurrentIndex(static_cast<int>(quantity));
  take();
}

// The ranking gets the space below cells of a good height; if that is too small, cells get all.
void GridView::arrange() {
  const RankGrid grid = grid_of(*figures_.latest());
  const bool there = grid.size() > 0 && !veiled();
  const int room = height() - header_height - top_label - view_margin;
  const Report* report = figures_.latest()->shown();
  fold_ = report != nullptr ? fold_grid(*report, room / least_cell) : GridFold{grid, grid, {}};
  values_ = cell_values(fold_, values_of(*figures_.latest(), quantity_));
  const int rows = std::max(1, place_rows(fold_.shown));
  const auto height_of = [&](int count) {
    return ranking_->horizontalHeader()->sizeHint().height() + 2 +
           count * ranking_->verticalHeader()->defaultSectionSize() + view_margin;
  };
  const bool ranks = there && room - rows * least_place >= height_of(std::min(least_rows, grid.size()));
  cells_height_ = room;
  if (ranks) {
    ranking_->hide_until_fits(presents() ? std::span<const int>(spare_columns) : std::span<const int>());
    fit_columns();
    cells_height_ = std::clamp(room - height_of(grid.size()), rows * least_place, rows * highest_place);
    ranking_->resize(width() - view_margin - cell_inset, ranking_->height());
    ranking_->setGeometry(cell_inset, header_height + top_label + cells_height_ + view_margin,
                          width() - view_margin - cell_inset,
                          height_of_whole_rows(*ranking_, room - cells_height_ - view_margin));
  }
  quantities_->setVisible(there);
  ranking_->setVisible(ranks);
}

// Columns of equal width if every heading fits; else as wide as their text.
void GridView::fit_columns() {
  QHeaderView& header = *ranking_->horizontalHeader();
  int widest = 0, rest = width() - view_margin - cell_inset - header.sectionSizeHint(0);
  int shown = 0;
  for (int i = 1; i < header.count(); ++i) {
    if (header.isSectionHidden(i)) continue;
    widest = std::max(widest, header.sectionSizeHint(i));
    ++shown;
  }
  const bool even = widest * shown <= rest;
  for (int i = 1; i < header.count(); ++i)
    header.setSectionResizeMode(i, even ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
}

GridLayout GridView::layout_now() const {
  const QRectF area(view_margin + side_label, header_height + top_label, width() - 2 * view_margin - side_label,
                    cells_height_);
  return lay_out_grid(fold_.shown, area);
}

Argb GridView::fill_of(double share) const {
  return mixed(colours().panel, colours().accent, static_cast<float>(0.08 + 0.92 * std::clamp(share, 0.0, 1.0)));
}

void GridView::paint_scale(QPainter& painter) const {
  const double greatest = full_scale(quantity_, values_);
  if (!(greatest > 0)) return;
  painter.setFont(number_font());
  const QFontMetricsF metrics(number_font());
  const QString none = text_of(quantity_, 0), most = text_of(quantity_, greatest);
  const double left = quantities_->geometry().right() + 2.0 * view_margin;
  const double before = metrics.horizontalAdvance(none) + 8, after = metrics.horizontalAdvance(most) + 8;
  const double wide = std::min<double>(scale_bar, width() - view_margin - left - before - after);
  if (wide < 40) return;
  const QRectF bar(left + before, quantities_->geometry().center().y() - 6, wide, 12);
  for (int x = 0; x < static_cast<int>(bar.width()); ++x)
    painter.fillRect(QRectF(bar.left() + x, bar.top(), 1, bar.height()), color(fill_of(x / bar.width())));
  draw_text(painter, QRectF(left, bar.top() - 4, before - 8, 20), at_right, none, colours().dim);
  painter.drawText(QRectF(bar.right() + 8, bar.top() - 4, after, 20), at_left, most);
  painter.setFont(interface_font());
}

void GridView::paint(QPainter& painter) {
  const RankGrid grid = grid_of(*figures_.latest());
  if (grid.size() < 1) {
    paint_empty(
        painter, rect(), colours(), tr("No ranks to show yet"),
        tr("A run or a prediction fills this view: the data × tensor × pipeline grid, each rank coloured by its "
           "use of the step or by its memory."));
    return;
  }
  paint_scale(painter);
  if (const QString why = why_unknown(); !why.isEmpty()) {
    draw_text(painter, QRectF(view_margin, header_height, width() - 2 * view_margin, top_label + cells_height_),
              Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, why, colours().dim);
    return;
  }
  paint_cells(painter, layout_now());
}

void GridView::paint_cells(QPainter& painter, const GridLayout& layout) const {
  const double greatest = full_scale(quantity_, values_);
  const QFontMetricsF metrics(painter.font()), numbers(number_font());

  painter.setPen(color(colours().dim));
  const double stage_step = layout.stage_left.size() > 1 ? layout.stage_left[1] - layout.stage_left[0] : 1e9;
  const int every_stage =
      std::max(1, static_cast<int>(std::ceil((metrics.horizontalAdvance(tr("stage 00")) + 8) / stage_step)));
  for (std::size_t i = 0; i < layout.stage_left.size(); i += static_cast<std::size_t>(every_stage))
    painter.drawText(
        QRectF(layout.stage_left[i], layout.replica_top[0] - top_label, stage_step * every_stage, top_label - 4),
        at_left, tr("stage %1").arg(i));
  if (layout.grid.servers > 0)
    painter.drawText(QRectF(layout.cells[static_cast<std::size_t>(layout.grid.workers())].left(),
                            layout.replica_top[0] - top_label, layout.place_width, top_label - 4),
                     at_left, tr("servers"));
  const int every_replica = std::max(1, static_cast<int>(std::ceil(18 / layout.place_height)));
  for (std::size_t i = 0; i < layout.replica_top.size(); i += static_cast<std::size_t>(every_replica))
    painter.drawText(QRectF(view_margin, layout.replica_top[i], side_label - 8, std::max(18.0, layout.place_height)),
                     at_left, fold_.row_name(static_cast<int>(i)));

  for (std::size_t rank = 0; rank < layout.cells.size(); ++rank) {
    const QRectF& cell = layout.cells[rank];
    const double value = rank < values_.size() ? values_[rank] : std::nan("");
    Argb fill = colours().panel;
    if (std::isfinite(value) && greatest > 0) {
      fill = fill_of(value / greatest);
      painter.fillRect(cell, color(fill));
    } else {
      painter.fillRect(cell, QBrush(color(colours().unknown), Qt::Dense6Pattern));
    }
    painter.setPen(color(std::isfinite(value) ? colours().ink_on(fill) : colours().dim));
    const QString title = fold_.cell_name(static_cast<int>(rank)), number = text_of(quantity_, value);
    const double room = cell.width() - 6;
    const bool fits = numbers.horizontalAdvance(number) < room;
    if (fits && cell.height() >= metrics.height() + numbers.height() + 4 && metrics.horizontalAdvance(title) < room) {
      painter.drawText(cell.adjusted(0, 0, 0, -cell.height() / 2), Qt::AlignHCenter | Qt::AlignBottom, title);
      painter.setFont(number_font());
      painter.drawText(cell.adjusted(0, cell.height() / 2, 0, 0), Qt::AlignHCenter | Qt::AlignTop, number);
      painter.setFont(interface_font());
    } else if (fits && cell.height() >= numbers.height()) {
      painter.setFont(number_font());
      painter.drawText(cell, Qt::AlignCenter, number);
      painter.setFont(interface_font());
    }
  }

  if (hovered_ < 0 || hovered_ >= layout.grid.size()) return;
  for (const GroupKind kind : {GroupKind::pipeline, GroupKind::data, GroupKind::tensor})
    for (const int member : layout.grid.group_of(hovered_, kind)) {
      painter.setPen(
          QPen(color(colours().text), member == hovered_ ? 2 : 1, member == hovered_ ? Qt::SolidLine : Qt::DashLine));
      painter.drawRect(layout.cells[static_cast<std::size_t>(member)].adjusted(-1, -1, 1, 1));
    }
}

QString GridView::why_unknown() const {
  const Report* report = figures_.latest()->shown();
  const bool known = std::any_of(values_.begin(), values_.end(), [](double value) { return std::isfinite(value); });
  if (report == nullptr || !report->folded || known) return {};
  return tr("Not known for each rank: this plan of %1 ranks is folded (identical ranks are one). The mean over all "
            "ranks "
            "is in \"Where the step goes\"; memory is known for each stage.")
      .arg(report->ranks);
}

QString GridView::describe(int cell) const {
  if (cell < 0 || cell >= fold_.shown.size()) return {};
  const Figures& figures = *figures_.latest();
  const RankGrid grid = grid_of(figures);
  const std::vector<int> ranks = fold_.ranks_of(cell);
  const bool alone = ranks.size() == 1;
  const int rank = ranks.front();
  const Coordinates at = grid.coordinates_of(rank);
  QString text = !alone ? tr("<b>%1</b>: %2 … %3, stage %4<table>")
                              .arg(fold_.cell_name(cell))
                              .arg(rank)
                              .arg(ranks.back())
                              .arg(at.pipeline)
                 : grid.is_server(rank) ? tr("<b>rank %1</b>: parameter server %2<table>").arg(rank).arg(at.data)
                                        : tr("<b>rank %1</b>: stage %2, replica %3, tensor %4<table>")
                                              .arg(rank)
                                              .arg(at.pipeline)
                                              .arg(at.data)
                                              .arg(at.tensor);
  for (int i = 0; i < grid_quantity_count; ++i) {
    const auto quantity = static_cast<GridQuantity>(i);
    const double value = cell_values(fold_, values_of(figures, quantity))[static_cast<std::size_t>(cell)];
    text += QStringLiteral("<tr><td>%1 &nbsp;</td><td align=right>%2</td></tr>")
                .arg(alone || fold_.identical ? label_of(quantity) : tr("%1, mean").arg(label_of(quantity)),
                     text_of(quantity, value));
  }
  text += QStringLiteral("</table>");
  if (!alone) return text;
  const auto members = [&](GroupKind kind, const QString& name) {
    QStringList others;
    for (const int member : grid.group_of(rank, kind)) others.append(QString::number(member));
    return others.size() > 1 ? QStringLiteral("<br>%1: %2").arg(name, others.join(QStringLiteral(", "))) : QString();
  };
  return text + members(GroupKind::pipeline, tr("pipeline group")) + members(GroupKind::data, tr("data group")) +
         members(GroupKind::tensor, tr("tensor group"));
}

ViewTable GridView::rows_shown() const {
  ViewTable table{{tr("rank"), tr("stage"), tr("replica"), tr("tensor")}, {}};
  const Figures& figures = *figures_.latest();
  const RankGrid grid = grid_of(figures);
  std::vector<std::vector<double>> values;
  for (int i = 0; i < grid_quantity_count; ++i) {
    const auto quantity = static_cast<GridQuantity>(i);
    const QString unit = quantity == GridQuantity::peak_memory ? tr(", bytes")
                         : quantity == GridQuantity::lateness  ? tr(", seconds")
                                                               : QString();
    table.titles << label_of(quantity) + unit;
    values.push_back(values_of(figures, quantity));
  }
  for (int rank = 0; rank < grid.size(); ++rank) {
    const Coordinates at = grid.coordinates_of(rank);
    QStringList row{QString::number(rank), QString::number(at.pipeline), QString::number(at.data),
                    QString::number(at.tensor)};
    for (const auto& of_quantity : values)
      row << (static_cast<std::size_t>(rank) < of_quantity.size() ? plain(of_quantity[static_cast<std::size_t>(rank)])
                                                                  : QString());
    table.rows.push_back(row);
  }
  return table;
}

void GridView::mouseMoveEvent(QMouseEvent* event) {
  const int rank = layout_now().rank_at(event->position());
  if (rank == hovered_) return;
  hovered_ = rank;
  update();
}

void GridView::mousePressEvent(QMouseEvent* event) {
  const int cell = veiled() ? -1 : layout_now().rank_at(event->position());
  if (event->button() == Qt::LeftButton && cell >= 0)
    if (const std::vector<int> ranks = fold_.ranks_of(cell); ranks.size() == 1) emit rank_pointed(ranks.front());
  DataView::mousePressEvent(event);
}

void GridView::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

QString GridView::tip_at(QPoint at) const { return describe(layout_now().rank_at(at)); }

}  // namespace rankscope::app
