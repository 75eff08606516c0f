// SPDX-License-Identifier: GPL-3.0-or-later
// The compare view: two runs aligned by step. It has nothing to draw until two runs can be open at once, and says so.
#pragma once
#include "app/views/common/data_view.hpp"

namespace rankscope::app {

class CompareView : public DataView {
  Q_OBJECT
 public:
  using DataView::DataView;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace rankscope::app
