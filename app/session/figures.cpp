// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/figures.hpp"

#include <QCoreApplication>

namespace rankscope::app {

void FiguresModel::set(std::shared_ptr<const Figures> figures) {
  latest_ = figures ? std::move(figures) : std::make_shared<const Figures>();
  emit changed();
}

QString run_column_name(const Figures& figures) {
  return run_column_name(figures.run ? figures.run->obtained : Obtained::measured);
}

QString run_column_name(Obtained obtained) {
  return obtained == Obtained::emulated ? QCoreApplication::translate("Figures", "emulated")
                                        : QCoreApplication::translate("Figures", "measured");
}

}  // namespace rankscope::app
