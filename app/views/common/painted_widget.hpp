// SPDX-License-Identifier: GPL-3.0-or-later
// The base of views and of their parts that paint themselves: the theme's colours, and tool tips by position.
#pragma once
#include <QWidget>

#include "app/models/palette.hpp"

namespace rankscope::app {

class PaintedWidget : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  const Palette& colours() const { return *colours_; }
  /// Of this and of all painted widgets and tables in it.
  void set_theme(Theme theme);
  /// The text of a tool tip at that position; empty: none. By default the widget's own.
  virtual QString tip_at(QPoint) const { return toolTip(); }

 protected:
  /// Updates coloured parts that are not painted by the widget itself; colours() are the new ones.
  virtual void take_colours() {}
  bool event(QEvent* event) override;

 private:
  void take_theme(Theme theme);  ///< without the widgets in it

  const Palette* colours_ = &palette_of(Theme::dark);
};

}  // namespace rankscope::app
