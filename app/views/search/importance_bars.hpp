// SPDX-License-Identifier: GPL-3.0-or-later
// The importance of each knob of a plan as bars, the most important first.
#pragma once
#include <vector>

#include "app/views/common/painted_widget.hpp"

namespace rankscope::app {

struct ImportanceBar {
  QString knob;
  double share = 0;  ///< 0 … 1
};

class ImportanceBars : public PaintedWidget {
  Q_OBJECT
 public:
  using PaintedWidget::PaintedWidget;
  /// `help`: the meaning of the shares.
  void show_bars(std::vector<ImportanceBar> bars, const QString& help);
  const std::vector<ImportanceBar>& bars() const { return bars_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<ImportanceBar> bars_;
};

}  // namespace rankscope::app
