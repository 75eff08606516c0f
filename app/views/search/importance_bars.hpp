// SPDX-License-Identifier: GPL-3.0-or-later
// The importance of each knob of a plan as bars, the most important first.
#pragma once
#include <QWidget>
#include <vector>

#include "app/models/palette.hpp"

namespace rankscope::app {

struct ImportanceBar {
  QString knob;
  double share = 0;  ///< 0 … 1
};

class ImportanceBars : public QWidget {
  Q_OBJECT
 public:
  explicit ImportanceBars(QWidget* parent = nullptr);
  /// `help`: what the shares are.
  void show_bars(std::vector<ImportanceBar> bars, const QString& help, const Palette& colours);
  const std::vector<ImportanceBar>& bars() const { return bars_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<ImportanceBar> bars_;
  const Palette* colours_;
};

}  // namespace rankscope::app
