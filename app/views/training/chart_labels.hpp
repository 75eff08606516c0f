// SPDX-License-Identifier: GPL-3.0-or-later
// The labels above every chart of the training view: its title, and a line about the content.
#pragma once
#include <QLabel>

#include "app/views/common/parts.hpp"

namespace rankscope::app {

struct ChartLabels {
  QLabel *title, *note;
};

/// Lays the chart out with its labels; `plot` gets the remaining space.
inline ChartLabels add_chart_labels(QWidget& chart, const QString& title, QWidget* plot) {
  const ChartLabels labels{make_label(title, "heading", &chart), make_label({}, "dim", &chart)};
  auto* column = column_in(&chart, 0, {0, 6, 0, 0});
  for (QLabel* label : {labels.title, labels.note}) {
    label->setContentsMargins(10, 0, 0, 0);
    column->addWidget(label);
  }
  column->addWidget(plot, 1);
  plot->setAccessibleName(title);
  return labels;
}

}  // namespace rankscope::app
