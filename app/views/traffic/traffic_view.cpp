// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/traffic_view.hpp"

#include <QHeaderView>
#include <QPainter>
#include <QVBoxLayout>

#include "app/views/common/style.hpp"

namespace rankscope::app {

TrafficView::TrafficView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent),
      figures_(figures),
      table_(new QTableView(this)),
      latest_([this](std::vector<TrafficLine> lines) {
        model_.set_lines(std::move(lines));
        on_veil();
        update();
      }) {
  table_->setModel(&model_);
  table_->setShowGrid(false);
  table_->setFont(number_font());
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(26);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->setFrameShape(QFrame::NoFrame);
  table_->setAccessibleName(tr("Traffic of a step by purpose"));
  table_->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 12, 4);
  layout->addWidget(table_);
  connect(&figures, &FiguresModel::changed, this, &TrafficView::refresh);
  refresh();
}

void TrafficView::on_veil() { table_->setVisible(model_.rowCount() > 0 && !veiled()); }

void TrafficView::refresh() {
  latest_.request([figures = figures_.latest()] { return traffic_lines(*figures); });
}

void TrafficView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours().ground));
  if (veiled()) return paint_veil(painter, rect(), colours());
  if (model_.rowCount() > 0) return;
  const Report* report = figures_.latest()->shown();
  if (report != nullptr && report->ranks == 1)
    paint_empty(painter, rect(), colours(), tr("One rank sends nothing"),
                tr("Set data, tensor or pipeline in the plan above 1, and this lists what moves between the ranks."));
  else
    paint_empty(
        painter, rect(), colours(), tr("No traffic to show yet"),
        tr("A run or a prediction fills this: every transfer and collective of a step by purpose, its bytes beside "
           "the prediction, and the time waited apart from the time in which bytes moved."));
}

}  // namespace rankscope::app
