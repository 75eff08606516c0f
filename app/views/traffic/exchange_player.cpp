// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/exchange_player.hpp"

#include <QKeyEvent>
#include <QPainter>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

#include "app/views/common/data_view.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int bar_height = 36, slider_steps = 10'000, tick_ms = 16;

// The meaning of a speed's entry: phases per second, or seconds of the run per second of the viewer.
struct Speed {
  PlayClock clock;
  double value;
};
constexpr Speed speeds_there[] = {
    {PlayClock::phases, 0.25},   {PlayClock::phases, 0.5},    {PlayClock::phases, 1},      {PlayClock::phases, 2},
    {PlayClock::phases, 5},      {PlayClock::recorded, 0.1},  {PlayClock::recorded, 0.01}, {PlayClock::recorded, 1e-3},
    {PlayClock::recorded, 1e-4}, {PlayClock::recorded, 1e-5},
};
constexpr int default_speed = 2;

QString speed_text(const Speed& speed) {
  if (speed.clock == PlayClock::recorded)
    return QStringLiteral("1/%1 ×").arg(text::count(std::llround(1 / speed.value)));
  if (speed.value == 1) return ExchangePlayer::tr("1 phase/s");
  if (speed.value > 1) return ExchangePlayer::tr("%1 phases/s").arg(speed.value);
  return ExchangePlayer::tr("one phase in %1 s").arg(1 / speed.value);
}

}  // namespace

ExchangePlayer::ExchangePlayer(QWidget* parent)
    : PaintedWidget(parent),
      back_(word_button(this, QStringLiteral("|◀"), tr("Previous phase (,)"))),
      play_(word_button(this, tr("Play"), tr("Play or pause (Space)"))),
      forward_(word_button(this, QStringLiteral("▶|"), tr("Next phase (.)"))),
      slider_(new QSlider(Qt::Horizontal, this)),
      speeds_(new QComboBox(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setProperty(plays_property, true);
  setAccessibleName(tr("The selected collective, phase by phase"));
  slider_->setRange(0, slider_steps);
  slider_->setAccessibleName(tr("Time in the collective"));
  for (const Speed& speed : speeds_there) speeds_->addItem(speed_text(speed));
  speeds_->setCurrentIndex(default_speed);
  speeds_->setAccessibleName(tr("Speed"));
  speeds_->setToolTip(tr("Phases a second, or the recorded times slowed down"));
  auto* row = row_in(nullptr, 6, {view_margin, 4, view_margin, 4});
  row->addWidget(back_);
  row->addWidget(play_);
  row->addWidget(forward_);
  row->addWidget(slider_, 1);
  row->addWidget(speeds_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addStretch(1);
  column->addLayout(row);
  timer_.setInterval(tick_ms);
  timer_.setTimerType(Qt::PreciseTimer);
  connect(&timer_, &QTimer::timeout, this, &ExchangePlayer::tick);
  connect(back_, &QToolButton::clicked, this, [this] { step(-1); });
  connect(forward_, &QToolButton::clicked, this, [this] { step(+1); });
  connect(play_, &QToolButton::clicked, this, [this] { set_playing(!playing()); });
  connect(speeds_, &QComboBox::currentIndexChanged, this, &ExchangePlayer::take_speed);
  connect(slider_, &QSlider::valueChanged, this, [this](int value) {
    set_playing(false);
    set_moment(time_.length() * value / slider_steps);
  });
  show_moment();
}

void ExchangePlayer::set_smallest(int pixels) {
  smallest_ = pixels;
  update();
}

void ExchangePlayer::set_named(bool named) {
  named_ = named;
  update();
}

void ExchangePlayer::set_exchange(std::shared_ptr<const GroupExchange> exchange) {
  const bool same = exchange && exchange_ && exchange->op == exchange_->op && exchange->step == exchange_->step &&
                    exchange->ranks == exchange_->ranks && exchange->timed == exchange_->timed;
  exchange_ = std::move(exchange);
  if (!same) {
    set_playing(false);
    const Speed speed = speeds_there[std::max(speeds_->currentIndex(), 0)];
    time_ = exchange_ ? ExchangeTime(*exchange_, speed.clock) : ExchangeTime();
    // In the middle of the first phase a transfer is visible, also in a saved picture.
    at_ = time_.clock() == PlayClock::phases ? std::min(0.5, time_.length()) : time_.next(0) / 2;
  }
  show_moment();
}

void ExchangePlayer::take_speed() {
  if (!exchange_) return;
  const Speed speed = speeds_there[std::max(speeds_->currentIndex(), 0)];
  const ExchangeTime requested(*exchange_, speed.clock);
  if (requested.clock() != time_.clock()) {
    // The same share of the duration, on the other clock.
    at_ = time_.length() > 0 ? at_ / time_.length() * requested.length() : 0;
    time_ = requested;
  }
  show_moment();
}

void ExchangePlayer::set_moment(double at) {
  at_ = std::clamp(at, 0.0, time_.length());
  show_moment();
}

void ExchangePlayer::set_playing(bool playing) {
  if (playing == timer_.isActive()) return;
  if (playing) {
    if (!exchange_ || time_.length() <= 0) return;
    if (at_ >= time_.length()) at_ = 0;
    since_.start();
    timer_.start();
  } else {
    timer_.stop();
  }
  show_moment();
}

void ExchangePlayer::tick() {
  const Speed speed = speeds_there[std::max(speeds_->currentIndex(), 0)];
  const double seconds = static_cast<double>(since_.nsecsElapsed()) * 1e-9;
  since_.start();
  // Without times it plays by phases, whatever was chosen.
  const double rate = time_.clock() == PlayClock::recorded ? speed.value * 1e9
                      : speed.clock == PlayClock::phases   ? speed.value
                                                           : 1.0;
  at_ = std::min(at_ + seconds * rate, time_.length());
  if (at_ >= time_.length()) timer_.stop();
  show_moment();
}

void ExchangePlayer::step(int by) {
  set_playing(false);
  set_moment(by > 0 ? time_.next(at_) : time_.previous(at_));
}

void ExchangePlayer::show_moment() {
  const bool there = exchange_ && !exchange_->moves.empty();
  const QSignalBlocker quiet(slider_);
  slider_->setValue(time_.length() > 0 ? static_cast<int>(std::lround(at_ / time_.length() * slider_steps)) : 0);
  play_->setText(playing() ? tr("Pause") : tr("Play"));
  show_all(there, {back_, play_, forward_, slider_, speeds_});
  update();
}

void ExchangePlayer::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Space: return set_playing(!playing());
    case Qt::Key_Period: return step(+1);
    case Qt::Key_Comma: return step(-1);
    case Qt::Key_Home: return set_moment(0);
    case Qt::Key_End: return set_moment(time_.length());
    default: QWidget::keyPressEvent(event);
  }
}

ExchangeScene ExchangePlayer::scene() const {
  return {exchange_.get(), &time_,    at_,   QRectF(0, 0, width(), height() - controls_height()),
          &colours(),      smallest_, named_};
}

// Without phases there are no controls, and the picture has their space.
int ExchangePlayer::controls_height() const { return exchange_ && !exchange_->moves.empty() ? bar_height : 0; }

int ExchangePlayer::height_for(int width, int most) const {
  if (!exchange_) return minimumSizeHint().height();
  ExchangeScene wide = scene();
  wide.room.setSize(QSizeF(width, most - controls_height()));
  return std::min(most, static_cast<int>(std::ceil(ExchangePainter(wide).height())) + controls_height());
}

QRectF ExchangePlayer::member_box(int member) const {
  return exchange_ ? ExchangePainter(scene()).member_box(member) : QRectF();
}

void ExchangePlayer::set_folded(bool folded) {
  folded_ = folded;
  update();
}

void ExchangePlayer::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours().ground));
  if (!exchange_)
    return folded_ ? paint_empty(
                         painter, rect(), colours(), tr("Not available for folded plans"),
                         tr("Identical ranks are folded into one. Their messages are counted but have no times: the "
                            "table shows the bytes of each purpose."))
                   : paint_empty(painter, rect(), colours(), tr("No collective is selected"),
                                 tr("Select a row of the table, or a collective or message in the time line."));
  ExchangePainter(scene()).paint(painter);
}

}  // namespace rankscope::app
