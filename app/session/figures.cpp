// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/figures.hpp"

namespace rankscope::app {

void FiguresModel::set(std::shared_ptr<const Figures> figures) {
  latest_ = figures ? std::move(figures) : std::make_shared<const Figures>();
  emit changed();
}

}  // namespace rankscope::app
