// SPDX-License-Identifier: GPL-3.0-or-later
// The labels above every chart of the training view: its title, and a line about the content.
#pragma once
#include <QLabel>
#include <QVBoxLayout>

namespace rankscope::app {

struct ChartLabels {
  QLabel *title, *note;
};

/// Lays the chart out with its labels; `plot` has what is left.
inline ChartLabels add_chart_labels(QWidget& chart, const QString& title, QWidget* plot) {
  const ChartLabels labels{new QLabel(title, &chart), new QLabel(&chart)};
  auto* column = new QVBoxLayout(&chart);
  column->setContentsMargins(0, 6, 0, 0);
  column->setSpacing(0);
  for (QLabel* label : {labels.title, labels.note}) {
    label->setProperty("role", label == labels.title ? QStringLiteral("heading") : QStringLiteral("dim"));
    label->setContentsMargins(10, 0, 0, 0);
    label->setWordWrap(true);
    column->addWidget(label);
  }
  column->addWidget(plot, 1);
  plot->setAccessibleName(title);
  return labels;
}

}  // namespace rankscope::app
