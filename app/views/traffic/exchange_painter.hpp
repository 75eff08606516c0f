// SPDX-License-Identifier: GPL-3.0-or-later
// Paints a collective at one moment: its members with what they hold, the chunks under way, and beside them how long
// each member waited and moved bytes. Of an opaque one, whose phases nobody knows, the times alone.
#pragma once
#include <QPainter>
#include <vector>

#include "app/models/palette.hpp"
#include "app/views/traffic/exchange_scene.hpp"

namespace rankscope::app {

/// All that a picture of an exchange depends on.
struct ExchangeScene {
  const GroupExchange* exchange = nullptr;
  const ExchangeTime* time = nullptr;
  double at = 0;  ///< the moment, in units of `time`
  QRectF room;
  const Palette* colours = nullptr;
  int smallest = 9;  ///< pixels of the smallest letters
};

class ExchangePainter {
 public:
  explicit ExchangePainter(const ExchangeScene& scene);
  void paint(QPainter& painter) const;
  /// Empty where members have no boxes.
  QRectF member_box(int member) const;

 private:
  void words(QPainter& painter) const;
  void members(QPainter& painter) const;
  void moves(QPainter& painter) const;
  void times(QPainter& painter, const QRectF& area) const;
  Argb mark() const;

  ExchangeScene s_;
  QRectF ring_, times_;
  double box_width_ = 0, box_height_ = 0;
  bool boxes_ = true;
  std::vector<QPointF> places_;
};

}  // namespace rankscope::app
