// SPDX-License-Identifier: GPL-3.0-or-later
// Paints a collective at one moment: its members with what they hold, the chunks under way, and beside them how long
// each member waited and moved bytes. Of an opaque one, whose phases nobody knows, the times, what its library told of
// its inside, and what else is known.
#pragma once
#include <QPainter>
#include <functional>
#include <vector>

#include "app/models/palette.hpp"
#include "app/views/traffic/exchange_facts.hpp"
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
  /// So much of a room of this width is enough: nothing stands apart from what it belongs to.
  double height() const;

 private:
  /// A paragraph above the picture.
  struct Words {
    QString text;
    bool heading = false;
    double height = 0;
  };
  void write();
  void place();
  void place_opaque(const QRectF& room);
  double times_height(double width) const;
  double facts_height() const;
  /// What is to be known of the picture; empty of a message.
  QString explanation() const;
  void words(QPainter& painter) const;
  void members(QPainter& painter) const;
  void moves(QPainter& painter) const;
  void times(QPainter& painter, const QRectF& area) const;
  /// Of an opaque one: what is known beside its times.
  void facts(QPainter& painter, const QRectF& area) const;
  /// What the library told of its inside on that rank, a line each.
  void inside(QPainter& painter, int rank, double top, double height,
              const std::function<double(std::int64_t)>& x_of) const;
  Argb mark() const;

  ExchangeScene s_;
  std::vector<Words> words_;
  double head_ = 0;      ///< height of the words
  double diagram_ = 0;   ///< height that the members want
  bool beside_ = false;  ///< the times stand beside the members, else under them
  QRectF ring_, times_, facts_area_;
  std::vector<ExchangeFact> facts_;
  double box_width_ = 0, box_height_ = 0;
  bool boxes_ = true;
  std::vector<QPointF> places_;
};

}  // namespace rankscope::app
