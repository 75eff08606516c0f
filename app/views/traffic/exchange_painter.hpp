// SPDX-License-Identifier: GPL-3.0-or-later
// Paints a collective at one moment: its members with their chunks, the chunks in flight, and the times that
// each member waited and moved bytes. For an opaque one (unknown phases): the times, the phases that its library
// reported, and other facts.
#pragma once
#include <QPainter>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "app/models/palette.hpp"
#include "app/views/traffic/exchange_scene.hpp"
#include "app/views/traffic/facts_table.hpp"

namespace rankscope::app {

/// The complete input of a picture of an exchange.
struct ExchangeScene {
  const GroupExchange* exchange = nullptr;
  const ExchangeTime* time = nullptr;
  double at = 0;  ///< the moment, in units of `time`
  QRectF room;
  const Palette* colours = nullptr;
  int smallest = 9;    ///< pixels of the smallest letters
  bool named = false;  ///< the op is named beside the picture: not needed in the picture
};

class ExchangePainter {
 public:
  explicit ExchangePainter(const ExchangeScene& scene);
  void paint(QPainter& painter) const;
  /// Empty if members have no boxes.
  QRectF member_box(int member) const;
  /// The height that is enough at this width: parts that belong together stay close to each other.
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
  struct OpaqueLayout {
    bool beside = false;  ///< the facts are beside the times, else under them
    int row = 0;          ///< of the times
    FactsForm facts{};    ///< the explanation repeats the first fact
  };
  /// The areas of the times and of the facts; empty if a part of them would be cut.
  std::optional<std::pair<QRectF, QRectF>> areas_of(const OpaqueLayout& layout, const QRectF& room) const;
  double times_height(double width, int row) const;
  /// The explanation under the times, which becomes wider; empty if it is elsewhere.
  double explained_height(double width) const;
  /// The explanation of the picture; empty for a message.
  QString explanation() const;
  void words(QPainter& painter) const;
  void members(QPainter& painter) const;
  void moves(QPainter& painter) const;
  /// Common to the bars of the members' times.
  struct TimesScale {
    std::int64_t begin_ns = 0, end_ns = 0;  ///< from the first span's begin to the last one's end
    double left = 0, width = 0;             ///< of the bars
    double spans = 0;                       ///< width of the times behind them
    double row = 0;
    bool named = false;  ///< a row is high enough for text
    double x_of(std::int64_t time_ns) const;
  };
  /// Nothing if no time was recorded.
  std::optional<TimesScale> times_scale(const QRectF& area) const;
  void times(QPainter& painter, const QRectF& area) const;
  void time_of(QPainter& painter, int member, const QRectF& row, const TimesScale& scale) const;
  void times_axis(QPainter& painter, const QRectF& line, const TimesScale& scale) const;
  /// The phases that the library reported on that rank, one per line.
  void inside(QPainter& painter, int rank, double top, double height,
              const std::function<double(std::int64_t)>& x_of) const;
  Argb mark() const;

  ExchangeScene s_;
  std::vector<Words> words_;
  double head_ = 0;      ///< height of the text
  double diagram_ = 0;   ///< height that the members need
  bool beside_ = false;  ///< the times are beside the members, else under them
  OpaqueLayout layout_;
  QRectF ring_, times_, facts_area_;
  QRectF explained_;  ///< the explanation's place beside the members; empty: under the times
  FactsTable facts_;  ///< of an opaque one: the known facts beside its times
  double box_width_ = 0, box_height_ = 0;
  bool boxes_ = true;
  std::vector<QPointF> places_;
};

}  // namespace rankscope::app
