// SPDX-License-Identifier: GPL-3.0-or-later
// The scaling view: measured points on predicted curves. It has nothing to draw until runs of one model with different
// numbers of ranks can be collected, and says so.
#pragma once
#include "app/views/common/data_view.hpp"

namespace rankscope::app {

class ScalingView : public DataView {
  Q_OBJECT
 public:
  using DataView::DataView;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace rankscope::app
