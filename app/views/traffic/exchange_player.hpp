// SPDX-License-Identifier: GPL-3.0-or-later
// One collective played over its group: chunks move between the ranks, phase by phase, at any speed.
#pragma once
#include <QComboBox>
#include <QElapsedTimer>
#include <QSlider>
#include <QTimer>
#include <QToolButton>
#include <memory>

#include "app/views/common/painted_widget.hpp"
#include "app/views/traffic/exchange_painter.hpp"
#include "app/views/traffic/exchange_scene.hpp"

namespace rankscope::app {

class ExchangePlayer : public PaintedWidget {
  Q_OBJECT
 public:
  explicit ExchangePlayer(QWidget* parent = nullptr);
  /// No letters are smaller.
  void set_smallest(int pixels);
  /// Whether its op is named beside it, in a list of all playable ones.
  void set_named(bool named);
  /// Of a folded plan no collective can be played: its messages are counted, not simulated one by one.
  void set_folded(bool folded);
  /// Null: nothing is chosen. Another exchange starts from the beginning; the same one keeps its moment.
  void set_exchange(std::shared_ptr<const GroupExchange> exchange);
  const GroupExchange* exchange() const { return exchange_.get(); }

  double moment() const { return at_; }
  const ExchangeTime& time() const { return time_; }
  bool playing() const { return timer_.isActive(); }
  void set_moment(double at);
  void set_playing(bool playing);
  /// To the next (previous) phase; pauses.
  void step(int by);
  QSize minimumSizeHint() const override { return {320, 200}; }
  /// The height that its content needs at that width, with its buttons; at most `most`.
  int height_for(int width, int most) const;

  QToolButton* play_button() { return play_; }
  QToolButton* forward_button() { return forward_; }
  QToolButton* back_button() { return back_; }
  QComboBox* speeds() { return speeds_; }
  /// The position of member `member`'s box; empty if members have no boxes.
  QRectF member_box(int member) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  ExchangeScene scene() const;
  int controls_height() const;
  void take_speed();
  void tick();
  void show_moment();

  std::shared_ptr<const GroupExchange> exchange_;
  bool folded_ = false;
  ExchangeTime time_;
  double at_ = 0;
  int smallest_ = 9;
  bool named_ = false;
  QToolButton *back_, *play_, *forward_;
  QSlider* slider_;
  QComboBox* speeds_;
  QTimer timer_;
  QElapsedTimer since_;
};

}  // namespace rankscope::app
